// Model: the ontology's classes, what is said of them and which rules hold; its files, edited with a dry run.

import { html, nothing, type TemplateResult } from "lit";
import { address, ask, Problem, rows, text } from "./api";
import { forget, kindOf, learn, nameOf, unitOf, vocabulary } from "./names";
import { entityAddress, plain, Screen, type Violation } from "./screen";

const OWL = "http://www.w3.org/2002/07/owl#";
const SH = "http://www.w3.org/ns/shacl#";

interface OntologyClass {
  iri: string;
  definition: string;
  count: number;
  below: string[];
  above: string[];
}

interface Property {
  iri: string;
  domains: Set<string>;
  ranges: Set<string>;
}

interface Rule {
  iri: string;
  message: string;
  targets: Set<string>;
}

interface File {
  kind: "ontologies" | "shapes";
  name: string;
}

interface Finding {
  level: string;
  message: string;
  mend: string;
  line: number | null;
}

interface Effects {
  switched: boolean;
  check: { errors: number; warnings: number; findings: Finding[] };
  impact: null | {
    failing: number;
    passing: number;
    mended: number;
    shapes: { shape: string; change: string; tested: number; failing: number; failing_examples: (Violation & { focus: { value: string } })[] }[];
  };
}

class ModelScreen extends Screen {
  private classes = new Map<string, OntologyClass>();
  private properties: Property[] = [];
  private rules: Rule[] = [];
  private files: File[] = [];
  private chosen = "";
  private file: File | null = null;
  private content = "";
  private stored = "";
  private effects: Effects | null = null;
  private tested = "";
  private loaded = false;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    this.chosen = this.parameters.get("class") ?? "";
    const [kind, name] = (this.parameters.get("file") ?? "").split("/");
    if (name && (kind === "ontologies" || kind === "shapes")) {
      if (this.file?.name !== name || this.file.kind !== kind) void this.open({ kind, name });
    } else this.file = null;
  }

  private async load(): Promise<void> {
    await this.run("Reading the ontology…", async () => {
      const [classes, counts, properties, shapes, rules] = await Promise.all([
        rows(`PREFIX owl: <${OWL}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
          SELECT ?class ?definition ?above WHERE { ?class a owl:Class ; rdfs:label ?label FILTER(isIRI(?class))
            OPTIONAL { ?class skos:definition|rdfs:comment ?definition }
            OPTIONAL { ?class rdfs:subClassOf ?above FILTER(isIRI(?above)) } }`),
        rows("SELECT ?class (COUNT(?thing) AS ?n) WHERE { ?thing a ?class } GROUP BY ?class"),
        rows(`PREFIX owl: <${OWL}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
          PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
          SELECT ?property ?domain ?range WHERE { VALUES ?kind { owl:ObjectProperty owl:DatatypeProperty } ?property a ?kind ; rdfs:label ?label
            OPTIONAL { ?property rdfs:domain/(owl:unionOf/rdf:rest*/rdf:first)? ?domain FILTER(isIRI(?domain)) }
            OPTIONAL { ?property rdfs:range/(owl:unionOf/rdf:rest*/rdf:first)? ?range FILTER(isIRI(?range)) } }`),
        text("shapes?generated=false", { accept: "application/n-triples" }),
        ask("rules"),
        vocabulary(),
      ]);
      const count = new Map(counts.map((row) => [row["class"]!.value, Number(row["n"]!.value)]));
      for (const row of classes) {
        const iri = row["class"]!.value;
        const one = this.classes.get(iri) ?? { iri, definition: "", count: count.get(iri) ?? 0, below: [], above: [] };
        one.definition ||= row["definition"]?.value ?? "";
        if (row["above"] && !one.above.includes(row["above"].value)) one.above.push(row["above"].value);
        this.classes.set(iri, one);
      }
      for (const one of this.classes.values()) for (const above of one.above) this.classes.get(above)?.below.push(one.iri);
      const found = new Map<string, Property>();
      for (const row of properties) {
        const iri = row["property"]!.value;
        const one = found.get(iri) ?? { iri, domains: new Set(), ranges: new Set() };
        if (row["domain"]) one.domains.add(row["domain"].value);
        if (row["range"]) one.ranges.add(row["range"].value);
        found.set(iri, one);
      }
      this.properties = [...found.values()].sort((one, other) => nameOf(one.iri).localeCompare(nameOf(other.iri)));
      this.rules = readRules(shapes);
      this.files = [
        ...(rules.files.ontology as { name: string }[]).map(({ name }): File => ({ kind: "ontologies", name })),
        ...(rules.files.shapes as { name: string }[]).map(({ name }): File => ({ kind: "shapes", name })),
      ];
      this.loaded = true;
    });
  }

  private async open(file: File): Promise<void> {
    this.file = file;
    this.effects = null;
    const found = await this.run("Reading the file…", () => text(`${file.kind}/${encodeURIComponent(file.name)}`, { accept: "*/*" }));
    this.content = this.stored = found ?? "";
    this.requestUpdate();
  }

  private async put(dryRun: boolean): Promise<void> {
    const { kind, name } = this.file!;
    const path = address(`${kind}/${encodeURIComponent(name)}`, { "dry-run": dryRun ? "true" : undefined });
    const content = this.content;
    const found = (await this.run(dryRun ? "Testing against the graph…" : "Putting it in force…", () => ask(path, { method: "PUT", turtle: content }).catch(refused))) as Effects | undefined;
    if (!found) return;
    this.effects = found;
    this.tested = content;
    if (found.switched) {
      this.stored = content;
      forget();
      this.classes.clear();
      await this.load();
    }
    await learn((found.impact?.shapes ?? []).flatMap((one) => one.failing_examples.map((two) => two.focus.value))).catch(() => undefined);
    this.requestUpdate();
  }

  protected override render(): unknown {
    const used = [...this.classes.values()].filter((one) => !one.above.some((iri) => this.classes.has(iri)));
    return html`<div class="gap">
      <div class="row spread"><h1 class="mid">${this.classes.size} kinds, ${this.properties.length} properties, ${this.rules.length} rules</h1>
        <div class="row push"><span class="small faint">Files</span>${this.files.map((one) => html`<a class="chip plain" aria-current=${one.name === this.file?.name && one.kind === this.file.kind ? "true" : nothing}
          href=${`#/${address("model", { file: `${one.kind}/${one.name}` })}`}>${one.kind === "shapes" ? "shapes" : "ontology"}: ${one.name}</a>`)}</div></div>
      ${this.state()}
      ${this.file ? this.editor(this.file) : this.loaded ? html`<div class="cols queue"><nav class="card side" aria-label="Kinds"><div class="in tree"><ul>${used.sort(byName).map((one) => this.branch(one, 0, new Set()))}</ul></div></nav>
        <section class="gap">${this.classes.get(this.chosen) ? this.kind(this.classes.get(this.chosen)!) : html`<div class="card"><p class="empty first">Choose a kind to see what can be said of it, and which rules hold.</p></div>`}</section></div>` : nothing}
    </div>`;
  }

  private branch(one: OntologyClass, depth: number, seen: Set<string>): TemplateResult | typeof nothing {
    if (seen.has(one.iri) || depth > 8) return nothing;
    const below = one.below.map((iri) => this.classes.get(iri)).filter((two): two is OntologyClass => !!two);
    return html`<li><a href=${`#/${address("model", { class: one.iri })}`} aria-current=${one.iri === this.chosen ? "true" : nothing}><span class="k-${kindOf([one.iri])}"><span class="dot"></span></span> ${nameOf(one.iri)}${one.count ? html`<span class="num">${one.count}</span>` : nothing}</a>
      ${below.length ? html`<ul>${below.sort(byName).map((two) => this.branch(two, depth + 1, new Set([...seen, one.iri])))}</ul>` : nothing}</li>`;
  }

  private lineage(iri: string): Set<string> {
    const found = new Set([iri]);
    for (const one of found) for (const above of this.classes.get(one)?.above ?? []) found.add(above);
    return found;
  }

  private kind(one: OntologyClass): TemplateResult {
    const lineage = this.lineage(one.iri);
    const said = this.properties.filter((two) => [...two.domains].some((iri) => lineage.has(iri)));
    const names = new Set([...lineage, ...said.filter((two) => two.domains.has(one.iri)).map((two) => two.iri)]);
    const rules = this.rules.filter((two) => [...two.targets].some((iri) => names.has(iri)));
    return html`<div><p class="small soft">${one.above.map((iri, index) => html`${index ? ", " : ""}<a href=${`#/${address("model", { class: iri })}`}>${nameOf(iri)}</a>`)}</p><h1 class="upper">${nameOf(one.iri)}</h1><p class="soft">${one.definition}</p>
        <p class="small"><a href=${`#/${address("query", { query: `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\nSELECT ?thing ?label WHERE {\n  ?thing a/rdfs:subClassOf* <${one.iri}> ; rdfs:label ?label\n} ORDER BY ?label` })}`}>Show all in Query</a></p></div>
      <div class="card"><header><h2>What can be said of it</h2><span class="count">${said.length}</span></header>
        ${said.length ? html`<table class="facts"><tbody>${said.map((two) => html`<tr><th scope="row">${nameOf(two.iri)}</th><td>${[...two.ranges].map(nameOf).join(" or ") || "anything"}${unitOf(two.iri) ? html` <span class="small faint">in${unitOf(two.iri)}</span>` : nothing}</td></tr>`)}</tbody></table>` : html`<p class="empty">No property names it in its domain.</p>`}</div>
      <div class="card"><header><h2>Rules</h2><span class="count">${rules.length}</span></header>
        ${rules.length ? html`<ul class="items">${rules.map((two) => html`<li>${two.message}</li>`)}</ul>` : html`<p class="empty">No rule names it.</p>`}</div>`;
  }

  private editor(file: File): TemplateResult {
    const may = this.may("admin");
    const isChanged = this.content !== this.stored;
    const sound = this.effects && this.tested === this.content && !this.effects.check.errors;
    return html`<div class="cols"><section class="card"><header><h2>${file.name}</h2><a class="push small" href="#/model">Back to the kinds</a></header><div class="in stack">
        <label class="hide" for="turtle">Turtle of ${file.name}</label>
        <textarea id="turtle" class="code" rows="28" spellcheck="false" ?readonly=${!may} .value=${this.content} @input=${(event: Event) => this.typed(event)}></textarea>
        ${may
          ? html`<div class="row"><button class="btn ${sound ? "" : "main"}" ?disabled=${!isChanged || this.working !== ""} @click=${() => void this.put(true)}>Test</button>
              <button class="btn ${sound ? "main" : ""}" ?disabled=${!sound || !isChanged || this.working !== ""} @click=${() => void this.put(false)}>Put in force</button>
              <span class="small soft">${isChanged ? (sound ? "" : "Test it first: nothing changes.") : "Not changed."}</span></div>`
          : html`<p class="small soft">To edit, sign in with a key of the scope “admin”.</p>`}
      </div></section>
      <section class="gap" aria-live="polite">${this.effects ? this.shown(this.effects) : html`<div class="card"><p class="empty first">Change the file and test it: here you see what would fail and what would pass, before anything is in force.</p></div>`}</section></div>`;
  }

  private typed(event: Event): void {
    this.content = (event.target as HTMLTextAreaElement).value;
    this.requestUpdate();
  }

  private shown({ switched, check, impact }: Effects): TemplateResult {
    const failing = impact?.failing ?? 0;
    const heading = check.errors
      ? `${check.errors} ${check.errors === 1 ? "error" : "errors"} in the file`
      : switched
        ? "In force now"
        : `${failing} ${failing === 1 ? "statement" : "statements"} would fail`;
    return html`<div><h1 class="mid">${heading}</h1><p class="soft">${switched ? "What is in the graph stays; what comes in is judged by the new rules." : "Dry run: nothing is changed."}${impact?.mended ? ` ${impact.mended} would be mended.` : ""}</p></div>
      ${check.findings.length ? html`<div class="card"><header><h2>The file</h2></header><ul class="items">${check.findings.slice(0, 20).map((one) => html`<li><span class="v ${one.level === "ERROR" ? "no" : "warn"}">${one.line ? `Line ${one.line}` : one.level.toLowerCase()}</span><p>It ${plain(one.message)}</p><p class="why">${one.mend}</p></li>`)}</ul></div>` : nothing}
      ${(impact?.shapes ?? []).map((one) => html`<div class="card"><header><h2>${nameOf(one.shape)}</h2><span class="small faint">${one.change}</span><span class="push small num">${one.failing} of ${one.tested} fail</span></header>
        ${one.failing_examples.length ? html`<ul class="items">${one.failing_examples.map((two) => html`<li><a href=${entityAddress(two.focus.value)}>${nameOf(two.focus.value)}</a><p class="why">${plain(two.message)}</p></li>`)}</ul>` : html`<p class="empty">Everything it looks at passes.</p>`}</div>`)}`;
  }
}

/** What the check found wrong with a file that was refused for it. */
function refused(error: unknown): Effects {
  if (error instanceof Problem && error.body["check"]) return { switched: false, impact: null, check: error.body["check"] };
  throw error;
}

function byName(one: OntologyClass, other: OntologyClass): number {
  return nameOf(one.iri).localeCompare(nameOf(other.iri));
}

/** The shapes with a message, and the classes and properties that they look at. */
function readRules(triples: string): Rule[] {
  const found = new Map<string, Rule>();
  for (const [, subject, predicate, iri, literal] of triples.matchAll(/^<([^>]*)> <([^>]*)> (?:<([^>]*)>|"((?:[^"\\]|\\.)*)"[^ ]*) \.$/gm)) {
    const name = predicate!.startsWith(SH) ? predicate!.slice(SH.length) : "";
    const rule = found.get(subject!) ?? { iri: subject!, message: "", targets: new Set<string>() };
    if (name === "message") rule.message = JSON.parse(`"${literal}"`) as string;
    else if (/^target(Class|SubjectsOf|ObjectsOf)$/.test(name)) rule.targets.add(iri!);
    else continue;
    found.set(subject!, rule);
  }
  return [...found.values()].filter((one) => one.message && one.targets.size);
}

customElements.define("ukg-model", ModelScreen);
