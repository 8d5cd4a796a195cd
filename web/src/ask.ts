// Ask: a question in, a sentence, a list and a map out, and how the question was read.

import { html, nothing, type TemplateResult } from "lit";
import type { FeatureCollection, Geometry } from "geojson";
import { address, ask, inSteps, inWords as problemInWords, Problem, rows, select, type Results, type Row } from "./api";
import { evidenceOf, readSentences, sourceShown, type Source, type Triple } from "./evidence";
import { examples, questions } from "./examples";
import { isIri, kindOf, learn, nameOf, note, TYPE, visible } from "./names";
import { keeping, length as distance, numbered, placesOf, share, table, type Placed } from "./results";
import { completions, entityAddress, plain, Screen, statement, triple, type Completion } from "./screen";
import { featuresOf, geometryOf } from "./wkt";

interface Found {
  name: string;
  iri: string;
  label: string;
  classes: string[];
}

interface Gap {
  /** Where it waits to be filled; set once that is known. */
  id?: string;
  kind: string;
  message: string;
  subject: string;
  property: string;
  object: string;
}

/** A node of the plan: a set of things, or what is asked of one. */
interface PlanNode {
  op: string;
  of?: PlanNode | { iri: string; label: string };
  entity?: { iri: string; label: string };
  meters?: number;
  assumed?: boolean;
  [member: string]: unknown;
}

/** A step of the plan as a sentence; the last has the tree of the whole. */
interface Step {
  sentence: string;
  tree?: PlanNode;
}

interface Reply {
  answer: string | null;
  sparql?: string | null;
  plan?: Step[] | null;
  entities?: Found[];
  results?: Results | null;
  map?: FeatureCollection | null;
  gaps?: Gap[];
  trace?: Tried[];
}

/** A step towards an answer: why, what was done, what came of it. */
interface Tried {
  thought: string;
  action: string;
  observation: string;
}

const DOING: Record<string, string> = { link: "Names are looked up", enumerate: "Plans are made", query: "The graph is asked", explain: "What is missing is looked for" };

class AskScreen extends Screen {
  private question = "";
  private context = "";
  private withContext = false;
  private reply: Reply | null = null;
  private asked = "";
  private seconds = 0;
  private query = "";
  private results: Results | null = null;
  private map: FeatureCollection | null = null;
  private reference: FeatureCollection | null = null;
  private around: Geometry | null = null;
  private selected: string | null = null;
  private all = false;
  private copied = false;
  private changed = false;
  private examples: string[] = [];
  private about: "places" | "things" | "nothing" = "places";
  private evidence: { triple: Triple; sources: Source[] }[] = [];
  private allEvidence = false;
  private placed = new Map<string, Placed>();
  private earlier: string[] = [];
  private open: string | null = null;
  private meanings: Completion[] = [];
  private tried: Tried[] = [];
  private abort?: AbortController;

  override connectedCallback(): void {
    super.connectedCallback();
    Promise.all([questions(), examples()]).then(([found, regions]) => {
      this.examples = found;
      this.about = regions.length ? "places" : found.length ? "things" : "nothing";
      this.requestUpdate();
    }, () => undefined);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    const question = this.parameters.get("q") ?? "";
    if (this.reply?.answer && this.question !== question) this.earlier = [...this.earlier, this.question].slice(-5);
    this.question = question;
    this.context = this.parameters.get("context") ?? "";
    this.withContext ||= this.context !== "";
    if (question && `${question}\n${this.context}\n${this.swaps}` !== this.asked) void this.answer();
    if (!question) {
      this.reply = null;
      this.asked = "";
    }
  }

  protected override firstUpdated(): void {
    if (matchMedia("(min-width: 60rem)").matches) this.querySelector<HTMLInputElement>("#q")?.focus();
  }

  private send(event: Event): void {
    event.preventDefault();
    const question = this.question.trim();
    if (!question) return;
    this.asked = "";
    const wanted = `#/${address("ask", { q: question, context: this.context.trim() })}`;
    if (location.hash === wanted) void this.answer();
    else location.hash = wanted;
  }

  private async answer(): Promise<void> {
    this.abort?.abort();
    const abort = (this.abort = new AbortController());
    const { question, context } = this;
    this.asked = `${question}\n${context}\n${this.swaps}`;
    this.reply = null;
    this.open = null;
    const begun = performance.now();
    const follows = /^\s*(and|but|what about|how about)\b/i.test(question) && this.earlier.length > 0;
    this.tried = [];
    const reply = (await this.run("Looking for names…", async () => {
      const json = { question, ...(context ? { context } : {}), ...(follows ? { history: this.earlier } : {}) };
      const found = (await inSteps("ask", json, (step: Tried) => this.hear(step, abort), abort.signal)) as Reply;
      return this.swaps.length && found.plan?.length ? this.meant(found, abort.signal) : found;
    })) as Reply | undefined;
    if (!reply || abort.signal.aborted) return;
    this.seconds = (performance.now() - begun) / 1000;
    this.reply = reply;
    this.query = reply.sparql ?? "";
    this.changed = false;
    for (const one of reply.entities ?? []) note(one.iri, one.label);
    this.show(reply.results ?? null, reply.map ?? null);
    document.title = `${question} · UrbanKG`;
    void this.findGaps(reply.gaps ?? []).catch(() => undefined);
    await this.draw(reply).catch(() => undefined);
    this.requestUpdate();
  }

  /** A step of the answer that is being made. */
  private hear(step: Tried, abort: AbortController): void {
    if (abort.signal.aborted) return;
    this.tried = [...this.tried, step];
    this.reached(`${DOING[step.action] ?? step.thought.replace(/\.$/, "")}…`);
  }

  /** Where the things that are missing wait to be filled. */
  private async findGaps(gaps: Gap[]): Promise<void> {
    for (const gap of gaps) {
      const words = [gap.subject, gap.property, gap.object].find((one) => one !== "?");
      const found = words ? ((await ask(address("gaps", { text: words, limit: 200 }))).gaps as Gap[]) : [];
      gap.id = found.find((one) => one.subject === gap.subject && one.property === gap.property && one.object === gap.object)?.id;
    }
    if (gaps.length) this.requestUpdate();
  }

  /** Which names mean something else than was assumed: pairs of addresses. */
  private get swaps(): string[] {
    return this.parameters.getAll("as");
  }

  /** The same plan about other things of the same names. */
  private async meant(reply: Reply, signal: AbortSignal): Promise<Reply> {
    let tree = JSON.stringify(reply.plan!.at(-1)!.tree);
    const entities = [...(reply.entities ?? [])];
    for (const swap of this.swaps) {
      const [old = "", other = ""] = swap.split(" ");
      tree = tree.replaceAll(JSON.stringify(old), JSON.stringify(other));
      const at = entities.findIndex((one) => one.iri === old);
      if (at >= 0) entities[at] = { ...entities[at]!, iri: other, label: "" };
    }
    const run = (await ask("ask/run", { json: { plan: JSON.parse(tree) }, signal })) as Reply;
    await learn(entities.map((one) => one.iri));
    return { ...run, entities: entities.map((one) => (one.label ? one : { ...one, label: nameOf(one.iri) })) };
  }

  private async choices(of: Found): Promise<void> {
    this.open = this.open === of.iri ? null : of.iri;
    this.meanings = [];
    this.requestUpdate();
    if (!this.open) return;
    const found = await completions(of.name, "entity", 8);
    await learn(found.flatMap((one) => one.classes)).catch(() => undefined);
    this.meanings = found.filter((one) => one.iri !== of.iri);
    this.requestUpdate();
  }

  private another(of: Found, iri: string): string {
    const kept = this.swaps.filter((one) => !one.startsWith(`${of.iri} `) && !one.endsWith(` ${of.iri}`));
    const first = this.swaps.find((one) => one.endsWith(` ${of.iri}`))?.split(" ")[0] ?? of.iri;
    const wanted = new URLSearchParams([["q", this.question], ...(this.context ? [["context", this.context]] : []), ...kept.map((one) => ["as", one]), ["as", `${first} ${iri}`]]);
    return `#/ask?${wanted}`;
  }

  /** What texts say of the things that were found. */
  private async prove(results: Results | null): Promise<void> {
    this.evidence = [];
    const iris = [...new Set((results?.results?.bindings ?? []).flatMap((row) => Object.values(row).filter((one) => one.type === "uri").map((one) => one.value)))];
    const named = (this.reply?.entities ?? []).map((one) => one.iri);
    const few = [...iris.slice(0, 40), ...named].filter(isIri);
    if (!iris.length) return;
    const shown = new Set([...iris, ...named]);
    const asked = new Set(this.reply ? nodesOf(this.reply).map((one) => (one["property"] as { iri?: string } | undefined)?.iri) : []);
    const told = await rows(`SELECT ?s ?p ?o WHERE { VALUES ?s { ${few.map((iri) => `<${iri}>`).join(" ")} } ?s ?p ?o
      FILTER(!STRSTARTS(STR(?p), "http://www.opengis.net/")) } LIMIT 300`);
    const triples = told.map((row): Triple => ({ subject: row["s"]!.value, predicate: row["p"]!.value, object: row["o"]! }));
    // First what joins the things of the question and the answer, then what was asked of them, then their kinds.
    const rank = (one: Triple): number => (shown.has(one.object.value) ? 0 : asked.has(one.predicate) ? 1 : one.predicate === TYPE ? 2 : 3);
    const used = triples.filter((one) => rank(one) < 3).sort((one, other) => rank(one) - rank(other));
    const found = await evidenceOf(used);
    await learn([...found.keys()].flatMap((one) => [one.subject, one.object.type === "uri" ? one.object.value : ""]));
    if (results !== this.results) return;
    this.evidence = used.filter((one) => found.has(one)).map((triple) => ({ triple, sources: found.get(triple)! }));
    this.requestUpdate();
    await readSentences(this.evidence.slice(0, 3).flatMap(({ sources }) => sources.slice(0, 2)));
    this.requestUpdate();
  }

  private proof(): TemplateResult {
    const shown = this.allEvidence ? this.evidence : this.evidence.slice(0, 3);
    const count = this.evidence.length;
    return html`<section class="card"><header><h2>Evidence</h2><span class="small faint">the words of texts that this rests on</span></header><div class="in stack">
      ${shown.map(({ triple, sources }) => html`<div><p>${statement({ ...triple, evidence: null, confidence: null })}</p>${sources.slice(0, 2).map(sourceShown)}</div>`)}
      ${shown.length < count ? html`<button class="btn low" @click=${() => this.everything()}>All ${count}</button>` : nothing}</div></section>`;
  }

  private everything(): void {
    this.allEvidence = true;
    this.requestUpdate();
  }

  private show(results: Results | null, map: FeatureCollection | null): void {
    this.results = results;
    this.map = numbered(map);
    this.selected = null;
    this.all = false;
    this.copied = false;
    if (this.map) void import("./map");
    this.allEvidence = false;
    void this.prove(results).catch(() => undefined);
    const iris = (results?.results?.bindings ?? []).flatMap((row) => Object.values(row).filter((one) => one.type === "uri").map((one) => one.value));
    this.placed = new Map();
    void this.place(iris).catch(() => undefined);
    void learn(iris.slice(0, 600)).then(() => this.requestUpdate(), () => undefined);
    this.requestUpdate();
  }

  /** How far the things found are from the place of the question, and where they are. */
  private async place(iris: string[]): Promise<void> {
    const { results, reply } = this;
    if (!this.map || !reply) return;
    const near = nodesOf(reply).find((one) => one.op === "near" || one.op === "distance");
    const from = near ? [...within(near)].find((one) => one.entity)?.entity?.iri : undefined;
    const placed = await placesOf([...new Set(iris)], from).catch(() => placesOf([...new Set(iris)]));
    if (results !== this.results) return;
    this.placed = placed;
    if (near?.op === "near" && !nodesOf(reply).some((one) => one.op === "top")) this.nearestFirst();
    this.requestUpdate();
  }

  /** The list and the numbers of the map, by distance. */
  private nearestFirst(): void {
    const far = (iri: unknown): number => this.placed.get(String(iri))?.distance ?? Infinity;
    const nearest = (one: number, other: number): number => (one === other ? 0 : one - other);
    const ofRow = (row: Row): number => Math.min(...Object.values(row).map((one) => far(one.value)));
    this.results?.results?.bindings.sort((one, other) => nearest(ofRow(one), ofRow(other)));
    const features = [...this.map!.features].sort((one, other) => nearest(far(one.properties?.["iri"]), far(other.properties?.["iri"])));
    this.map = numbered({ ...this.map!, features });
  }

  /** The place that the question refers to, and the area around it that was searched. */
  private async draw(reply: Reply): Promise<void> {
    this.reference = this.around = null;
    const nodes = nodesOf(reply);
    const places = nodes.map((one) => one.entity?.iri).filter((iri): iri is string => !!iri && isIri(iri));
    const answered = new Set(this.map?.features.map((one) => one.properties?.["iri"]));
    const others = places.filter((iri) => !answered.has(iri));
    if (!others.length) return;
    const reference = (await ask(`features?${new URLSearchParams([...others.map((iri) => ["iri", iri]), ["tolerance", "0.0001"]])}`)) as FeatureCollection;
    if (reply !== this.reply || !reference.features.length) return;
    void import("./map");
    this.reference = reference;
    const near = nodes.find((one) => one.op === "near" && one.meters);
    const place = near ? [...within(near)].find((one) => one.entity)?.entity?.iri : undefined;
    if (!near || !place || !isIri(place)) return;
    const found = await rows(`PREFIX geo: <http://www.opengis.net/ont/geosparql#>
      PREFIX geof: <http://www.opengis.net/def/function/geosparql/> PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
      SELECT (geof:buffer(?wkt, ${near.meters}, uom:metre) AS ?around) WHERE {
        <${place}> (geo:hasDefaultGeometry|geo:hasGeometry)/geo:asWKT ?wkt } LIMIT 1`);
    const around = found[0]?.["around"];
    if (around) this.around = geometryOf(around.value);
  }

  private async again(): Promise<void> {
    const results = await this.run("Asking the graph…", () => select(this.query));
    if (!results) return;
    this.changed = this.query !== this.reply?.sparql;
    this.show(results, featuresOf(results));
  }

  protected override render(): unknown {
    return html`<div class="gap">
      <div class="stack">
        <form class="ask" role="search" @submit=${(event: Event) => this.send(event)}>
          <label class="hide" for="q">Your question</label>
          <input id="q" .value=${this.question} enterkeyhint="send" autocomplete="off" placeholder=${this.about === "places" ? "Ask about places" : "Ask a question"}
            @input=${(event: Event) => (this.question = (event.target as HTMLInputElement).value)} />
          <button class="btn main">Ask <kbd class="wide">↵</kbd></button>
        </form>
        ${this.withContext
          ? html`<label class="field">What else to consider<input id="context" .value=${this.context} autocomplete="off"
                @input=${(event: Event) => (this.context = (event.target as HTMLInputElement).value)}
                @keydown=${(event: KeyboardEvent) => event.key === "Enter" && this.send(event)} /></label>`
          : nothing}
        <div class="row">
          ${this.reply ? this.readAs(this.reply) : nothing}
          ${this.withContext ? nothing : html`<button class="btn low push" @click=${() => this.addContext()}>Add context</button>`}
        </div>
        ${this.reply ? this.otherMeanings(this.reply) : nothing}
      </div>
      ${this.state()} ${this.working && this.tried.length ? html`<section class="card"><header><h2>What is tried</h2></header><div class="in">${tried(this.tried)}</div></section>` : nothing}
      ${this.reply ? this.answered(this.reply) : this.working || this.problem || this.parameters.get("q") ? nothing : this.empty()}
    </div>`;
  }

  /** Kinds, names and distances that the question was read as. */
  private readAs(reply: Reply): TemplateResult | typeof nothing {
    const nodes = nodesOf(reply);
    const kinds = nodes.filter((one) => one.op === "kind").map((one) => one.of as { iri: string; label: string });
    const near = nodes.find((one) => one.op === "near" && one.meters);
    const entities = reply.entities ?? [];
    if (!kinds.length && !entities.length) return nothing;
    return html`<span class="small faint">Read as</span>
      ${kinds.map((one) => html`<span class="chip still k-${kindOf([one.iri])}"><i>kind</i>${visible(one.label)}</span>`)}
      ${near ? html`<span class="chip still k-value"><i>near</i>within ${distance(near.meters!)}</span>` : nothing}
      ${entities.map((one) => html`<button class="chip more k-${kindOf(one.classes)}" aria-expanded=${this.open === one.iri ? "true" : "false"} @click=${() => void this.choices(one)}><i>${one.classes[0] ? nameOf(one.classes[0]) : "name"}</i>${visible(one.label || one.name)}</button>`)}`;
  }

  private otherMeanings(reply: Reply): TemplateResult | typeof nothing {
    const of = reply.entities?.find((one) => one.iri === this.open);
    if (!of) return nothing;
    return html`<div class="note row"><span class="small soft">“${of.name}” may also mean</span>
      ${this.meanings.map((one) => html`<a class="chip k-${kindOf(one.classes)}" href=${this.another(of, one.iri)}><i>${one.classes[0] ? nameOf(one.classes[0]) : "name"}</i>${visible(one.label)}</a>`)}
      ${this.meanings.length ? nothing : html`<span class="small">nothing else that the graph knows.</span>`}
      <a class="small push" href=${entityAddress(of.iri)}>Open ${visible(of.label || of.name)}</a></div>`;
  }

  /** Other distances, where the question gave none. */
  private distances(reply: Reply): TemplateResult | typeof nothing {
    const near = nodesOf(reply).find((one) => one.op === "near" && one.assumed && one.meters);
    if (!near || !/\bnear\b/.test(this.question)) return nothing;
    const ask = (meters: number): string => this.question.replace(/\bnear\b/, `within ${distance(meters)} of`);
    return html`<nav class="seg" aria-label="Distance">${[near.meters! / 2, near.meters!, near.meters! * 2].map((meters) =>
      meters === near.meters ? html`<a aria-current="true">${distance(meters)}</a>` : html`<a href=${`#/${address("ask", { q: ask(meters) })}`}>${distance(meters)}</a>`,
    )}</nav>`;
  }

  private async addContext(): Promise<void> {
    this.withContext = true;
    this.requestUpdate();
    await this.updateComplete;
    this.querySelector<HTMLInputElement>("#context")!.focus();
  }

  private empty(): TemplateResult {
    return html`<section class="start stack">
      <h1>${this.about === "places" ? "Ask about the places of this graph" : "Ask about this graph"}</h1>
      <p class="soft">Write a question as you would say it. The answer comes with ${this.about === "places" ? "its map, " : ""}the query that found it, and what was assumed.</p>
      ${this.about === "nothing" ? html`<p>The graph holds nothing yet that has a name and a kind. <a href="#/text">Add a text</a></p>` : nothing}
      ${this.examples.length
        ? html`<div class="row"><span class="small faint">Try</span>${this.examples.map(
            (one) => html`<a class="chip plain" href=${`#/${address("ask", { q: one })}`}>${one}</a>`,
          )}</div>`
        : nothing}
    </section>`;
  }

  private answered(reply: Reply): TemplateResult {
    const { heading, rest } = headline(reply, this.results);
    const count = this.results?.results?.bindings.length ?? 0;
    const gaps = reply.gaps ?? [];
    const drawn = this.map !== null || this.reference !== null;
    return html`<div class=${drawn ? "answer" : "answer alone"}>
        <section class="head stack" aria-live="polite">
          <h1>${reply.answer === null ? "I cannot answer this from the graph." : together(heading)}</h1>
          ${rest && !this.changed ? html`<div class="row small soft"><span>${rest}</span>${this.distances(reply)}</div>` : nothing}
          ${this.changed ? html`<p class="small soft">The list shows your changed query, not the question.</p>` : nothing}
          ${gaps.length ? this.gaps(gaps, reply.answer === null) : nothing}
        </section>
        ${drawn
          ? html`<ukg-map .data=${this.map} .reference=${this.reference} .around=${this.around} .selected=${this.selected}
              label=${this.map ? "Map of the answer. The list has the same numbers." : "Map of the place that the question is about."}
              @pick=${(event: CustomEvent<string>) => this.pick(event.detail)}></ukg-map>`
          : nothing}
        ${this.results?.head.vars && count
          ? html`<section class="rest"><div class="card">
              ${table(this.results, { map: this.map, selected: this.selected, all: this.all, placed: this.placed, pick: (iri) => this.pick(iri), more: () => this.more() })}
              <div class="row ruled">
                ${share(() => this.didCopy(), this.copied)}
                ${keeping(this.query, this.map, "answer", (error) => this.failed(error))}
                <span class="push small faint num">${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"} · ${this.seconds.toFixed(1)} s</span>
              </div>
            </div></section>`
          : nothing}
      </div>
      <div class=${this.evidence.length ? "cols" : ""}>${this.steps(reply)}${this.evidence.length ? this.proof() : nothing}</div>
      ${this.query
        ? html`<details class="card"><summary>Query <span class="small faint">SPARQL, ${this.query.split("\n").length} lines</span></summary>
            <div class="in stack">
              <label class="hide" for="sparql">The query, to change and run again</label>
              <textarea id="sparql" class="code" spellcheck="false" rows=${Math.min(24, this.query.split("\n").length + 1)} .value=${this.query}
                @input=${(event: Event) => (this.query = (event.target as HTMLTextAreaElement).value)}></textarea>
              <div class="row"><button class="btn" @click=${() => void this.again()}>Run again</button>
              <button class="btn low" @click=${() => (location.hash = `#/${address("query", { query: this.query })}`)}>Open in Query</button></div>
            </div></details>`
        : nothing}
      ${this.next(reply)}`;
  }

  private steps(reply: Reply): TemplateResult | typeof nothing {
    const words = (reply.plan ?? []).map((one) => one.sentence);
    if (!words.length) return nothing;
    return html`<section class="card"><header><h2>How I read it</h2></header>
      <div class="in"><ol class="steps">${words.map((one) => html`<li>${one}</li>`)}</ol>
        ${reply.trace?.length ? html`<details><summary>What was tried <span class="small faint">${reply.trace.length} steps</span></summary>
          <div class="in">${tried(reply.trace)}</div></details>` : nothing}</div></section>`;
  }

  private gaps(gaps: Gap[], refused: boolean): TemplateResult {
    return html`<div class="note warn stack">
      ${gaps.map((gap) => {
        const isKnown = [gap.subject, gap.property, gap.object].filter((one) => one && one !== "?").length > 1;
        return html`<div><p class="v">${refused ? "Missing" : "Not in the graph"}</p><p>${plain(gap.message)}</p>
          ${isKnown ? html`<p>${triple(gap)}</p>` : nothing}
          <div class="row small">${refused && gap.kind !== "data" ? this.without(gap.property) : nothing}
            ${gap.id ? html`<a href=${`#/gaps/${gap.id}`}>${this.may("review") ? "Fill it in" : "It waits in Review"}</a>` : nothing}
            <a href="#/text">Add a text that says it</a></div></div>`;
      })}
    </div>`;
  }

  /** The question without a word that it was refused for. */
  private without(word: string): TemplateResult | typeof nothing {
    const less = this.question.replace(new RegExp(`\\b${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\b\\s*`, "i"), "");
    if (!word || word === "?" || less === this.question) return nothing;
    return html`<a href=${`#/${address("ask", { q: less })}`}>Ask without “${word}”</a>`;
  }

  private next(reply: Reply): TemplateResult | typeof nothing {
    if (reply.answer === null) return nothing;
    const others = [...this.followUps(reply), ...this.examples.filter((one) => one !== this.question)].slice(0, 3);
    if (!others.length) return nothing;
    return html`<div class="row"><span class="small faint">Ask next</span>${others.map(
      (one) => html`<a class="chip plain" href=${`#/${address("ask", { q: one })}`}>${one}</a>`,
    )}</div>`;
  }

  /** The question about other places of the answer's rows, and their number. */
  private followUps(reply: Reply): string[] {
    const named = reply.entities?.length === 1 ? reply.entities[0]! : null;
    const areas = [...new Map([...this.placed.values()].flatMap((one) => (one.within ? [[one.within.iri, one.within.label] as const] : [])))];
    const other = areas.find(([iri]) => iri !== named?.iri)?.[1];
    const counted = /^which\b/i.test(this.question) ? this.question.replace(/^which\b/i, "How many") : "";
    const moved = named && other && this.question.includes(named.name) ? this.question.replace(named.name, other) : "";
    return [counted, moved].filter(Boolean);
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
    this.problem = error instanceof Problem ? problemInWords(error) : String(error);
    this.requestUpdate();
  }
}

/** A sentence whose numbers stay in a line with their units. */
function together(sentence: string): string {
  return sentence.replace(/(\d) (?=(?:k?m|mi|ft|km²|ha)\b)/g, "$1\u00a0");
}

/** The steps towards an answer, with what each came to. */
function tried(steps: Tried[]): TemplateResult {
  return html`<ol class="steps">${steps.map((one) => html`<li><p class="small soft">${one.thought}</p><p class="came">${one.observation.slice(0, 600)}</p></li>`)}</ol>`;
}

/** The sentence, without the names that the list shows, and what it says beside. */
function headline(reply: Reply, results: Results | null): { heading: string; rest: string } {
  const answer = reply.answer ?? "";
  const rows = results?.results?.bindings ?? [];
  const colon = answer.indexOf(": ");
  // "9 museums: A, B …" is said without the names; "Containing it: A, B." says nothing without them.
  if (rows.length > 1 && colon > 0 && /\d/.test(answer.slice(0, colon))) {
    const ends = rows.map((row) => row["label"]?.value).map((name) => (name ? answer.lastIndexOf(name) + name.length : -1));
    const more = / and [\d,]+ more/.exec(answer);
    const end = Math.max(...ends.filter((one) => one > colon), more ? more.index + more[0].length : -1);
    if (end > colon) return { heading: `${answer.slice(0, colon)}.`, rest: answer.slice(end).replace(/^\.\s*/, "") };
  }
  const sentence = /^(.{20,}?[.?!]) (?=[A-Z].{15,})/.exec(answer);
  return sentence ? { heading: sentence[1]!, rest: answer.slice(sentence[0].length) } : { heading: answer, rest: "" };
}

function nodesOf({ plan }: Reply): PlanNode[] {
  const tree = plan?.at(-1)?.tree;
  return tree ? [...within(tree)] : [];
}

/** A node of a plan and all below it. */
function* within(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one && typeof one === "object" && "op" in one) yield* within(one as PlanNode);
  }
}

customElements.define("ukg-ask", AskScreen);
