// Status: what the graph holds, what is under way, and which rules and model are in force.

import { html, nothing, type TemplateResult } from "lit";
import { address, ask, rows, text } from "./api";
import { withoutStatements, type Job } from "./jobs";
import { slowList, verdictTable, type SlowQueries, type Verdicts } from "./lookback";
import { growthOf, Measures, spoken, timesOf, type Growth } from "./measures";
import { counted, learn, nameOf, ruleName, vocabulary } from "./names";
import { Screen } from "./screen";

class StatusScreen extends Screen {
  private health: Record<string, any> = {};
  private triples = 0;
  private classes: { iri: string; count: number }[] = [];
  private queue: Record<string, number> = {};
  private jobs: Job[] = [];
  private documents = 0;
  private model: Record<string, any> = {};
  private rules: Record<string, any> = {};
  private growth: Growth[] = [];
  private measures = new Measures("");
  private verdicts: { shape: string; counts: Record<string, number> }[] = [];
  private past: Verdicts | null = null;
  private step: Verdicts["step"] = "day";
  private slowest: SlowQueries | null = null;
  private timer?: ReturnType<typeof setInterval>;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
    this.timer = setInterval(() => void this.follow(), 3000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  private async load(): Promise<void> {
    await this.run("Counting…", async () => {
      const states = ["open", "accepted", "rejected"];
      const [health, model, rules, documents, count, classes, ...queue] = await Promise.all([
        ask("healthz"),
        ask("models"),
        ask("rules"),
        ask("documents?limit=1"),
        rows("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"),
        rows("SELECT ?class (COUNT(?thing) AS ?n) WHERE { ?thing a ?class . ?class a <http://www.w3.org/2002/07/owl#Class> FILTER(!STRSTARTS(STR(?class), 'http://www.opengis.net/')) } GROUP BY ?class ORDER BY DESC(?n) LIMIT 12"),
        ...states.map((status) => ask(`review?status=${status}&limit=1`)),
        vocabulary(),
      ]);
      Object.assign(this, { health, model, rules, documents: documents.total });
      this.triples = Number(count[0]?.["n"]?.value ?? 0);
      this.classes = classes.map((row: any) => ({ iri: row["class"].value, count: Number(row["n"].value) }));
      states.forEach((status, index) => (this.queue[status] = (queue[index] as { total: number }).total));
      await learn(this.classes.map((one) => one.iri));
    });
    await this.follow();
    await this.look().catch(() => undefined);
  }

  /** What the server measured since its start, the last changes, and what each rule refused. */
  private async look(): Promise<void> {
    const revision = Number(this.health["revision"] ?? 0);
    const [past, slowest, measures, changes, ...facets] = await Promise.all([
      this.verdictsOf(this.step).catch(() => null),
      ask("queries/slow").catch(() => null),
      text("metrics", { accept: "text/plain" }).catch(() => ""),
      text(`changes?since=${Math.max(0, revision - 200)}`, { accept: "application/x-ndjson" }).catch(() => ""),
      ...["open", "accepted", "rejected"].map((status) => ask(`review/facets?status=${status}`).catch(() => ({ facets: {} }))),
    ]);
    this.past = past;
    this.slowest = slowest;
    this.measures = new Measures(measures);
    this.growth = growthOf(changes, this.triples);
    const shapes = new Map<string, Record<string, number>>();
    facets.forEach((one, at) => {
      for (const { value, items } of one.facets["shape"] ?? []) shapes.set(value, { ...shapes.get(value), [["open", "accepted", "rejected"][at]!]: items });
    });
    this.verdicts = [...shapes].map(([shape, counts]) => ({ shape, counts })).sort((one, other) => total(other.counts) - total(one.counts)).slice(0, 12);
    this.requestUpdate();
  }

  private async verdictsOf(step: Verdicts["step"]): Promise<Verdicts> {
    const found = (await ask(address("verdicts", { step, periods: step === "hour" ? 24 : 30 }))) as Verdicts;
    await learn(found.shapes.flatMap((one) => one.shape ?? []));
    return found;
  }

  private async by(step: Verdicts["step"]): Promise<void> {
    const found = await this.run("Counting…", () => this.verdictsOf(step));
    if (found) [this.past, this.step] = [found, step];
    this.requestUpdate();
  }

  private async follow(): Promise<void> {
    const found = await ask("jobs?limit=20").catch(() => ({ jobs: [] }));
    this.jobs = found.jobs;
    this.requestUpdate();
  }

  private async turn(job: Job, what: string): Promise<void> {
    await this.run("", () => ask(`jobs/${encodeURIComponent(job.id)}/${what}`, { method: "POST" }));
    await this.follow();
  }

  protected override render(): unknown {
    const most = Math.max(1, ...this.classes.map((one) => one.count));
    const number = (count: number | undefined): string => (count ?? 0).toLocaleString("en");
    if (this.health["version"] === undefined) return html`<div class="gap"><h1 class="mid">Status</h1>${this.state()}</div>`;
    return html`<div class="gap">
      <h1 class="mid">${number(this.triples)} triples at revision ${number(this.health["revision"])}</h1>
      ${this.state()}
      <div class="cols">
        <section class="gap">
          <div class="card"><header><h2>What there is most of</h2></header>${this.classes.length || this.working ? nothing : html`<p class="empty">Nothing has a kind of the ontology yet. <a href="#/text">Add a text</a></p>`}<table class="list"><tbody>${this.classes.map(
            (one) => html`<tr><td>${nameOf(one.iri)}</td><td class="bar-cell"><meter min="0" max=${most} value=${one.count} aria-label=${nameOf(one.iri)}></meter></td><td class="right">${number(one.count)}</td></tr>`,
          )}</tbody></table></div>
          <div class="card"><header><h2>Growth</h2><span class="small faint">${this.growth.length === 1 ? "the last change" : `the last ${this.growth.length} changes`}</span></header>${this.grown()}</div>
          ${this.past ? html`<div class="card"><header><h2>Verdicts by rule</h2>${this.steps()}</header>${verdictTable(this.past)}</div>` : nothing}
          <div class="card"><header><h2>Decisions by rule</h2></header>${this.byRule()}</div>
          <div class="card"><header><h2>Jobs</h2></header>${this.jobs.length ? html`<ul class="items">${this.jobs.map((job) => this.job(job))}</ul>` : html`<p class="empty">No job yet. Drop several files on Text.</p>`}</div>
        </section>
        <section class="gap">
          <div class="card"><header><h2>Review</h2></header><table class="facts"><tbody>
            <tr><th scope="row">waiting</th><td class="num"><a href="#/review">${number(this.queue["open"])}</a></td></tr>
            <tr><th scope="row">accepted</th><td class="num"><a href="#/review?status=accepted">${number(this.queue["accepted"])}</a></td></tr>
            <tr><th scope="row">rejected</th><td class="num"><a href="#/review?status=rejected">${number(this.queue["rejected"])}</a></td></tr>
            <tr><th scope="row">texts</th><td class="num"><a href="#/text">${number(this.documents)}</a></td></tr></tbody></table></div>
          <div class="card"><header><h2>In force</h2></header><table class="facts"><tbody>
            <tr><th scope="row">ontology</th><td>${this.files("ontology")} <span class="small faint">${this.rules["rules"]?.ontology}</span></td></tr>
            <tr><th scope="row">shapes</th><td>${this.files("shapes")} <span class="small faint">${this.rules["rules"]?.shapes}</span></td></tr>
            <tr><th scope="row">inference</th><td>${this.rules["inference"]}</td></tr>
            <tr><th scope="row">model</th><td>${this.model["model"]}</td></tr>
            <tr><th scope="row">calls</th><td class="num">${number(this.model["usage"]?.calls)} <span class="small faint">since the start, ${(this.model["usage"]?.model_seconds ?? 0).toFixed(0)} s</span></td></tr>
            <tr><th scope="row">store</th><td>${this.health["store"]?.kind}</td></tr></tbody></table>
            ${this.rules["problem"] ? html`<div class="note warn"><p>${this.rules["problem"]}</p></div>` : nothing}</div>
          <div class="card"><header><h2>Measured since the start</h2></header><table class="facts"><tbody>${this.measured()}</tbody></table></div>
          ${this.slowest ? html`<div class="card"><header><h2>Slow queries</h2><span class="small faint">of the last day</span></header>${slowList(this.slowest)}</div>` : nothing}
          <div class="card"><header><h2>Slowest requests</h2><span class="small faint">the mean of each route</span></header>${this.slow()}</div>
          <p class="small soft"><a href="docs">The API</a> · <a href="ui/licenses.txt">Licenses of the page</a></p>
        </section>
      </div>
    </div>`;
  }

  private steps(): TemplateResult {
    const words = { day: "30 days", hour: "24 hours" };
    return html`<span class="seg push" role="group" aria-label="Time">${(["day", "hour"] as const).map(
      (step) => html`<button aria-pressed=${this.step === step ? "true" : "false"} @click=${() => void this.by(step)}>${words[step]}</button>`,
    )}</span>`;
  }

  private grown(): TemplateResult {
    if (!this.growth.length) return html`<p class="empty">Nothing was changed yet.</p>`;
    const shown = this.growth.slice(-8).reverse();
    const most = Math.max(1, ...shown.map((one) => Math.abs(one.change)));
    return html`<table class="list"><thead><tr><th>When</th><th class="wide"><span class="hide">Size of the change</span></th><th class="right">Triples</th><th class="right">Change</th></tr></thead><tbody>${shown.map(
      (one) => html`<tr><td class="num small when">${one.time.slice(0, 16).replace("T", " ")}</td><td class="bar-cell wide"><meter min="0" max=${most} value=${Math.abs(one.change)} aria-label=${`Change at ${one.time}`}></meter></td>
        <td class="right">${one.triples.toLocaleString("en")}</td><td class="right">${one.change >= 0 ? "+" : "−"}${Math.abs(one.change).toLocaleString("en")}</td></tr>`,
    )}</tbody></table>`;
  }

  private byRule(): TemplateResult {
    if (!this.verdicts.length) return html`<p class="empty">No statement that a rule refused or warned of is in the queue.</p>`;
    const cell = (status: string, one: { shape: string; counts: Record<string, number> }): TemplateResult => html`<td class="right">${one.counts[status] ? html`<a href=${`#/${address("review", { status: status === "open" ? null : status, shape: one.shape })}`}>${one.counts[status].toLocaleString("en")}</a>` : "0"}</td>`;
    return html`<div class="wide-table" tabindex="0" role="region" aria-label="Rules and what became of what they refused"><table class="list"><thead><tr><th>Rule</th><th class="right">Wait</th><th class="right">Accepted</th><th class="right">Rejected</th></tr></thead>
      <tbody>${this.verdicts.map((one) => html`<tr><td>${ruleName(one.shape)}</td>${["open", "accepted", "rejected"].map((status) => cell(status, one))}</tr>`)}</tbody></table></div>`;
  }

  private measured(): TemplateResult[] {
    const { measures } = this;
    const usage = this.model["usage"] ?? {};
    const row = (name: string, words: string): TemplateResult => html`<tr><th scope="row">${name}</th><td class="num">${words}</td></tr>`;
    const verdicts = ["accepted", "refused", "warned"].map((one) => `${measures.sum("urbankg_gate_statements_total", one).toLocaleString("en")} ${one}`).join(", ");
    const tokens = (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0);
    return [
      row("statements", verdicts),
      row("model", usage.calls ? `${(usage.model_seconds / usage.calls).toFixed(1)} s a call, ${(usage.completion_tokens / Math.max(0.001, usage.model_seconds)).toFixed(0)} tokens a second` : "not called yet"),
      row("tokens", `${tokens.toLocaleString("en")}${usage.cost === null || usage.cost === undefined ? ", cost not known" : `, cost ${usage.cost}`}`),
      row("on disk", `graph ${megabytes(measures.sum("urbankg_store_bytes"))}, log of changes ${megabytes(measures.sum("urbankg_change_log_bytes"))}`),
      row("indexes", `${counted(measures.sum("urbankg_names"), "name")}, ${counted(measures.sum("urbankg_geometries"), "geometry", "geometries")}`),
      row("queries", measures.sum("urbankg_queries_total").toLocaleString("en")),
      row("version", `${this.health["version"] ?? ""}`),
    ];
  }

  private slow(): TemplateResult {
    const found = timesOf(this.measures).slice(0, 6);
    if (!found.length) return html`<p class="empty">Nothing was asked yet.</p>`;
    return html`<table class="list"><tbody>${found.map((one) => html`<tr><td>${one.method} ${one.route}</td><td class="right">${counted(one.count, "time")}</td><td class="right">${spoken(one.mean)}</td></tr>`)}</tbody></table>`;
  }

  private files(kind: string): string {
    return ((this.rules["files"]?.[kind] ?? []) as { name: string }[]).map((one) => one.name).join(", ") || "none";
  }

  private job(job: Job): TemplateResult {
    const all = Object.values(job.documents).reduce((sum, one) => sum + one, 0);
    const left = (job.documents["pending"] ?? 0) + (job.documents["extracting"] ?? 0) + (job.documents["extracted"] ?? 0);
    const actions = { running: ["pause", "cancel"], paused: ["resume", "cancel"], done: job.documents["failed"] ? ["retry"] : [], cancelled: [] }[job.state] ?? [];
    return html`<li><div class="two"><span><a href=${`#/text?job=${encodeURIComponent(job.id)}`}>${job.name ?? job.id}</a> <span class="soft">${job.state}${withoutStatements(job)}</span></span><span class="num small faint">${all - left} of ${all}</span></div>
      <progress max=${all || 1} value=${all - left} aria-label="Progress of ${job.name ?? job.id}"></progress>
      ${job.problem ? html`<p class="why">${job.problem}</p>` : nothing}
      ${this.may("extract") && actions.length ? html`<div class="row">${actions.map((one) => html`<button class="btn low" @click=${() => void this.turn(job, one)}>${one}</button>`)}</div>` : nothing}</li>`;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}

customElements.define("ukg-status", StatusScreen);
