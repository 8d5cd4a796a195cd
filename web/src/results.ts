// The rows of an answer as a table; rows on the map have the map's numbers.

import { html, nothing, type TemplateResult } from "lit";
import { address, download, text, type Results, type Row } from "./api";
import type { FeatureCollection } from "geojson";
import { inWords } from "./names";
import { term } from "./screen";

const FIRST = 200;

/** The columns to show: geometry is on the map, and a label stands for its IRI. */
export function columnsOf(results: Results): { name: string; label?: string }[] {
  const vars = results.head.vars ?? [];
  const rows = results.results?.bindings ?? [];
  const filled = vars.filter((name) => rows.some((row) => row[name]));
  const shown = filled.filter((name) => !rows.some((row) => row[name]?.datatype?.endsWith("#wktLiteral")));
  const thing = shown.find((name) => rows.some((row) => row[name]?.type === "uri"));
  if (thing && shown.includes("label") && thing !== "label") {
    return shown.filter((name) => name !== "label").map((name) => (name === thing ? { name, label: "label" } : { name }));
  }
  return shown.map((name) => ({ name }));
}

/** A variable as words: `nearestPark` is "nearest park". */
export function heading(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/_/g, " ").toLowerCase();
}

interface TableOptions {
  map: FeatureCollection | null;
  selected?: string | null;
  all?: boolean;
  pick?: (iri: string) => void;
  more?: () => void;
}

/** The table; at most the first rows until all are asked for. */
export function table(results: Results, options: TableOptions): TemplateResult {
  const rows = results.results?.bindings ?? [];
  const columns = columnsOf(results);
  const numbers = numbersOf(options.map);
  const shown = options.all ? rows : rows.slice(0, FIRST);
  const iriOf = (row: Row): string | undefined => columns.map(({ name }) => row[name]).find((one) => one?.type === "uri")?.value;
  return html`<div class="wide-table" tabindex="0" role="region" aria-label="Rows of the answer">
      <table class="list">
        <thead>
          <tr>
            ${numbers.size ? html`<th><span class="hide">Number on the map</span></th>` : nothing}
            ${columns.map(({ name }) => html`<th class="upper">${heading(name)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shown.map((row) => {
            const iri = iriOf(row);
            const number = iri ? numbers.get(iri) : undefined;
            return html`<tr aria-current=${iri && iri === options.selected ? "true" : nothing} @click=${() => iri && options.pick?.(iri)}>
              ${numbers.size ? html`<td>${number === undefined ? nothing : html`<span class="pin">${number}</span>`}</td>` : nothing}
              ${columns.map(({ name, label }) => html`<td>${row[name] ? term(row[name], label && row[label] ? inWords(row[label]) : undefined) : nothing}</td>`)}
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${shown.length < rows.length
      ? html`<div class="row ruled"><button class="btn low" @click=${options.more}>Show all ${rows.length.toLocaleString("en")} rows</button></div>`
      : nothing}`;
}

function numbersOf(map: FeatureCollection | null): Map<string, number> {
  const found = new Map<string, number>();
  for (const feature of map?.features ?? []) {
    const { iri, number } = feature.properties as { iri?: string; number?: number };
    if (iri && number !== undefined) found.set(iri, number);
  }
  return found;
}

/** Features with the numbers of the list; none where there is only one, or too many to read. */
export function numbered(collection: FeatureCollection | null | undefined): FeatureCollection | null {
  if (!collection?.features.length) return null;
  const seen = new Map<string, number>();
  const count = new Set(collection.features.map((one) => one.properties?.["iri"] ?? one.id)).size;
  const features = collection.features.map((feature) => {
    const name = String(feature.properties?.["iri"] ?? feature.id);
    if (!seen.has(name)) seen.set(name, seen.size + 1);
    const number = count > 1 && count <= 99 ? seen.get(name) : undefined;
    return { ...feature, properties: { ...feature.properties, number } };
  });
  return { ...collection, features };
}

/** Buttons that keep an answer as a file, or its address. */
export function keeping(query: string, map: FeatureCollection | null, name: string, failed: (error: unknown) => void): TemplateResult {
  const csv = async (): Promise<void> => {
    try {
      download(`${name}.csv`, "text/csv", await text("sparql", { form: { query }, accept: "text/csv" }));
    } catch (error) {
      failed(error);
    }
  };
  return html`<button class="btn low" @click=${csv}>CSV</button>
    ${map
      ? html`<button class="btn low" @click=${() => download(`${name}.geojson`, "application/geo+json", JSON.stringify(map))}>GeoJSON</button>`
      : nothing}`;
}

/** A button that copies the address of what is shown. */
export function share(path: string, parameters: Record<string, string>, done: () => void, copied: boolean): TemplateResult {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(new URL(`#/${address(path, parameters)}`, location.href).href);
    done();
  };
  return html`<button class="btn low" @click=${copy}>${copied ? "Link copied" : "Copy link"}</button>`;
}
