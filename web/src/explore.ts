// Explore: search by name, and the page of an entity: its facts with their sources, its place, its neighbors.

import { html, nothing, type TemplateResult } from "lit";
import type { Feature, FeatureCollection } from "geojson";
import { address, ask, download, rows, text, type Term } from "./api";
import { evidenceOf, readSentences, sourceShown, type Source } from "./evidence";
import { things } from "./examples";
import { inWords, isIri, kindOf, LABEL, learn, nameOf, TYPE, unitOf, visible, vocabulary } from "./names";
import { numbered, numbersOf } from "./results";
import { meanings, entityAddress, Screen, term, type Completion } from "./screen";

const GEO = "http://www.opengis.net/ont/geosparql#";
const RCC8: Record<string, string> = {
  rcc8ec: "touches",
  rcc8po: "overlaps",
  rcc8eq: "is the same as",
  rcc8tpp: "lies in",
  rcc8ntpp: "lies in",
  rcc8tppi: "contains",
  rcc8ntppi: "contains",
};
const NEIGHBORS = 24;

interface Fact {
  predicate: string;
  values: { value: Term; sources: Source[] }[];
}

interface Entity {
  iri: string;
  name: string;
  classes: string[];
  facts: Fact[];
  incoming: { predicate: string; subject: string }[];
  neighbors: { relation: string; iri: string }[];
  more: number;
}

class ExploreScreen extends Screen {
  private words = "";
  private searched = "";
  private found: Completion[] | null = null;
  private iri = "";
  private entity: Entity | null = null;
  private place: FeatureCollection | null = null;
  private around: FeatureCollection | null = null;
  private opened = new Set<string>();
  private all = false;
  /** Whether what is listed was found by a click on the map. */
  private spot = false;
  private selected: string | null = null;
  private timer?: ReturnType<typeof setTimeout>;
  private hasPlaces = true;
  /** What to look at first. */
  private started: { iri: string; name: string }[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    things().then((found) => {
      this.started = found;
      this.requestUpdate();
    }, () => undefined);
    ask("features?limit=1&tolerance=1").then((found: FeatureCollection) => {
      this.hasPlaces = found.features.length > 0;
      this.requestUpdate();
    }, () => undefined);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    const iri = this.parameters.get("iri") ?? "";
    const words = this.parameters.get("q") ?? "";
    if (iri && iri !== this.iri) void this.open(iri);
    else if (!iri) {
      this.iri = "";
      this.entity = null;
      this.words = words;
      this.spot = false;
      if (words !== this.searched || this.found === null) void this.search();
      void this.places();
    }
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("parameters") && !this.parameters.get("iri")) this.querySelector<HTMLInputElement>("#search")?.focus();
  }

  private async search(): Promise<void> {
    const words = (this.searched = this.words.trim());
    if (!words) {
      this.found = null;
      this.requestUpdate();
      return;
    }
    await vocabulary().catch(() => undefined);
    const found = await this.run("Searching…", () => meanings(words, "entity", 50));
    if (words !== this.searched) return;
    this.found = found ?? null;
    this.spot = false;
    void this.places();
    await learn((found ?? []).flatMap((one) => one.classes)).catch(() => undefined);
    this.requestUpdate();
  }

  private typed(event: Event): void {
    this.words = (event.target as HTMLInputElement).value;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.search(), 120);
  }

  private submitted(event: Event): void {
    event.preventDefault();
    if (this.found?.length === 1) location.hash = entityAddress(this.found[0]!.iri);
    else void this.search();
  }

  /** What a search found, on the map. */
  private async places(): Promise<void> {
    void import("./map");
    const found = this.found ?? [];
    this.place = this.around = null;
    this.requestUpdate();
    if (!found.length) return;
    const drawn = await ask(`features?${new URLSearchParams([...found.map((one) => ["iri", one.iri]), ["tolerance", "0.0002"]])}`).catch(() => null);
    if (found !== this.found || this.iri) return;
    const order = new Map(found.map((one, at) => [one.iri, at]));
    drawn?.features.sort((one: Feature, other: Feature) => order.get(one.properties!["iri"])! - order.get(other.properties!["iri"])!);
    this.place = numbered(drawn);
    this.requestUpdate();
  }

  /** What is at a place of the map: the smallest first. */
  private async here({ at, reach }: { at: { lat: number; lng: number }; reach: number }): Promise<void> {
    const box = [at.lng - reach, at.lat - reach, at.lng + reach, at.lat + reach].map((one) => one.toFixed(6)).join(",");
    const drawn = (await this.run("Looking there…", () => ask(address("features", { bbox: box, limit: 200, tolerance: 0.0005 })))) as FeatureCollection | undefined;
    if (!drawn || this.iri) return;
    this.place = null;
    this.found = drawn.features.reverse().map(({ properties: one }) => ({ iri: one!["iri"], label: one!["label"] ?? nameOf(one!["iri"]), kind: "entity", classes: one!["classes"] }));
    this.spot = true;
    await learn(this.found.flatMap((one) => one.classes)).catch(() => undefined);
    this.requestUpdate();
  }

  private async open(iri: string): Promise<void> {
    this.iri = iri;
    this.entity = null;
    this.place = null;
    this.opened.clear();
    this.all = false;
    if (!isIri(iri)) {
      this.problem = "This is not an address that the graph could know.";
      this.requestUpdate();
      return;
    }
    const entity = await this.run("Reading the facts…", () => this.read(iri));
    if (!entity || this.iri !== iri) return;
    this.entity = entity;
    void import("./neighborhood");
    void this.prove(entity).catch(() => undefined);
    document.title = `${entity.name} · UrbanKG`;
    this.requestUpdate();
    const near = entity.neighbors.slice(0, 12).map((one) => one.iri);
    const [place, around] = await Promise.all([
      ask(`features?${new URLSearchParams([["iri", iri], ["tolerance", "0.00005"]])}`),
      near.length ? ask(`features?${new URLSearchParams([...near.map((one) => ["iri", one]), ["of", "lines"], ["of", "points"], ["tolerance", "0.0001"]])}`) : null,
    ]).catch(() => [null, null]);
    if (this.iri !== iri) return;
    this.place = place?.features.length ? place : null;
    this.around = around?.features.length ? around : null;
    if (this.place) void import("./map");
    this.requestUpdate();
  }

  /** Add the words of texts to the facts. */
  private async prove(entity: Entity): Promise<void> {
    const values = entity.facts.flatMap((fact) => fact.values.map((value) => ({ value, triple: { subject: entity.iri, predicate: fact.predicate, object: value.value } })));
    const found = await evidenceOf(values.map((one) => one.triple));
    for (const { value, triple } of values) value.sources = found.get(triple) ?? [];
    this.requestUpdate();
  }

  private async read(iri: string): Promise<Entity> {
    const [outgoing, incoming] = await Promise.all([
      rows(`SELECT ?p ?o WHERE { <${iri}> ?p ?o } LIMIT 2000`),
      rows(`SELECT ?p ?s WHERE { ?s ?p <${iri}> FILTER(isIRI(?s) && !STRSTARTS(STR(?p), "${GEO}")) } LIMIT 500`),
      vocabulary(),
    ]);
    const classes = outgoing.filter((row) => row["p"]!.value === TYPE).map((row) => row["o"]!.value);
    const related = outgoing.filter((row) => row["p"]!.value.startsWith(`${GEO}rcc8`) && row["o"]!.type === "uri");
    const neighbors = related
      .map((row) => ({ relation: RCC8[row["p"]!.value.slice(GEO.length)] ?? "", iri: row["o"]!.value }))
      .filter((one) => one.relation && one.iri !== iri);
    const order = Object.values(RCC8);
    neighbors.sort((one, other) => order.indexOf(one.relation) - order.indexOf(other.relation));
    const facts = new Map<string, Fact>();
    for (const row of outgoing) {
      const predicate = row["p"]!.value;
      if (predicate.startsWith(GEO)) continue;
      const fact = facts.get(predicate) ?? { predicate, values: [] };
      fact.values.push({ value: row["o"]!, sources: [] });
      facts.set(predicate, fact);
    }
    await learn([
      iri,
      ...classes,
      ...outgoing.flatMap((row) => [row["p"]!.value, row["o"]!.type === "uri" ? row["o"]!.value : ""]).filter((one) => !one.startsWith(`${GEO}rcc8`)),
      ...incoming.flatMap((row) => [row["p"]!.value, row["s"]!.value]),
    ]);
    const sorted = [...facts.values()].sort((one, other) => rank(one) - rank(other) || nameOf(one.predicate).localeCompare(nameOf(other.predicate)));
    return {
      iri,
      name: nameOf(iri),
      classes,
      facts: sorted,
      incoming: incoming.map((row) => ({ predicate: row["p"]!.value, subject: row["s"]!.value })),
      neighbors,
      more: outgoing.length,
    };
  }

  protected override render(): unknown {
    return this.entity ? this.page(this.entity) : html`<div class="gap">${this.iri ? nothing : this.searching()}${this.state()}</div>`;
  }

  private searching(): TemplateResult {
    const numbers = numbersOf(this.place);
    const count = this.found?.length ?? 0;
    const heading = !this.found ? "What the graph knows" : !count ? (this.spot ? "Nothing is there" : "Nothing is called so") : this.spot ? `${count} ${count === 1 ? "thing" : "things"} there` : `${count}${count === 50 ? " or more" : ""} found`;
    return html`<form class="ask" role="search" @submit=${(event: Event) => this.submitted(event)}>
        <label class="hide" for="search">A name</label>
        <input id="search" type="search" .value=${this.words} placeholder="Find a place or name" autocomplete="off" @input=${(event: Event) => this.typed(event)} />
        <button class="btn main">Find</button></form>
      <div class=${this.hasPlaces ? "answer" : "answer alone"}>
        <section class="head stack"><h1 class="mid" aria-live="polite">${heading}</h1>
          ${this.found && !count && !this.spot ? html`<p class="soft">Check the spelling, or try one word of the name.</p>` : nothing}
          ${this.found ? nothing : html`<p class="soft">Write the start of a name, or a word of it${this.hasPlaces ? "; or click the map to see what is there" : ""}.</p>
            ${this.started.length ? html`<div class="row"><span class="small faint">Or look at</span>${this.started.map(({ iri, name }) => html`<a class="chip plain" href=${entityAddress(iri)}>${name}</a>`)}</div>` : nothing}`}</section>
        ${this.hasPlaces ? html`<ukg-map .data=${this.place} .reference=${null} .around=${null} .selected=${this.selected} label="Map. A click lists what is there."
          @pick=${(event: CustomEvent<string>) => ((this.selected = event.detail), this.requestUpdate())}
          @place=${(event: CustomEvent<{ at: { lat: number; lng: number }; reach: number }>) => void this.here(event.detail)}></ukg-map>` : nothing}
        <section class="rest">${this.found?.length
          ? html`<div class="card"><table class="list"><tbody>${this.found.map(
              (one) => html`<tr aria-current=${one.iri === this.selected ? "true" : nothing}>${numbers.size ? html`<td>${numbers.has(one.iri) ? html`<span class="pin">${numbers.get(one.iri)}</span>` : nothing}</td>` : nothing}
                <td><span class="k-${kindOf(one.classes)}"><span class="dot"></span> <a href=${entityAddress(one.iri)}>${visible(one.label)}</a></span></td>
                <td class="soft">${one.classes[0] ? nameOf(one.classes[0]) : ""}</td></tr>`,
            )}</tbody></table></div>`
          : nothing}</section>
      </div>`;
  }

  private page(entity: Entity): TemplateResult {
    if (!entity.more && !entity.incoming.length) {
      return html`<section class="stack"><h1>The graph does not know this address.</h1><p class="soft">${entity.iri}</p><p><a href="#/explore">Search a name</a></p></section>`;
    }
    const kind = kindOf(entity.classes);
    return html`<div class="gap">
      <div class="row spread"><div>
          <p class="small soft k-${kind}"><span class="dot"></span> ${entity.classes.map(nameOf).join(", ") || "kind not known"}</p>
          <h1>${entity.name}</h1></div>
        <div class="row push"><button class="btn low" @click=${() => void navigator.clipboard.writeText(entity.iri)}>Copy address</button>
          <button class="btn low" @click=${() => void this.turtle(entity)}>Turtle</button>
          <a class="btn" href=${`#/${address("ask", { q: this.place ? `What is near ${entity.name}?` : `What is ${entity.name}?` })}`}>Ask about it</a></div></div>
      ${this.state()}
      <div class="cols">
        <section class="gap">
          <div class="card"><header><h2>Facts</h2><span class="small faint">click a source to see the words</span></header>
            <table class="facts"><tbody>${entity.facts.flatMap((fact) => fact.values.map((one, index) => this.fact(fact, one, index)))}</tbody></table>
          </div>
          ${entity.incoming.length ? this.incoming(entity) : nothing}
          <ukg-neighborhood .iri=${entity.iri}></ukg-neighborhood>
        </section>
        <section class="gap">
          ${this.place
            ? html`<ukg-map .data=${this.place} .reference=${this.around} .around=${null} .selected=${entity.iri} label="Map of ${entity.name}"></ukg-map>`
            : html`<div class="card"><p class="empty first">The graph does not know where this is.</p></div>`}
          ${entity.neighbors.length ? this.ground(entity) : nothing}
        </section>
      </div>
    </div>`;
  }

  private fact(fact: Fact, { value, sources }: Fact["values"][number], index: number): TemplateResult[] {
    const key = keyOf(fact.predicate, value);
    const open = this.opened.has(key);
    const row = html`<tr><th scope="row">${index ? html`<span class="hide">${nameOf(fact.predicate)}</span>` : nameOf(fact.predicate)}</th><td>${fact.predicate === TYPE ? html`<span class="k-${kindOf([value.value])}"><span class="dot"></span> ${inWords(value)}</span>` : html`${term(value)}${unitOf(fact.predicate)}`}</td>
      <td class="right">${sources.length ? html`<button class="src" aria-expanded=${open ? "true" : "false"} @click=${() => this.toggle(key, sources)}>${sources.length === 1 ? "1 source" : `${sources.length} sources`}</button>` : html`<span class="small faint">stated</span>`}</td></tr>`;
    if (!open) return [row];
    return [
      row,
      html`<tr class="proof"><td colspan="3"><div class="note proof stack">${sources.map(sourceShown)}</div></td></tr>`,
    ];
  }

  private toggle(key: string, sources: Source[]): void {
    if (!this.opened.delete(key)) this.opened.add(key);
    void readSentences(sources).then(() => this.requestUpdate(), () => undefined);
    this.requestUpdate();
  }

  private ground(entity: Entity): TemplateResult {
    const shown = this.all ? entity.neighbors : entity.neighbors.slice(0, NEIGHBORS);
    void learn(shown.map((one) => one.iri)).then((): void => {
      if (!shown.every((one) => this.opened.has(`n ${one.iri}`))) {
        for (const one of shown) this.opened.add(`n ${one.iri}`);
        this.requestUpdate();
      }
    }, () => undefined);
    return html`<div class="card"><header><h2>On the ground</h2><span class="small faint">computed from outlines</span></header>
      <div class="in row">${shown.map((one) => html`<a class="chip" href=${entityAddress(one.iri)}><i>${one.relation}</i>${nameOf(one.iri)}</a>`)}
        ${shown.length < entity.neighbors.length ? html`<button class="btn low" @click=${() => this.everything()}>All ${entity.neighbors.length}</button>` : nothing}</div></div>`;
  }

  private everything(): void {
    this.all = true;
    this.requestUpdate();
  }

  private incoming(entity: Entity): TemplateResult {
    const groups = new Map<string, string[]>();
    for (const { predicate, subject } of entity.incoming) groups.set(predicate, [...(groups.get(predicate) ?? []), subject]);
    return html`<div class="card"><header><h2>Said of it elsewhere</h2></header><table class="facts"><tbody>${[...groups].map(
      ([predicate, subjects]) => html`<tr><th scope="row">${nameOf(predicate)}</th><td class="list-in">${subjects.slice(0, 30).map((iri, index) => html`${index ? ", " : ""}<a href=${entityAddress(iri)}>${nameOf(iri)}</a>`)}${subjects.length > 30 ? ` and ${subjects.length - 30} more` : ""}</td></tr>`,
    )}</tbody></table></div>`;
  }

  private async turtle(entity: Entity): Promise<void> {
    const found = await this.run("Writing Turtle…", () => text("sparql", { form: { query: `DESCRIBE <${entity.iri}>` }, accept: "text/turtle" }));
    if (found !== undefined) download(`${entity.name}.ttl`, "text/turtle", found);
  }
}

function keyOf(predicate: string, object: Term): string {
  return `${predicate} ${object.type} ${object.value}`;
}

/** Kind first, names next, then what links to other things. */
function rank(fact: Fact): number {
  if (fact.predicate === TYPE) return 0;
  if (fact.predicate === LABEL) return 1;
  return fact.values[0]!.value.type === "uri" ? 2 : 3;
}

customElements.define("ukg-explore", ExploreScreen);
