// The rows of an answer as a table; rows on the map have the map's numbers.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { ask, download, text, type Results, type Row } from "./api";
import type { FeatureCollection } from "geojson";
import { inWords, isIri, note, visible } from "./names";
import { entityAddress, term } from "./screen";

const FIRST = 200;
const ROW = 38;
const MOST_PLACED = 120;

/** Where a row's thing is: how far from the place of the question, and in which area. */
export interface Placed {
  distance?: number;
  within?: { iri: string; label: string };
}

/** Distances and containing areas of the first things of an answer, by their IRIs. */
export async function placesOf(iris: string[], from?: string): Promise<Map<string, Placed>> {
  const asked = iris.filter(isIri).slice(0, MOST_PLACED);
  const found = new Map<string, Placed>();
  if (!asked.length) return found;
  const wanted = [...asked.map((iri) => ["iri", iri]), ["within", "true"], ["tolerance", "0.01"], ...(from ? [["distance_from", from]] : [])];
  for (const { properties } of ((await ask(`features?${new URLSearchParams(wanted)}`)) as FeatureCollection).features) {
    const around = properties!["within"]?.[0] as { iri: string; label: string | null } | undefined;
    if (around) note(around.iri, around.label);
    found.set(properties!["iri"], { distance: properties!["distance_m"], within: around?.label ? { iri: around.iri, label: around.label } : undefined });
  }
  return found;
}

/** A length as people say it. */
export function length(meters: number): string {
  if (meters < 995) return `${Math.round(meters / 10) * 10} m`;
  return `${(meters / 1000).toLocaleString("en", { maximumFractionDigits: meters < 9950 ? 1 : 0 })} km`;
}

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
  placed?: Map<string, Placed>;
}

/** The table; at most the first rows until all are asked for. */
export function table(results: Results, options: TableOptions): TemplateResult {
  const rows = results.results?.bindings ?? [];
  const columns = columnsOf(results);
  const numbers = numbersOf(options.map);
  if (options.all && rows.length > FIRST) return html`<ukg-rows .results=${results} .pick=${options.pick}></ukg-rows>`;
  const shown = rows.slice(0, FIRST);
  const placed = [...(options.placed?.values() ?? [])];
  const [far, within] = [placed.some((one) => one.distance !== undefined), placed.some((one) => one.within)];
  const iriOf = (row: Row): string | undefined => columns.map(({ name }) => row[name]).find((one) => one?.type === "uri")?.value;
  return html`<div class="wide-table" tabindex="0" role="region" aria-label="Rows of the answer">
      <table class="list">
        <thead>
          <tr>
            ${numbers.size ? html`<th><span class="hide">Number on the map</span></th>` : nothing}
            ${columns.map(({ name }) => html`<th class="upper">${heading(name)}</th>`)}
            ${within ? html`<th>In</th>` : nothing} ${far ? html`<th class="right">Away</th>` : nothing}
          </tr>
        </thead>
        <tbody>
          ${shown.map((row) => {
            const iri = iriOf(row);
            const number = iri ? numbers.get(iri) : undefined;
            return html`<tr aria-current=${iri && iri === options.selected ? "true" : nothing} @click=${() => iri && options.pick?.(iri)}>
              ${numbers.size ? html`<td>${number === undefined ? nothing : html`<span class="pin">${number}</span>`}</td>` : nothing}
              ${columns.map(({ name, label }) => html`<td>${row[name] ? term(row[name], label && row[label] ? inWords(row[label]) : undefined) : nothing}</td>`)}
              ${placing(iri ? options.placed?.get(iri) : undefined, within, far)}
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
    ${shown.length < rows.length
      ? html`<div class="row ruled"><button class="btn low" @click=${options.more}>Show all ${rows.length.toLocaleString("en")} rows</button></div>`
      : nothing}`;
}

function placing(of: Placed | undefined, within: boolean, far: boolean): TemplateResult {
  const area = of?.within ? html`<a class="soft" href=${entityAddress(of.within.iri)}>${visible(of.within.label)}</a>` : nothing;
  return html`${within ? html`<td>${area}</td>` : nothing}${far ? html`<td class="right num soft">${of?.distance === undefined ? nothing : of.distance === 0 ? "there" : length(of.distance)}</td>` : nothing}`;
}

/** Very many rows: only those in view are in the document. */
class Rows extends LitElement {
  static override properties = { results: { attribute: false }, pick: { attribute: false }, first: { state: true } };
  declare results: Results;
  declare pick: ((iri: string) => void) | undefined;
  declare first: number;

  constructor() {
    super();
    this.first = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): unknown {
    const rows = this.results.results?.bindings ?? [];
    const columns = columnsOf(this.results);
    const shown = rows.slice(this.first, this.first + 60);
    const gap = (count: number): TemplateResult | typeof nothing => (count > 0 ? html`<tr aria-hidden="true"><td colspan=${columns.length} height=${count * ROW}></td></tr>` : nothing);
    return html`<div class="wide-table many" tabindex="0" role="region" aria-label="All rows of the answer" @scroll=${(event: Event) => this.scrolled(event)}>
      <table class="list" aria-rowcount=${rows.length + 1}><thead><tr>${columns.map(({ name }) => html`<th class="upper">${heading(name)}</th>`)}</tr></thead>
        <tbody>${gap(this.first)}${shown.map((row, at) => html`<tr aria-rowindex=${this.first + at + 2}>${columns.map(({ name, label }) => html`<td>${row[name] ? term(row[name], label && row[label] ? inWords(row[label]) : undefined) : nothing}</td>`)}</tr>`)}${gap(rows.length - this.first - shown.length)}</tbody></table></div>`;
  }

  private scrolled(event: Event): void {
    this.first = Math.max(0, Math.floor((event.target as HTMLElement).scrollTop / ROW / 20) * 20 - 20);
  }
}

customElements.define("ukg-rows", Rows);

export function numbersOf(map: FeatureCollection | null): Map<string, number> {
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
  const keep = async (ending: string, type: string): Promise<void> => {
    try {
      download(`${name}.${ending}`, type, await text("sparql", { form: { query }, accept: type }));
    } catch (error) {
      failed(error);
    }
  };
  return html`<button class="btn low" @click=${() => void keep("csv", "text/csv")}>CSV</button>
    ${map ? html`<button class="btn low" @click=${() => void keep("geojson", "application/geo+json")}>GeoJSON</button>` : nothing}`;
}

/** A button that copies the address of what is shown. */
export function share(done: () => void, copied: boolean): TemplateResult {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(location.href);
    done();
  };
  return html`<button class="btn low" @click=${copy}>${copied ? "Link copied" : "Copy link"}</button>`;
}
