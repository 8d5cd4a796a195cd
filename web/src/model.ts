// Model: the ontology's classes, what is said of them and which rules hold; its files, edited with a dry run.

import { html, nothing, type TemplateResult } from "lit";
import { address, ask, rows, text } from "./api";
import { chosen, findings, type Check, type File } from "./file";
import { counted, forget, kindOf, nameOf, unitOf, vocabulary } from "./names";
import { Screen } from "./screen";

const OWL = "http://www.w3.org/2002/07/owl#";
const SH = "http://www.w3.org/ns/shacl#";

const EITHER = new Intl.ListFormat("en", { type: "disjunction" });
const ANYTHING = new Set(["Literal", "Resource"].map((name) => `http://www.w3.org/2000/01/rdf-schema#${name}`));

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
  name: string;
  comment: string;
  severity: string;
  message: string;
  targets: Set<string>;
}

class ModelScreen extends Screen {
  private classes = new Map<string, OntologyClass>();
  private properties: Property[] = [];
  private rules: Rule[] = [];
  private files: File[] = [];
  private chosen = "";
  private file: File | null = null;
  private check: Check | null = null;
  private examples = new Map<string, { name: string; passes: boolean; turtle: string }[]>();
  private loaded = false;
  private ontologies: string[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    this.chosen = this.parameters.get("class") ?? "";
    const [kind, name] = (this.parameters.get("file") ?? "").split("/");
    if (name && (kind === "ontologies" || kind === "shapes")) {
      if (this.file?.name !== name || this.file.kind !== kind) this.file = { kind, name };
    } else this.file = null;
  }

  private async load(): Promise<void> {
    await this.run("Reading the ontology…", async () => {
      const [classes, counts, properties, shapes, rules, ontologies] = await Promise.all([
        rows(`PREFIX owl: <${OWL}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
          SELECT ?class ?definition ?above WHERE { ?class a owl:Class ; rdfs:label ?label FILTER(isIRI(?class))
            OPTIONAL { ?class skos:definition|rdfs:comment ?definition }
            OPTIONAL { ?class rdfs:subClassOf ?above FILTER(isIRI(?above)) } }`),
        rows("SELECT ?class (COUNT(?thing) AS ?n) WHERE { ?thing a ?class } GROUP BY ?class"),
        rows(`PREFIX owl: <${OWL}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
          PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
          SELECT ?property ?domain ?range WHERE { VALUES ?kind { owl:ObjectProperty owl:DatatypeProperty } ?property a ?kind ; rdfs:label ?label
            OPTIONAL { ?property <https://schema.org/domainIncludes>|<http://schema.org/domainIncludes>|rdfs:domain/(owl:unionOf/rdf:rest*/rdf:first)? ?domain FILTER(isIRI(?domain)) }
            OPTIONAL { ?property <https://schema.org/rangeIncludes>|<http://schema.org/rangeIncludes>|rdfs:range/(owl:unionOf/rdf:rest*/rdf:first|owl:onDatatype)? ?range FILTER(isIRI(?range)) } }`),
        text("shapes?generated=false", { accept: "application/n-triples" }),
        ask("rules"),
        rows(`SELECT ?ontology WHERE { ?ontology a <${OWL}Ontology> FILTER(isIRI(?ontology)) } ORDER BY ?ontology`),
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
      this.check = rules.check;
      this.ontologies = ontologies.map((row) => row["ontology"]!.value);
      this.files = [
        ...(rules.files.ontology as { name: string }[]).map(({ name }): File => ({ kind: "ontologies", name })),
        ...(rules.files.shapes as { name: string }[]).map(({ name }): File => ({ kind: "shapes", name })),
      ];
      this.loaded = true;
    });
  }

  protected override render(): unknown {
    const used = [...this.classes.values()].filter((one) => !one.above.some((iri) => this.classes.has(iri)));
    return html`<div class="gap">
      <div class="stack"><h1 class="mid">${!this.loaded ? "Model" : html`${counted(this.classes.size, "kind")}, ${counted(this.properties.length, "property", "properties")}, ${counted(this.rules.length, "rule")}`}</h1>
        <div class="row"><span class="small faint">Files</span>${this.files.map((one) => html`<a class="chip plain" aria-current=${one.name === this.file?.name && one.kind === this.file.kind ? "true" : nothing}
          href=${`#/${address("model", { file: `${one.kind}/${one.name}` })}`}>${one.kind === "shapes" ? "shapes" : "ontology"}: ${one.name}</a>`)}
          ${this.ontologies.map((iri) => html`<a class="small" href=${documentOf(iri)} target="_blank">Documentation: ${nameOf(iri)}</a>`)}
          ${this.may("admin") ? html`${this.adder("ontologies", "Add an ontology")}${this.adder("shapes", "Add shapes")}` : nothing}</div></div>
      ${this.state()}
      ${this.file ? html`<ukg-file .file=${this.file} .access=${this.access} @switched=${() => void this.switched()}></ukg-file>` : this.loaded ? html`<div class="cols queue"><nav class="card side ${this.classes.has(this.chosen) ? "chosen" : ""}" aria-label="Kinds"><div class="in tree"><ul>${used.sort(byName).map((one) => this.branch(one, 0, new Set()))}</ul></div></nav>
        <section class="gap">${this.classes.get(this.chosen) ? this.kind(this.classes.get(this.chosen)!) : html`<div class="card"><p class="empty first">${this.chosen ? "The ontology does not have this kind. " : ""}Choose a kind to see what can be said of it, and which rules hold.</p></div>${this.checked()}${this.folded("All rules", this.rules)}`}</section></div>` : nothing}
    </div>`;
  }

  private adder(kind: File["kind"], words: string): TemplateResult {
    return html`<label class="btn low file">${words}<input class="hide" type="file" accept=".ttl,text/turtle" @change=${(event: Event) => void this.add(kind, event)} /></label>`;
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
    const properties = new Set(said.map((two) => two.iri));
    const more = this.rules.filter((two) => !rules.includes(two) && [...two.targets].some((iri) => properties.has(iri)));
    return html`<div><p class="small phone trail"><a href="#/model">All kinds</a></p><p class="small soft trail">${one.above.map((iri, index) => html`${index ? ", " : ""}<a href=${`#/${address("model", { class: iri })}`}>${nameOf(iri)}</a>`)}</p><h1 class="upper">${nameOf(one.iri)}</h1><p class="soft">${one.definition}</p>
        <p class="small"><a href=${`#/${address("query", { query: `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\nSELECT ?thing ?label WHERE {\n  ?thing a/rdfs:subClassOf* <${one.iri}> ; rdfs:label ?label\n} ORDER BY ?label` })}`}>Show all in Query</a>${this.documented(one.iri)}</p></div>
      <div class="card"><header><h2>What can be said of it</h2><span class="count">${said.length}</span></header>
        ${said.length ? html`<table class="facts"><tbody>${said.map((two) => html`<tr><th scope="row">${nameOf(two.iri)}</th><td>${rangeOf(two)}${unitOf(two.iri) ? html` <span class="small faint">in${unitOf(two.iri)}</span>` : nothing}</td></tr>`)}</tbody></table>` : html`<p class="empty">No property names it in its domain.</p>`}</div>
      <div class="card"><header><h2>Rules</h2><span class="count">${rules.length}</span></header>
        ${rules.length ? html`<ul class="items">${rules.map((two) => this.rule(two))}</ul>` : html`<p class="empty">No rule names it.</p>`}</div>${more.length ? this.folded("Rules of what can be said of it", more) : nothing}`;
  }

  /** The section about a term in the documentation of its ontology. */
  private documented(iri: string): TemplateResult | typeof nothing {
    const ontology = this.ontologies.find((one) => iri.startsWith(one) && /^[#/]/.test(iri.slice(one.replace(/[#/]$/, "").length)));
    return ontology ? html` · <a href=${`${documentOf(ontology)}#${iri.split(/[#/]/).pop()}`} target="_blank">Documentation</a>` : nothing;
  }

  private folded(words: string, rules: Rule[]): TemplateResult {
    return html`<details class="card"><summary>${words} <span class="count">${rules.length}</span></summary><ul class="items">${rules.map((one) => this.rule(one))}</ul></details>`;
  }

  private rule(one: Rule): TemplateResult {
    const found = this.examples.get(one.iri);
    const words = (passes: boolean): TemplateResult | typeof nothing => {
      const graphs = (found ?? []).filter((two) => two.passes === passes);
      return graphs.length ? html`<div><p class="v ${passes ? "ok" : "no"}">${passes ? "Passes" : one.severity === "Warning" ? "Is warned of" : "Is refused"}</p>${graphs.map((two) => html`<pre tabindex="0">${withoutPrefixes(two.turtle)}</pre>`)}</div>` : nothing;
    };
    return html`<li><b>${one.name || nameOf(one.iri)}</b>${one.severity === "Warning" ? html` <span class="v warn">warns</span>` : nothing}
      <p>${one.message}</p>${one.comment ? html`<p class="why">${one.comment}</p>` : nothing}
      <details @toggle=${(event: Event) => (event.target as HTMLDetailsElement).open && void this.illustrate(one.iri)}><summary class="bare">Examples</summary>
        <div class="stack">${!found ? nothing : found.length ? html`${words(false)}${words(true)}` : html`<p class="small soft">No example stands beside this rule.</p>`}</div></details></li>`;
  }

  private async illustrate(shape: string): Promise<void> {
    if (this.examples.has(shape)) return;
    const found = await ask(address("rules/examples", { shape })).catch(() => ({ examples: [] }));
    this.examples.set(shape, found.examples);
    this.requestUpdate();
  }

  /** What the check of the files says; it is made on demand, or was made at the last switch. */
  private checked(): TemplateResult {
    const { check } = this;
    const words = !check ? "" : check.errors || check.warnings ? `${check.errors} errors, ${check.warnings} warnings` : "nothing to correct";
    return html`<div class="card"><header><h2>Check of the files</h2><span class="small faint">${words}</span>
        ${this.may("admin") ? html`<button class="btn low push" @click=${() => void this.runCheck()}>Check now</button>` : nothing}</header>
      ${check?.findings.length ? findings(check.findings.slice(0, 50)) : html`<p class="empty">${check ? "Every file can be used as it is." : "Not checked since the start."}</p>`}</div>`;
  }

  private async runCheck(): Promise<void> {
    const found = (await this.run("Checking the files…", () => ask("check", { json: {} }))) as Check | undefined;
    if (found) this.check = found;
    this.requestUpdate();
  }

  /** A file of this machine; it opens in the editor, and nothing is in force before it is tested. */
  private async add(kind: File["kind"], event: Event): Promise<void> {
    const file = (event.target as HTMLInputElement).files?.[0];
    if (!file) return;
    chosen.name = file.name;
    chosen.content = await file.text();
    location.hash = `#/${address("model", { file: `${kind}/${file.name}` })}`;
  }

  private async switched(): Promise<void> {
    forget();
    this.classes.clear();
    await this.load();
  }
}

/** What a property's values are, in words; "a value" only where nothing more exact is known. */
function rangeOf(property: Property): string {
  const exact = [...property.ranges].filter((iri) => !ANYTHING.has(iri));
  return EITHER.format([...new Set((exact.length ? exact : [...property.ranges]).map(nameOf))].sort()) || "anything";
}

/** A graph without the prefixes that stand before it. */
function withoutPrefixes(turtle: string): string {
  return turtle.replace(/^@prefix[^\n]*\n/gm, "").trim();
}

/** Where this server shows the page of an ontology: at the path of its IRI. */
function documentOf(iri: string): string {
  return new URL(iri).pathname.slice(1);
}

function byName(one: OntologyClass, other: OntologyClass): number {
  return nameOf(one.iri).localeCompare(nameOf(other.iri));
}

/** The shapes with a message, and the classes and properties that they look at. */
function readRules(triples: string): Rule[] {
  const found = new Map<string, Rule>();
  for (const [, subject, predicate, iri, literal] of triples.matchAll(/^<([^>]*)> <([^>]*)> (?:<([^>]*)>|"((?:[^"\\]|\\.)*)"[^ ]*) \.$/gm)) {
    const name = predicate!.startsWith(SH) ? predicate!.slice(SH.length) : "";
    const rule = found.get(subject!) ?? { iri: subject!, name: "", comment: "", severity: "Violation", message: "", targets: new Set<string>() };
    if (iri === undefined && name === "name") rule.name = JSON.parse(`"${literal}"`) as string;
    else if (iri === undefined && predicate!.endsWith("#comment")) rule.comment = JSON.parse(`"${literal}"`) as string;
    else if (name === "severity") rule.severity = iri!.slice(SH.length);
    else if (name === "message") rule.message = JSON.parse(`"${literal}"`) as string;
    else if (/^target(Class|SubjectsOf|ObjectsOf)$/.test(name)) rule.targets.add(iri!);
    else continue;
    found.set(subject!, rule);
  }
  return [...found.values()].filter((one) => one.message && one.targets.size);
}

customElements.define("ukg-model", ModelScreen);
