// Gaps: what questions missed, what a text or the model has for it, and the decision.

import { html, nothing, type TemplateResult } from "lit";
import { address, ask } from "./api";
import { inWords, isIri, learn, note } from "./names";
import { entityAddress, plain, Screen, statement, triple, withReasons, type Statement } from "./screen";

interface Passage {
  title: string;
  text: string;
  source: string;
  document: string | null;
  match: { start: number; end: number; quote: string } | null;
}

interface Gap {
  id: string;
  kind: string;
  status: string;
  subject: string;
  property: string;
  object: string;
  message: string;
  asked: number;
  askers: number;
  questions: { question: string; context: string }[];
  completion: { by: string; model: string; value: string; verdict: string; statements: Statement[] } | null;
  passages: Passage[];
  decisions: { outcome: string; by: string; at: string; reason?: string | null }[];
  terms?: { subject: string | null; property: string | null; object: string | null };
}

const PAGE = 50;
const KINDS: [string, string][] = [["", "All that is missing"], ["data", "facts"], ["entity", "names"], ["schema", "words"]];
const STATES = ["open", "accepted", "rejected", "any"];
const VERDICTS: Record<string, [string, string]> = {
  unverified: ["warn", "The model believes it; no text says it yet"],
  found: ["ok", "A text says it"],
  confirmed: ["ok", "A text says what the model believed"],
  corrected: ["warn", "A text says otherwise than the model believed"],
};

class GapsScreen extends Screen {
  private gaps: Gap[] = [];
  private total = 0;
  private current: Gap | null = null;
  private filters = "none yet";
  private value = "";
  private reason: string | null = null;
  private tried: Statement[] | null = null;
  private said = "";

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    const filters = this.filter().toString();
    const id = this.parameters.get("id");
    if (filters !== this.filters) {
      this.filters = filters;
      void this.load();
    } else if (id && id !== this.current?.id) void this.open(id);
  }

  private filter(): URLSearchParams {
    return new URLSearchParams(["status", "kind", "text"].flatMap((name) => (this.parameters.get(name) ? [[name, this.parameters.get(name)!]] : [])));
  }

  private async load(more = false): Promise<void> {
    const wanted = this.filter();
    wanted.set("offset", String(more ? this.gaps.length : 0));
    wanted.set("limit", String(PAGE));
    const found = (await this.run("Reading the gaps…", () => ask(`gaps?${wanted}`))) as { total: number; gaps: Gap[] } | undefined;
    if (!found) return;
    this.total = found.total;
    this.gaps = more ? [...this.gaps, ...found.gaps] : found.gaps;
    if (!more) await this.open(this.parameters.get("id") ?? this.gaps[0]?.id ?? null);
    this.requestUpdate();
  }

  private async open(id: string | null): Promise<void> {
    const found = id === null ? null : ((await this.run("Reading the gap…", () => ask(`gaps/${encodeURIComponent(id)}`))) as Gap | undefined);
    if (found === undefined) return;
    await this.show(found);
  }

  private async show(gap: Gap | null): Promise<void> {
    this.current = gap;
    this.value = "";
    this.reason = null;
    this.tried = null;
    if (gap) {
      if (gap.terms?.subject) note(gap.terms.subject, gap.subject);
      const statements = gap.completion?.statements ?? [];
      await learn(statements.flatMap((one) => [one.subject, one.predicate, one.object.type === "uri" ? one.object.value : ""])).catch(() => undefined);
      this.addressed(address(`gaps/${gap.id}`, Object.fromEntries(this.filter())));
    }
    this.requestUpdate();
  }

  /** Look the gap up in texts, or ask the model what it believes. */
  private async look(way: "verify" | "complete"): Promise<void> {
    const { id, terms } = this.current!;
    const found = await this.run(way === "verify" ? "Reading the texts that may say it…" : "Asking the model…", () => ask(`gaps/${id}/${way}`, { method: "POST" }));
    if (!found) return;
    await this.show({ ...(found.gap as Gap), terms });
    this.said = found.gap.completion ? "" : `None of ${found.gap.passages.length} passages says it.`;
    this.requestUpdate();
  }

  /** Commit what fills the gap; tried first, so that what would enter is seen before. */
  private async accept(dryRun: boolean): Promise<void> {
    const { id } = this.current!;
    const value = this.value.trim();
    const told = await this.run(dryRun ? "Trying it…" : "Committing…", async () => {
      try {
        return await ask(`gaps/${id}/accept`, { json: { ...(value ? { value } : {}), dry_run: dryRun } });
      } catch (error) {
        throw withReasons(error);
      }
    });
    if (!told) return;
    this.tried = told.accepted;
    await learn(this.tried!.map((one) => (one.object.type === "uri" ? one.object.value : ""))).catch(() => undefined);
    if (!dryRun) await this.decided(told.answer ? `Filled. The answer now: ${told.answer}` : "Filled.");
    this.requestUpdate();
  }

  private async turn(what: "reject" | "reopen"): Promise<void> {
    const reason = this.reason?.trim();
    const told = await this.run("Deciding…", () => ask(`gaps/${this.current!.id}/${what}`, { json: reason ? { reason } : {} }));
    if (told) await this.decided(what === "reject" ? "Set aside." : "Open again.");
  }

  private async decided(words: string): Promise<void> {
    this.said = words;
    this.parameters.delete("id");
    await this.load();
    this.querySelector<HTMLElement>("article")?.focus({ preventScroll: true });
  }

  private set(name: string, value: string): void {
    const filter = this.filter();
    if (value && !(name === "status" && value === "open")) filter.set(name, value);
    else filter.delete(name);
    location.hash = `#/${address("gaps", Object.fromEntries(filter))}`;
  }

  protected override render(): unknown {
    const status = this.parameters.get("status") ?? "open";
    return html`<div class="cols queue queue-open">
      <section class="stack side" aria-label="Gaps">
        <nav class="seg" aria-label="What waits"><a href="#/review">Statements</a><a aria-current="true">Gaps</a></nav>
        <h1 class="mid">${this.problem && !this.total ? "Gaps" : html`${this.total.toLocaleString("en")} ${status === "open" ? (this.total === 1 ? "gap" : "gaps") : status === "any" ? "gaps" : status}`}</h1>
        ${this.filterBar(status)}
        ${this.gaps.length
          ? html`<ul class="items card">${this.gaps.map((one) => html`<li aria-current=${one.id === this.current?.id ? "true" : nothing}>
                <a class="cover" href=${`#/${address(`gaps/${one.id}`, Object.fromEntries(this.filter()))}`}><span class="two"><span>${triple(one)}</span>
                  <span class="num small faint">${one.asked}×</span></span><span class="why">${one.questions[0]?.question ?? ""}</span></a></li>`)}</ul>
              ${this.gaps.length < this.total ? html`<button class="btn" @click=${() => void this.load(true)}>Show ${Math.min(PAGE, this.total - this.gaps.length)} more</button>` : nothing}`
          : this.working || this.problem ? nothing : html`<div class="card"><p class="empty first">No question has missed anything${this.filters ? " that fits" : ""}.
              ${this.filters ? html`<a href="#/gaps">Show all</a>` : html`<a href="#/ask">Ask one</a>`}</p></div>`}
      </section>
      <section class="stack" aria-label="Gap">
        ${this.current ? this.item(this.current) : nothing} ${this.state()}
        <p class="small soft" aria-live="polite">${this.said}</p>
        ${this.current ? this.passages(this.current) : nothing}
      </section>
    </div>`;
  }

  private filterBar(status: string): TemplateResult {
    const select = (name: string, label: string, options: [string, string][], value: string): TemplateResult => html`<label class="hide" for="g-${name}">${label}</label>
      <select id="g-${name}" class="chip plain" @change=${(event: Event) => this.set(name, (event.target as HTMLSelectElement).value)}>
        ${options.map(([key, words]) => html`<option value=${key} ?selected=${key === value}>${words}</option>`)}</select>`;
    return html`<div class="row filters">
      ${select("status", "State", STATES.map((one) => [one, one === "any" ? "any state" : one]), status)}
      ${select("kind", "What is missing", KINDS, this.parameters.get("kind") ?? "")}
      <label class="hide" for="g-text">Words</label>
      <input id="g-text" type="search" class="chip plain" placeholder="Words" .value=${this.parameters.get("text") ?? ""} @change=${(event: Event) => this.set("text", (event.target as HTMLInputElement).value)} />
    </div>`;
  }

  private item(gap: Gap): TemplateResult {
    const { completion } = gap;
    const [look, words] = VERDICTS[completion?.verdict ?? ""] ?? ["warn", "Nothing is proposed yet"];
    return html`<article class="card roomy" tabindex="-1" aria-label="Gap to decide">
        <div class="in stack">
          <p class="v ${gap.status === "open" ? look : gap.status === "accepted" ? "ok" : "no"}">${gap.status === "open" ? words : gap.status === "accepted" ? "Filled" : "Set aside"}</p>
          <h1>${triple(gap)}</h1>
          <p class="soft">${plain(gap.message)}</p>
        </div>
        <table class="facts ruled"><tbody>
          ${completion ? html`<tr><th scope="row">Proposed</th><td>${completion.statements.length ? completion.statements.map((one) => html`<p>${statement(one)}</p>`) : html`<b>${completion.value}</b>`}</td>
              <td class="right small faint">${completion.model}</td></tr>` : nothing}
          <tr><th scope="row">Asked</th><td colspan="2">${gap.questions.map((one) => html`<p><a href=${`#/${address("ask", { q: one.question, context: one.context })}`}>${one.question}</a></p>`)}
            <p class="small faint">${times(gap.asked)} by ${gap.askers === 1 ? "one asker" : `${gap.askers} askers`}</p></td></tr>
          ${gap.terms?.subject && isIri(gap.terms.subject) ? html`<tr><th scope="row">Look at</th><td colspan="2"><a href=${entityAddress(gap.terms.subject)}>${gap.subject}</a></td></tr>` : nothing}
          ${gap.decisions.map((one) => html`<tr><th scope="row">${one.outcome === "open" ? "Reopened" : one.outcome === "accepted" ? "Filled" : "Set aside"}</th><td colspan="2">by ${one.by}
            <span class="faint small num">${one.at.slice(0, 16).replace("T", " ")}</span>${one.reason ? html`<p class="why">${one.reason}</p>` : nothing}</td></tr>`)}
        </tbody></table>
      </article>
      ${this.bar(gap)}`;
  }

  private bar(gap: Gap): TemplateResult | typeof nothing {
    if (!this.may("review")) return html`<div class="note"><p>You may read the gaps. To fill them, sign in with a key of the scope “review”.</p></div>`;
    if (gap.status === "rejected") return html`<div class="bar"><button class="btn" @click=${() => void this.turn("reopen")}>Open again</button></div>`;
    if (gap.status !== "open") return nothing;
    if (this.reason !== null) {
      return html`<form class="bar" @submit=${(event: Event) => (event.preventDefault(), void this.turn("reject"))}>
        <label class="field grow">Why is it not to be filled?<input autocomplete="off" .value=${this.reason} @input=${(event: Event) => (this.reason = (event.target as HTMLInputElement).value)} /></label>
        <button class="btn main">Set aside</button><button class="btn" type="button" @click=${() => this.setAside(null)}>Cancel</button></form>`;
    }
    const oneIsMissing = [gap.subject, gap.property, gap.object].filter((one) => one === "?").length === 1 && gap.property !== "?";
    const canAccept = gap.completion !== null || this.value.trim() !== "";
    return html`<form class="bar still" @submit=${(event: Event) => (event.preventDefault(), void this.accept(this.tried === null))}>
      ${oneIsMissing ? html`<label class="field grow">${gap.completion ? "Or what you know" : "What you know"}
        <input id="value" autocomplete="off" placeholder="A name, a date or a number" .value=${this.value} @input=${(event: Event) => this.write((event.target as HTMLInputElement).value)} /></label>` : nothing}
      ${canAccept || oneIsMissing ? html`<button class="btn ${canAccept ? "main" : ""}" ?disabled=${!canAccept || this.working !== ""}>${this.tried === null ? "Try it" : "Commit it"}</button>`
        : html`<button class="btn" type="button" @click=${() => void this.accept(false)}>Ask again</button>`}
      <button class="btn" type="button" ?disabled=${this.working !== ""} @click=${() => void this.look("verify")}>Look in texts</button>
      <button class="btn" type="button" ?disabled=${this.working !== ""} @click=${() => void this.look("complete")}>Ask the model</button>
      <button class="btn" type="button" @click=${() => this.setAside("")}>Set aside</button>
      ${this.tried === null ? nothing : html`<p class="small foreseen" role="status">Would enter the graph: ${this.tried.map((one) => html`${statement(one, { object: inWords(one.object) })} `)}</p>`}
    </form>`;
  }

  private write(words: string): void {
    this.value = words;
    this.tried = null;
    this.requestUpdate();
  }

  private setAside(reason: string | null): void {
    this.reason = reason;
    this.requestUpdate();
  }

  private passages(gap: Gap): TemplateResult | typeof nothing {
    if (!gap.passages.length) return nothing;
    return html`<details class="card" ?open=${gap.passages.some((one) => one.match)}><summary>Passages read <span class="small faint">${gap.passages.length}</span></summary>
      <ul class="items">${gap.passages.map((one) => html`<li><p class="quote s">${one.match
        ? html`${one.text.slice(0, one.match.start)}<span class="ok"><span class="link">${one.match.quote}</span></span>${one.text.slice(one.match.end)}`
        : one.text}</p><p class="small faint">${one.title || one.source}${one.document ? html` · <a href=${`#/text/${one.document.split("/").pop()}`}>whole text</a>` : nothing}</p></li>`)}</ul></details>`;
  }
}

function times(count: number): string {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

customElements.define("ukg-gaps", GapsScreen);
