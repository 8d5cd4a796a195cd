// Builds the page into server/web/ (or into the folder given), the same bytes from the same sources.
import { build } from "esbuild";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.argv[2] ?? join(here, "../server/web");

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const result = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.ts", style: "src/style.css", editor: "src/editor.css" },
  outdir: out,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  chunkNames: "[name]-[hash]",
  loader: { ".png": "empty", ".svg": "dataurl" },
  metafile: true,
  logLevel: "warning",
});
const [, app] = Object.entries(result.metafile.outputs).find(([path]) => path.endsWith("/app.js"));
const first = app.imports.filter((one) => one.kind === "import-statement").map((one) => basename(one.path)).sort();
const preloads = first.map((name) => `<link rel="modulepreload" href="ui/${name}">\n`).join("");
const index = await readFile(join(here, "src/index.html"), "utf8");
await writeFile(join(out, "index.html"), index.replace("<script", `${preloads}<script`));
await cp(join(here, "src/icon.svg"), join(out, "icon.svg"));
await writeFile(join(out, "licenses.txt"), await licenses(Object.keys(result.metafile.inputs)));

/** The licenses of all packages that the result holds code of. */
async function licenses(inputs) {
  const inPackage = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//;
  const packages = new Set(inputs.map((path) => inPackage.exec(path)?.[1]).filter(Boolean));
  const parts = new Map();
  for (const name of packages) {
    const folder = join(here, "node_modules", name);
    const { version, license, repository, dependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    // A package without its license's text has taken in the packages that it depends on.
    if (!file) for (const one of Object.keys(dependencies ?? {})) packages.add(one);
    const text = file ? (await readFile(join(folder, file), "utf8")).replaceAll("\r\n", "\n").trim() : `The text is in ${repository.url}.`;
    parts.set(name, `${name} ${version} (${license})\n\n${text}\n`);
  }
  const sorted = [...parts.keys()].sort().map((name) => parts.get(name));
  return `The page contains code of these packages.\n\n${sorted.join("\n---\n\n")}`;
}
