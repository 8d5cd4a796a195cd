// Query: SPARQL with the ontology's prefixes; table, map and files.

import { html, nothing, type TemplateResult } from "lit";
import type { FeatureCollection } from "geojson";
import { address, ask, inWords as problemInWords, rows, select, text, type Results } from "./api";
import type { Editor } from "./editor";
import { learn, visible, vocabulary } from "./names";
import { keeping, numbered, share, table } from "./results";
import { completions, Screen, type Completion } from "./screen";
import { featuresOf } from "./wkt";

const PREFIXES: Record<string, string> = {
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  owl: "http://www.w3.org/2002/07/owl#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  skos: "http://www.w3.org/2004/02/skos/core#",
  geo: "http://www.opengis.net/ont/geosparql#",
  geof: "http://www.opengis.net/def/function/geosparql/",
  uom: "http://www.opengis.net/def/uom/OGC/1.0/",
  prov: "http://www.w3.org/ns/prov#",
};

const EXAMPLES: { name: string; query: string }[] = [
  {
    name: "Kinds of things, and how many",
    query: "SELECT ?kind (COUNT(?thing) AS ?things) WHERE {\n  ?thing a ?class .\n  ?class a owl:Class ; rdfs:label ?kind\n}\nGROUP BY ?kind ORDER BY DESC(?things) LIMIT 25",
  },
  {
    name: "Places with their geometry",
    query: "SELECT ?place ?label ?wkt WHERE {\n  ?place rdfs:label ?label ; geo:hasDefaultGeometry/geo:asWKT ?wkt\n  FILTER(STRLEN(STR(?wkt)) < 5000)\n} LIMIT 200",
  },
  {
    name: "Which areas hold the most",
    query: "SELECT ?area ?label (COUNT(?inside) AS ?places) WHERE {\n  ?inside geo:rcc8ntpp ?area .\n  ?area rdfs:label ?label\n}\nGROUP BY ?area ?label ORDER BY DESC(?places) LIMIT 20",
  },
];

/** One rewriting of a part of a query: what was done, or why it was not. */
interface Rewriting {
  rewriting: string;
  part?: string;
  what?: string;
  why?: string;
}

interface Explained {
  query: string;
  rewritten: string;
  revision: number;
  done: Rewriting[];
  left: Rewriting[];
  warnings: unknown[];
}

interface Example {
  name: string;
  query: string;
}

const OWN = "urbankg.queries";

/** What people kept in this browser. */
function own(): Example[] {
  try {
    return JSON.parse(localStorage.getItem(OWN) ?? "[]") as Example[];
  } catch {
    return [];
  }
}

/** The queries that ontologies bring with them, by their comments. */
async function shipped(): Promise<Example[]> {
  const found = await rows(`PREFIX sh: <http://www.w3.org/ns/shacl#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    SELECT ?name ?query WHERE { ?q sh:select|sh:ask ?query ; rdfs:comment ?name . ?q a ?kind FILTER(?kind IN (sh:SPARQLExecutable, sh:SPARQLSelectExecutable, sh:SPARQLAskExecutable)) } ORDER BY ?name`);
  return [...new Map(found.map((row) => [row["name"]!.value, { name: row["name"]!.value, query: row["query"]!.value.trim() }])).values()];
}

class QueryScreen extends Screen {
  private examples: Example[] = EXAMPLES.map((one) => ({ ...one, query: withPrefixes(one.query) }));
  private kept: Example[] = own();
  private naming: string | null = null;
  private editor: Editor | null = null;
  private query = "";
  private ran = "";
  private results: Results | null = null;
  private graph = "";
  private map: FeatureCollection | null = null;
  private view: "table" | "map" = "table";
  private selected: string | null = null;
  private all = false;
  private copied = false;
  private seconds = 0;
  private plan: Explained | null = null;
  private words = "";
  private offered: Completion[] = [];

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    const query = this.parameters.get("query");
    if (query && query !== this.ran) {
      this.query = query;
      void this.execute();
    } else if (!this.query) this.query = withPrefixes(EXAMPLES[0]!.query);
  }

  protected override firstUpdated(): void {
    shipped().then((found) => {
      this.examples = [...found, ...this.examples];
      this.requestUpdate();
    }, () => undefined);
    void import("./editor").then(async ({ edit, styled }) => {
      await styled;
      const parent = this.querySelector<HTMLElement>(".editor");
      if (!parent || this.editor) return;
      parent.replaceChildren();
      this.editor = edit(parent, this.query, (query) => (this.query = query), () => void this.execute());
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.editor?.end();
    this.editor = null;
  }

  private keep(event: Event): void {
    event.preventDefault();
    const name = this.naming!.trim();
    if (!name) return;
    this.kept = [...this.kept.filter((one) => one.name !== name), { name, query: this.query }];
    localStorage.setItem(OWN, JSON.stringify(this.kept));
    this.naming = null;
    this.requestUpdate();
  }

  private async execute(): Promise<void> {
    const query = (this.ran = this.query);
    const begun = performance.now();
    this.results = null;
    this.graph = "";
    this.plan = null;
    this.map = null;
    const isGraph = /^\s*(?:(?:#[^\n]*|(?:PREFIX|BASE)\s[^>]*>)\s*)*(?:CONSTRUCT|DESCRIBE)\b/i.test(query);
    if (isGraph) {
      this.graph = (await this.run("Asking the graph…", () => text("sparql", { form: { query }, accept: "text/turtle" }))) ?? "";
    } else {
      const results = await this.run("Asking the graph…", () => select(query));
      if (!results) return;
      this.results = results;
      this.map = numbered(featuresOf(results));
      if (!this.map) this.view = "table";
      else void import("./map");
      void vocabulary()
        .then(() => learn((results.results?.bindings ?? []).slice(0, 200).flatMap((row) => Object.values(row).filter((one) => one.type === "uri").map((one) => one.value))))
        .then(() => this.requestUpdate(), () => undefined);
    }
    this.seconds = (performance.now() - begun) / 1000;
    this.all = this.copied = false;
    this.addressed(address("query", { query }));
    this.requestUpdate();
  }

  private async explain(): Promise<void> {
    this.plan = ((await this.run("Explaining…", () => ask("sparql", { form: { query: this.query, explain: "true" } }))) as Explained | undefined) ?? null;
    this.requestUpdate();
  }

  private async lookUp(event: Event): Promise<void> {
    this.words = (event.target as HTMLInputElement).value;
    this.offered = this.words.trim().length > 1 ? await completions(this.words, undefined, 8) : [];
    this.requestUpdate();
  }

  private insert(iri: string): void {
    this.editor?.insert(`<${iri}>`);
    this.words = "";
    this.offered = [];
    this.requestUpdate();
  }

  private pickExample(event: Event): void {
    const found = [...this.examples, ...this.kept][Number((event.target as HTMLSelectElement).value || "-1")];
    if (!found) return;
    this.query = found.query;
    this.requestUpdate();
    void this.execute();
  }

  protected override updated(): void {
    this.editor?.set(this.query);
  }

  protected override render(): unknown {
    return html`<div class="gap">
      <div class="row spread"><h1 class="mid">Query the graph</h1>
        <div class="row push"><label class="hide" for="example">Example queries</label><select id="example" class="chip plain" @change=${(event: Event) => this.pickExample(event)}>
          <option value="">Example queries</option>${this.examples.map((one, index) => html`<option value=${index}>${one.name}</option>`)}
          ${this.kept.length ? html`<optgroup label="Kept in this browser">${this.kept.map((one, index) => html`<option value=${this.examples.length + index}>${one.name}</option>`)}</optgroup>` : nothing}</select></div></div>
      <form class="card" @submit=${(event: Event) => (event.preventDefault(), void this.execute())}>
        <div class="in stack">
          <div class="editor"><p class="soft">Loading the editor…</p></div>
          <div class="row"><button class="btn main">Run <kbd class="wide">Ctrl ↵</kbd></button>
            <button class="btn low" type="button" @click=${() => void this.explain()}>Explain</button>
            ${this.naming === null
              ? html`<button class="btn low" type="button" @click=${() => ((this.naming = ""), this.requestUpdate())}>Keep</button>`
              : html`<label class="hide" for="naming">Name of the query</label><input id="naming" class="chip plain" placeholder="Name of the query" @input=${(event: Event) => (this.naming = (event.target as HTMLInputElement).value)} @keydown=${(event: KeyboardEvent) => event.key === "Enter" && this.keep(event)} />
                <button class="btn low" type="button" @click=${(event: Event) => this.keep(event)}>Keep it</button>`}
            <span class="push lookup"><label class="hide" for="lookup">Insert a name, class or property</label>
              <input id="lookup" type="search" class="chip plain" placeholder="Insert a name, class or property" autocomplete="off" .value=${this.words} @input=${(event: Event) => void this.lookUp(event)} /></span></div>
          ${this.offered.length ? html`<div class="row">${this.offered.map((one) => html`<button type="button" class="chip plain" @click=${() => this.insert(one.iri)}><i>${one.kind}</i>${visible(one.label)}</button>`)}</div>` : nothing}
        </div>
      </form>
      ${this.state()} ${this.plan ? explained(this.plan) : nothing}
      ${this.graph ? html`<pre tabindex="0" class="tall">${this.graph}</pre>` : nothing} ${this.results ? this.shown(this.results) : nothing}
    </div>`;
  }

  private shown(results: Results): TemplateResult {
    if (results.boolean !== undefined) return html`<h2 class="verdict"><span class="v ${results.boolean ? "ok" : "no"}">${results.boolean ? "True" : "False"}</span></h2>`;
    const count = results.results?.bindings.length ?? 0;
    if (!count) return html`<div class="card"><p class="empty first">No row fits. Take a condition out, or look at what the graph has with an example query.</p></div>`;
    const tab = (view: "table" | "map", word: string): TemplateResult => html`<button aria-pressed=${this.view === view ? "true" : "false"} @click=${() => this.turn(view)}>${word}</button>`;
    return html`<section class="stack" aria-label="Answer">
      <div class="row"><h2 aria-live="polite">${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}</h2><span class="small faint num">${this.seconds.toFixed(2)} s</span>
        ${this.map ? html`<span class="seg push" role="group" aria-label="View">${tab("table", "Table")}${tab("map", "Map")}</span>` : nothing}</div>
      ${this.view === "map" && this.map
        ? html`<ukg-map class="tall" .data=${this.map} .reference=${null} .around=${null} .selected=${this.selected} label="Map of the answer" @pick=${(event: CustomEvent<string>) => this.pick(event.detail)}></ukg-map>`
        : html`<div class="card">${table(results, { map: this.map, selected: this.selected, all: this.all, pick: (iri) => this.pick(iri), more: () => this.more() })}</div>`}
      <div class="row">${share(() => this.didCopy(), this.copied)} ${keeping(this.ran, this.map, "query", (error) => this.failed(error))}</div>
    </section>`;
  }

  private turn(view: "table" | "map"): void {
    this.view = view;
    this.requestUpdate();
  }

  private pick(iri: string): void {
    this.selected = iri;
    this.requestUpdate();
  }

  private more(): void {
    this.all = true;
    this.requestUpdate();
  }

  private didCopy(): void {
    this.copied = true;
    this.requestUpdate();
  }

  private failed(error: unknown): void {
    this.problem = problemInWords(error);
    this.requestUpdate();
  }
}

/** What is done to the query before it runs, what is not and why, and the query that runs. */
function explained(plan: Explained): TemplateResult {
  const part = (one: Rewriting): TemplateResult => html`<li><b>${one.rewriting}</b>${one.part ? html` <code>${one.part}</code>` : nothing}<p class="why">${one.what ?? one.why}</p></li>`;
  const list = (words: string, of: Rewriting[]): TemplateResult | typeof nothing => (of.length ? html`<div><p class="small faint">${words}</p><ul class="items">${of.map(part)}</ul></div>` : nothing);
  const { done, left, warnings } = plan;
  return html`<section class="card explained"><header><h2>How it runs</h2><span class="small faint">${plan.rewritten === plan.query ? "as it is written" : "rewritten first"}, at revision ${plan.revision.toLocaleString("en")}</span></header>
    <div class="in stack">${done.length || left.length ? nothing : html`<p class="small soft">No part of it can be answered from an index.</p>`}${list("Done to it", done)}${list("Left as it is", left)}${warnings.map((one) => html`<p class="v warn">${typeof one === "string" ? one : JSON.stringify(one)}</p>`)}
      ${plan.rewritten === plan.query ? nothing : html`<div><p class="small faint">The query that runs</p><pre tabindex="0" class="tall">${shortened(plan.rewritten)}</pre></div>`}</div></section>`;
}

/** A query with the beginnings of its long literals: outlines of areas fill pages. */
function shortened(query: string): string {
  return query.replace(/"((?:[^"\\\n]|\\.){80})(?:[^"\\\n]|\\.)+"/g, '"$1…"');
}

/** A query with the prefixes that it uses before it. */
function withPrefixes(query: string): string {
  const used = Object.entries(PREFIXES).filter(([name]) => new RegExp(`\\b${name}:`).test(query));
  return `${used.map(([name, iri]) => `PREFIX ${name}: <${iri}>`).join("\n")}\n${query}`;
}

customElements.define("ukg-query", QueryScreen);
