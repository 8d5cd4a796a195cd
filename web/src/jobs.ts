// Jobs: many texts at once, their progress as it happens, and what became of each text.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { ask, inWords, Problem, upload } from "./api";

export interface Job {
  id: string;
  name: string | null;
  state: string;
  problem: string | null;
  total: number;
  finished: number;
  documents: Record<string, number>;
}

interface JobDocument {
  position: number;
  name: string | null;
  source: string | null;
  state: string;
  document: string | null;
  error: string | null;
  accepted: number | null;
  refused: number | null;
  warned: number | null;
  incomplete?: { reason: string; at: number } | null;
}

const TYPES: [RegExp, string][] = [
  [/\.(jsonl|ndjson)$/i, "application/x-ndjson"],
  [/\.json$/i, "application/json"],
  [/\.csv$/i, "text/csv"],
];
const MOVING = new Set(["accepting", "running"]);
const ENDED = new Set(["done", "cancelled"]);
/** The states of texts that were read, with how each looks. */
const LOOKS: Record<string, string> = { committed: "ok", "waits for review": "warn", failed: "no", rejected: "no" };

/** Whether files are records rather than one text. */
export function areMany(files: File[]): boolean {
  return files.length > 1 || files.some((one) => TYPES.some(([ending]) => ending.test(one.name)));
}

/** Send files as a job; several plain texts are one job. Throws `Problem`. */
export async function start(files: File[]): Promise<Job> {
  const [first] = files;
  const type = TYPES.find(([ending]) => ending.test(first!.name))?.[1];
  const name = encodeURIComponent(files.length === 1 ? first!.name : `${files.length} files`);
  if (files.length === 1 && type) return upload(`jobs?name=${name}`, type, first!);
  if (files.some((one) => TYPES.some(([ending]) => ending.test(one.name)))) {
    throw new Problem(0, "Drop one file of records at a time, or several plain texts. Nothing was stored.");
  }
  const lines = await Promise.all(files.map(async (one) => JSON.stringify({ text: await one.text(), name: one.name, source: one.name })));
  return upload(`jobs?name=${name}`, "application/x-ndjson", new Blob([lines.join("\n")]));
}

/** How many texts of a job were read and have no statement in the graph, in words. */
export function withoutStatements({ documents }: Job): string {
  const count = (state: string, one: string, more = one): string => (documents[state] ? ` · ${documents[state]} ${documents[state] === 1 ? one : more}` : "");
  return count("nothing found", "gave nothing") + count("waits for review", "waits for review", "wait for review");
}

/** One job, followed to its end. */
class JobView extends LitElement {
  static override properties = { job: {}, may: { type: Boolean } };
  declare job: string;
  declare may: boolean;
  private known: Job | null = null;
  private documents: JobDocument[] = [];
  private problem = "";
  private timer?: ReturnType<typeof setTimeout>;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("job")) void this.follow();
  }

  private async follow(): Promise<void> {
    clearTimeout(this.timer);
    const path = `jobs/${encodeURIComponent(this.job)}`;
    try {
      const [known, listed] = await Promise.all([ask(path), ask(`${path}/documents?limit=200`)]);
      this.known = known;
      this.documents = listed.documents;
      if (ENDED.has(known.state)) dispatchEvent(new Event("urbankg-review"));
      else if (this.isConnected) this.timer = setTimeout(() => void this.follow(), MOVING.has(known.state) ? 700 : 3000);
    } catch (error) {
      this.problem = inWords(error);
    }
    this.requestUpdate();
  }

  private async turn(what: string): Promise<void> {
    try {
      await ask(`jobs/${encodeURIComponent(this.job)}/${what}`, { method: "POST" });
      this.problem = "";
    } catch (error) {
      this.problem = inWords(error);
    }
    await this.follow();
  }

  protected override render(): unknown {
    const job = this.known;
    if (!job) return html`<p class="soft" role="status">${this.problem || "Reading the job…"}</p>`;
    const failed = (job.documents["failed"] ?? 0) + (job.documents["rejected"] ?? 0);
    const actions = MOVING.has(job.state) ? ["pause", "cancel"] : job.state === "paused" ? ["resume", "cancel"] : failed ? ["retry"] : [];
    const sum = (of: "accepted" | "refused" | "warned"): number => this.documents.reduce((all, one) => all + (one[of] ?? 0), 0);
    return html`<div class="gap">
      <div class="row spread"><div><p class="small soft">Job ${job.state}</p><h1 class="mid" aria-live="polite">${job.finished} of ${job.total} texts read</h1>
        <p class="soft">${job.name ?? job.id} · ${sum("accepted")} statements accepted, ${sum("refused")} refused${withoutStatements(job)}</p></div>
        <div class="row push">${this.may ? actions.map((one) => html`<button class="btn" @click=${() => void this.turn(one)}>${one[0]!.toUpperCase()}${one.slice(1)}</button>`) : nothing}
          <a class="btn low" href="#/text">Another text</a></div></div>
      <progress max=${job.total || 1} value=${job.finished} aria-label="Progress of the job"></progress>
      ${this.problem || job.problem ? html`<div class="note no" role="alert"><p>${this.problem || job.problem}</p></div>` : nothing}
      <div class="card"><div class="wide-table" tabindex="0" role="region" aria-label="Texts of the job"><table class="list">
        <thead><tr><th>Text</th><th>State</th><th class="right">Accepted</th><th class="right">Refused</th></tr></thead>
        <tbody>${this.documents.map((one) => this.line(one))}</tbody></table></div>
        ${job.total > this.documents.length ? html`<p class="empty">The first ${this.documents.length} are shown.</p>` : nothing}</div></div>`;
  }

  private line(one: JobDocument): TemplateResult {
    const name = one.source ?? one.name ?? `Text ${one.position}`;
    const look = LOOKS[one.state] ?? "";
    return html`<tr><td>${(look === "ok" || look === "warn") && one.document ? html`<a href=${`#/text/${one.document}`}>${name}</a>` : name}</td>
      <td>${look ? html`<span class="v ${look}">${one.state}</span>` : html`<span class="soft">${one.state}</span>`}${one.error ? html`<p class="small soft">${one.error}</p>` : nothing}
        ${one.incomplete ? html`<p class="small soft">Not all of it was read: it stopped at character ${one.incomplete.at.toLocaleString("en")}. ${one.incomplete.reason}</p>` : nothing}</td>
      <td class="right num">${one.accepted ?? ""}</td>
      <td class="right num">${one.refused ? html`<a href=${`#/review?document=${one.document}`}>${one.refused}</a>` : (one.refused ?? "")}</td></tr>`;
  }
}

customElements.define("ukg-job", JobView);
