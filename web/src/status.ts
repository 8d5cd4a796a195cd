// Status: what the graph holds, what is under way, and which rules and model are in force.

import { html, nothing, type TemplateResult } from "lit";
import { ask, rows } from "./api";
import { learn, nameOf, vocabulary } from "./names";
import { Screen } from "./screen";

interface Job {
  id: string;
  name: string | null;
  state: string;
  problem: string | null;
  documents: Record<string, number>;
}

class StatusScreen extends Screen {
  private health: Record<string, any> = {};
  private triples = 0;
  private classes: { iri: string; count: number }[] = [];
  private queue: Record<string, number> = {};
  private jobs: Job[] = [];
  private documents = 0;
  private model: Record<string, any> = {};
  private rules: Record<string, any> = {};
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
    return html`<div class="gap">
      <h1 class="mid">${number(this.triples)} triples at revision ${number(this.health["revision"])}</h1>
      ${this.state()}
      <div class="cols">
        <section class="gap">
          <div class="card"><header><h2>What there is most of</h2></header><table class="list"><tbody>${this.classes.map(
            (one) => html`<tr><td>${nameOf(one.iri)}</td><td class="bar-cell"><meter min="0" max=${most} value=${one.count} aria-label=${nameOf(one.iri)}></meter></td><td class="right">${number(one.count)}</td></tr>`,
          )}</tbody></table></div>
          <div class="card"><header><h2>Jobs</h2></header>${this.jobs.length ? html`<ul class="items">${this.jobs.map((job) => this.job(job))}</ul>` : html`<p class="empty">No job yet. Post many texts at once to /jobs.</p>`}</div>
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
          <p class="small soft"><a href="docs">The API</a> · <a href="ui/licenses.txt">Licenses of the page</a></p>
        </section>
      </div>
    </div>`;
  }

  private files(kind: string): string {
    return ((this.rules["files"]?.[kind] ?? []) as { name: string }[]).map((one) => one.name).join(", ") || "none";
  }

  private job(job: Job): TemplateResult {
    const all = Object.values(job.documents).reduce((sum, one) => sum + one, 0);
    const left = (job.documents["pending"] ?? 0) + (job.documents["extracting"] ?? 0) + (job.documents["extracted"] ?? 0);
    const actions = { running: ["pause", "cancel"], paused: ["resume", "cancel"], done: job.documents["failed"] ? ["retry"] : [], cancelled: [] }[job.state] ?? [];
    return html`<li><div class="two"><span><b>${job.name ?? job.id}</b> <span class="soft">${job.state}</span></span><span class="num small faint">${all - left} of ${all}</span></div>
      <progress max=${all || 1} value=${all - left} aria-label="Progress of ${job.name ?? job.id}"></progress>
      ${job.problem ? html`<p class="why">${job.problem}</p>` : nothing}
      ${this.may("extract") && actions.length ? html`<div class="row">${actions.map((one) => html`<button class="btn low" @click=${() => void this.turn(job, one)}>${one}</button>`)}</div>` : nothing}</li>`;
  }
}

customElements.define("ukg-status", StatusScreen);
