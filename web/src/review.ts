// Review: what waits for a person, why, and the decision; all of it by keyboard.

import { html, nothing, type TemplateResult } from "lit";
import { address, ask, type Term } from "./api";
import { inWords, isIri, LABEL, nameOf, note, ruleName, TYPE, visible, vocabulary } from "./names";
import { completions, plain, Screen, statement, withReasons, entityAddress, type Completion, type Statement, type Violation } from "./screen";

interface Item {
  id: string;
  statement: Statement;
  names: { subject: string | null; object: string | null };
  violations: Violation[];
  status: string;
  accepted: boolean;
  seen: number;
  document: string | null;
  source: string | null;
  decisions: { outcome: string; by: string; at: string; reason: string | null }[];
  sentence: { before: string; quote: string; after: string } | null;
  labels: Record<string, string>;
  choices?: Choice[];
  similar?: Record<string, { iri: string; label: string; classes: string[]; score: number }[]>;
}

/** An entity of which a person says which one it is. */
interface Choice {
  entity: string;
  name: string;
  candidates: { iri: string; label: string; classes: string[] }[];
}

interface Suggestion {
  changes: string;
  statement: Statement;
  labels: Record<string, string>;
}

/** What a decision did, or would do. */
interface Decided {
  decision: string | null;
  added: Statement[];
  withdrawn: Statement[];
  fallen: Statement[];
  revived: Statement[];
  refused: { id: string; violations: Violation[] }[];
  left?: number;
}

const PAGE = 30;
/** Who moves through the queue does not wait for what a decision on each item would do. */
const SETTLED_MS = 300;
const FILTERS = ["status", "shape", "component", "class", "document", "max_confidence", "text", "predicate", "entity"] as const;
const CHANGED: Record<string, string> = { value: "another value", object: "another thing", subject: "about another", property: "another relation", direction: "the other way round" };
const STATES = ["open", "accepted", "rejected", "superseded", "any"];
const SYSTEM = "https://w3id.org/urbankg/system#";

type Mode = "look" | "correct" | "reject";

class ReviewScreen extends Screen {
  private items: Item[] = [];
  private total = 0;
  private current: Item | null = null;
  private filters = "";
  private mode: Mode = "look";
  private done: { decision: string; words: string }[] = [];
  private said = "";
  private facets: Record<string, { value: string; items: number; label?: string | null }[]> = {};
  private suggestions: Suggestion[] = [];
  private effects: { accept?: Decided; reject?: Decided } = {};
  private many: { decision: "accept" | "reject"; tried: Decided | null } | null = null;
  private offered: { property: Completion[]; object: Completion[] } = { property: [], object: [] };
  private correction = { property: "", object: "" };
  private reason = "";
  private chosen = new Map<string, string | null>();
  private queueOpen = false;
  private settling?: ReturnType<typeof setTimeout>;
  /** Counts the lists asked for. What belongs to an earlier one and arrives late is dropped. */
  private asked = 0;
  private pressed = (event: KeyboardEvent): void => this.key(event);

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.pressed);
    void this.choices();
    void this.undoable();
  }

  /** The decisions that can still be undone, also those from before the page was loaded. */
  private async undoable(): Promise<void> {
    const found = await ask("review/decisions?limit=20").catch(() => ({ decisions: [] }));
    const words: Record<string, string> = { accepted: "Accepted", rejected: "Rejected" };
    const past = found.decisions as { id: string; outcome: string; undoable: boolean }[];
    const known = new Set(this.done.map((one) => one.decision));
    const earlier = past.filter((one) => one.undoable && words[one.outcome] && !known.has(one.id)).reverse();
    this.done = [...earlier.map((one) => ({ decision: one.id, words: words[one.outcome]! })), ...this.done];
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.pressed);
    clearTimeout(this.settling);
  }

  /** What the filters offer. */
  private async choices(): Promise<void> {
    const status = this.parameters?.get("status") ?? "open";
    this.facets = (await ask(address("review/facets", { status })).catch(() => ({ facets: {} }))).facets;
    this.requestUpdate();
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    const filters = this.filter().toString();
    if (filters !== this.filters || !this.items.length) {
      this.filters = filters;
      void this.load();
    } else if (this.parameters.get("id") && this.parameters.get("id") !== this.current?.id) void this.open(this.parameters.get("id")!);
  }

  private filter(): URLSearchParams {
    return new URLSearchParams(FILTERS.flatMap((name) => (this.parameters.get(name) ? [[name, this.parameters.get(name)!]] : [])));
  }

  private async load(more = false): Promise<void> {
    const asked = more ? this.asked : ++this.asked;
    const offset = more ? this.items.length : 0;
    const wanted = this.filter();
    wanted.set("offset", String(offset));
    wanted.set("limit", String(PAGE));
    const found = await this.run("Reading the queue…", async () => {
      const page = (await ask(`review?${wanted}`)) as { total: number; items: Item[] };
      await vocabulary();
      page.items.forEach(remember);
      return page;
    });
    if (!found || asked !== this.asked) return;
    this.total = found.total;
    this.items = more ? [...this.items, ...found.items] : found.items;
    this.requestUpdate();
    if (!more) await this.open(this.parameters.get("id") ?? this.items[0]?.id ?? null);
  }

  private async open(id: string | null): Promise<void> {
    this.mode = "look";
    this.reason = "";
    if (id === null) {
      this.current = null;
      this.requestUpdate();
      return;
    }
    const asked = this.asked;
    const listed = this.items.find((item) => item.id === id);
    if (listed) await this.show(listed);
    const item = (await this.run("Reading the item…", () => ask(`review/${encodeURIComponent(id)}`))) as Item | undefined;
    if (!item || asked !== this.asked || (listed && this.current !== listed)) return;
    remember(item);
    await this.show(item);
    clearTimeout(this.settling);
    this.settling = setTimeout(() => void this.foresee(item), SETTLED_MS);
  }

  private async show(item: Item): Promise<void> {
    if (this.current?.id !== item.id) {
      this.suggestions = [];
      this.effects = {};
      this.chosen.clear();
    }
    this.current = item;
    this.addressed(address(`review/${item.id}`, Object.fromEntries(this.filter())));
    this.requestUpdate();
    await this.updateComplete;
    this.querySelector(".items [aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  /** What each decision would do, and which corrections would be accepted; all of it dry runs. */
  private async foresee(item: Item): Promise<void> {
    if (item.status !== "open" || this.current?.id !== item.id) return;
    const path = `review/${encodeURIComponent(item.id)}`;
    const tried = (decision: string, body: object): Promise<Decided | undefined> =>
      this.may("review") ? ask(`${path}/${decision}`, { json: { ...body, dry_run: true } }).catch(() => undefined) : Promise.resolve(undefined);
    const [found, accept, reject] = await Promise.all([
      ask(`${path}/suggestions`).catch(() => ({ suggestions: [] })),
      tried("accept", {}),
      tried("reject", { reason: "-" }),
    ]);
    if (this.current?.id !== item.id) return;
    for (const one of found.suggestions as Suggestion[]) for (const [iri, name] of Object.entries(one.labels)) note(iri, name);
    this.suggestions = found.suggestions;
    this.effects = { accept, reject };
    this.requestUpdate();
  }

  private async move(step: number): Promise<void> {
    const at = this.items.findIndex((item) => item.id === this.current?.id);
    if (at + step === this.items.length && at + step < this.total) await this.load(true);
    const next = this.items[at + step];
    if (next) await this.open(next.id);
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && this.mode !== "look") {
      this.turn("look");
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    const action = {
      j: () => void this.move(1),
      k: () => void this.move(-1),
      c: () => this.turn("correct"),
      a: () => void this.accept(),
      r: () => this.turn("reject"),
      u: () => void this.undo(),
    }[event.key.toLowerCase()] ?? this.numbered(event.key);
    if (!action || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    action();
  }

  /** A digit chooses an entity where one is asked for, 0 a new one; else it takes a suggestion. */
  private numbered(key: string): (() => void) | undefined {
    if (!/^\d$/.test(key) || !this.decidable()) return undefined;
    const item = this.current!;
    if (item.choices?.length) {
      const choice = this.unanswered(item);
      const iri = key === "0" ? null : choice?.candidates[Number(key) - 1]?.iri;
      return choice && iri !== undefined ? (): void => void this.choose(item, choice, iri) : undefined;
    }
    const found = this.suggestions[Number(key) - 1];
    return found && ((): void => void this.take(found));
  }

  /** The first question of an item that has no answer yet. */
  private unanswered(item: Item): Choice | undefined {
    return item.choices?.find((one) => !this.chosen.has(one.entity));
  }

  private async take(one: Suggestion): Promise<void> {
    const { subject, predicate, object } = one.statement;
    await this.decide("accept", { statements: [{ ...cleaned(this.current!.statement), subject, predicate, object }] }, "Corrected and accepted");
  }

  private decidable(): boolean {
    return this.may("review") && this.current?.status === "open";
  }

  private turn(mode: Mode): void {
    if (mode !== "look" && !this.decidable()) return;
    this.mode = mode;
    this.problem = "";
    const item = this.current!;
    if (mode === "correct") {
      this.correction = { property: nameOf(item.statement.predicate), object: item.names.object ?? inWords(item.statement.object) };
      if (item.statement.object.type === "literal") this.correction.object = item.statement.object.value;
      this.offered = {
        property: [{ iri: item.statement.predicate, label: this.correction.property, kind: "property", classes: [] }],
        object: item.statement.object.type === "uri" ? [{ iri: item.statement.object.value, label: this.correction.object, kind: "entity", classes: [] }] : [],
      };
    }
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<HTMLInputElement>(mode === "correct" ? "#property" : "#reason")?.select());
  }

  private async accept(): Promise<void> {
    if (!this.decidable() || refusal(this.current!)) return;
    await this.decide("accept", {}, "Accepted");
  }

  private async reject(event: Event): Promise<void> {
    event.preventDefault();
    if (this.reason.trim()) await this.decide("reject", { reason: this.reason.trim() }, "Rejected");
  }

  private async correct(event: Event): Promise<void> {
    event.preventDefault();
    const { statement: old } = this.current!;
    const property = chosen(this.offered.property, this.correction.property);
    if (!property) {
      this.problem = `“${this.correction.property}” is no property of the ontology. Choose one from the list.`;
      this.requestUpdate();
      return;
    }
    let object: Term = { ...old.object, value: this.correction.object };
    if (old.object.type === "uri") {
      const found = chosen(this.offered.object, this.correction.object);
      if (!found) {
        this.problem = `The graph knows nothing called “${this.correction.object}”. Choose a name from the list.`;
        this.requestUpdate();
        return;
      }
      object = { type: "uri", value: found };
    }
    await this.decide("accept", { statements: [{ ...cleaned(old), predicate: property, object }] }, "Corrected and accepted");
  }

  private async decide(decision: string, body: Record<string, unknown>, words: string): Promise<void> {
    const item = this.current!;
    const told = await this.run("Judging again…", async () => {
      try {
        return await ask(`review/${encodeURIComponent(item.id)}/${decision}`, { json: body });
      } catch (error) {
        throw withReasons(error);
      }
    });
    if (!told) return;
    this.said = `${words}.${told.fallen?.length ? ` ${told.fallen.length} other statements went to review.` : ""}`;
    if (told.decision) this.done.push({ decision: told.decision.split("/").pop()!, words });
    const at = this.items.findIndex((one) => one.id === item.id);
    const done = new Set([item.id, ...((told.items ?? []) as Item[]).map((one) => one.id)]);
    this.items = this.items.filter((one) => !done.has(one.id));
    this.total = Math.max(0, this.total - done.size);
    dispatchEvent(new Event("urbankg-review"));
    await this.open(this.items[at]?.id ?? this.items[at - 1]?.id ?? null);
    this.querySelector<HTMLElement>("article")?.focus({ preventScroll: true });
  }

  private async undo(): Promise<void> {
    const last = this.done.at(-1);
    if (!last || !this.may("review")) return;
    const told = await this.run("Taking it back…", () => ask(`review/decisions/${encodeURIComponent(last.decision)}/undo`, { json: {} }));
    if (!told) return;
    this.done.pop();
    this.said = `Taken back: ${last.words.toLowerCase()}.`;
    dispatchEvent(new Event("urbankg-review"));
    const back = told.items[0]?.id as string | undefined;
    if (back) this.parameters.set("id", back);
    void this.choices();
    await this.load();
  }

  /** A decision on everything that the filters let through: tried first, with its number. */
  private async decideMany(decision: "accept" | "reject", dryRun: boolean): Promise<void> {
    const filter = Object.fromEntries([...this.filter()].map(([name, value]) => [name, name === "max_confidence" ? Number(value) : value]));
    const json = { decision, filter, expect: this.total, dry_run: dryRun, ...(decision === "reject" ? { reason: this.reason.trim() || "-" } : {}) };
    const told = (await this.run(dryRun ? "Trying it…" : "Deciding…", () => ask("review/decisions", { json }))) as Decided | undefined;
    if (!told) return;
    if (dryRun) {
      this.many = { decision, tried: told };
      this.requestUpdate();
      return;
    }
    const words = `${decision === "accept" ? "Accepted" : "Rejected"} ${this.total - told.refused.length - (told.left ?? 0)}`;
    this.said = `${words}.${told.refused.length ? ` ${told.refused.length} are still refused and wait.` : ""}${told.left ? ` ${told.left} are left.` : ""}`;
    if (told.decision) this.done.push({ decision: told.decision.split("/").pop()!, words });
    this.many = null;
    this.parameters.delete("id");
    dispatchEvent(new Event("urbankg-review"));
    void this.choices();
    await this.load();
  }

  private manyPanel(): TemplateResult | typeof nothing {
    if (!this.may("review") || this.total < 2 || (this.parameters.get("status") ?? "open") !== "open") return nothing;
    const { many } = this;
    const count = this.total.toLocaleString("en");
    if (!many) return html`<div class="row small"><span class="soft">All ${count}${this.filters ? " that fit" : ""}:</span>
      <button class="btn low" @click=${() => void this.decideMany("accept", true)}>Accept…</button><button class="btn low" @click=${() => void this.decideMany("reject", true)}>Reject…</button></div>`;
    const refused = many.tried?.refused.length ?? 0;
    const doing = Math.min(this.total, 1000) - refused;
    return html`<form class="note stack" @submit=${(event: Event) => (event.preventDefault(), void this.decideMany(many.decision, false))}>
      <p><b>${many.decision === "accept" ? "Accept" : "Reject"} ${count} statements?</b> ${many.decision === "accept" ? `${doing} would be accepted, ${refused} are still refused and stay here.` : "They are refused from every text until you take it back."} ${consequences(many.tried)}</p>
      ${many.decision === "reject" ? html`<label class="field">Why are they wrong?<input required .value=${this.reason} @input=${(event: Event) => (this.reason = (event.target as HTMLInputElement).value)} /></label>` : nothing}
      <div class="row"><button class="btn main" ?disabled=${doing === 0}>${many.decision === "accept" ? "Accept" : "Reject"} ${doing}</button>
        <button class="btn" type="button" @click=${() => ((this.many = null), this.requestUpdate())}>Cancel</button></div></form>`;
  }

  private async complete(of: "property" | "object", words: string): Promise<void> {
    this.correction[of] = words;
    if (words.trim().length < 2) return;
    const found = await completions(words, of === "property" ? "property" : "entity");
    for (const one of found) note(one.iri, one.label);
    this.offered[of] = [...found, ...this.offered[of].filter((one) => !found.some((other) => other.iri === one.iri))].slice(0, 30);
    this.requestUpdate();
  }

  private set(name: string, value: string): void {
    const filter = this.filter();
    if (value && !(name === "status" && value === "open")) filter.set(name, value);
    else filter.delete(name);
    this.items = [];
    this.asked++;
    location.hash = `#/${address("review", Object.fromEntries(filter))}`;
  }

  protected override render(): unknown {
    const status = this.parameters.get("status") ?? "open";
    const at = this.items.findIndex((item) => item.id === this.current?.id);
    return html`<div class="cols queue ${this.queueOpen ? "queue-open" : ""}">
      <section class="stack side" aria-label="Queue">
        <nav class="seg" aria-label="What waits"><a aria-current="true">Statements</a><a href="#/gaps">Gaps</a></nav>
        <h1 class="mid">${this.problem && !this.total ? "Review" : status === "open" ? `${this.total.toLocaleString("en")} wait for you` : `${this.total.toLocaleString("en")} ${status === "any" ? "items" : status}`}</h1>
        ${this.filterBar(status)} ${this.manyPanel()}
        ${this.items.length
          ? html`<ul class="items card">
                ${this.items.map(
                  (item) => html`<li aria-current=${item.id === this.current?.id ? "true" : nothing}>
                    <a class="cover" href=${`#/${address(`review/${item.id}`, Object.fromEntries(this.filter()))}`} @click=${(event: Event) => this.pick(event, item.id)}>
                      <span class="two"><span>${statement(item.statement, item.names)}</span>
                      <span class="v ${verdict(item)[0]}"><span class="hide">${verdict(item)[1]}</span></span></span>
                      <span class="why">${plain(item.violations[0]?.message ?? "")}</span></a>
                  </li>`,
                )}
              </ul>
              ${this.items.length < this.total ? html`<button class="btn" @click=${() => void this.load(true)}>Show ${Math.min(PAGE, this.total - this.items.length)} more</button>` : nothing}`
          : this.working || this.problem ? nothing : html`<div class="card"><p class="empty first">Nothing waits for you${this.filters ? " with these filters" : ""}.
              ${this.filters ? html`<a href="#/review">Show all</a>` : html`<a href="#/text">Add a text</a>`}</p></div>`}
      </section>
      <section class="stack" aria-label="Item">
        <div class="row"><span class="small faint num">${at >= 0 ? `${at + 1} of ${this.total}` : ""}</span>
          ${this.items.length > 1 ? html`<span class="push row wide"><span class="small faint">previous</span><kbd>K</kbd><kbd>J</kbd><span class="small faint">next</span></span>` : nothing}
          <button class="btn low push phone" aria-expanded=${this.queueOpen ? "true" : "false"} @click=${() => this.toggle()}>${this.queueOpen ? "Hide queue" : "Queue"}</button></div>
        ${this.current ? this.item(this.current) : nothing}
        <p class="small soft" aria-live="polite">${this.said}</p>
        ${this.current ? nothing : html`${this.state()}${this.undoButton()}`}
      </section>
    </div>`;
  }

  private pick(event: Event, id: string): void {
    event.preventDefault();
    this.queueOpen = false;
    void this.open(id);
  }

  private toggle(): void {
    this.queueOpen = !this.queueOpen;
    this.requestUpdate();
  }

  private filterBar(status: string): TemplateResult {
    const select = (name: string, label: string, options: [string, string][], value: string): TemplateResult => html`<label class="hide" for="f-${name}">${label}</label>
      <select id="f-${name}" class="chip plain" @change=${(event: Event) => this.set(name, (event.target as HTMLSelectElement).value)}>
        ${options.map(([key, words]) => html`<option value=${key} ?selected=${key === value}>${words}</option>`)}
      </select>`;
    const choice = (name: string, label: string, all: string, words: (value: string, label?: string | null) => string): TemplateResult | typeof nothing => {
      const found = this.facets[name] ?? [];
      const now = this.parameters.get(name) ?? "";
      if (found.length < 2 && !now) return nothing;
      return select(name, label, [["", all], ...found.map((one): [string, string] => [one.value, `${words(one.value, one.label)} (${one.items})`])], now);
    };
    return html`<div class="row filters">
      ${select("status", "State", STATES.map((one) => [one, one === "any" ? "any state" : one]), status)}
      ${choice("shape", "Rule", "All rules", ruleName)}
      ${choice("component", "Reason", "All reasons", ruleName)}
      ${choice("class", "Kind", "All kinds", (iri, label) => label ?? nameOf(iri))}
      ${choice("document", "Text", "All texts", (iri, label) => label ?? `text ${nameOf(iri)}`)}
      ${select("max_confidence", "Confidence", [["", "Any confidence"], ["0.9", "at most 0.9"], ["0.7", "at most 0.7"], ["0.5", "at most 0.5"]], this.parameters.get("max_confidence") ?? "")}
      <label class="hide" for="f-text">Words</label>
      <input id="f-text" type="search" class="chip plain" placeholder="Words" .value=${this.parameters.get("text") ?? ""} @change=${(event: Event) => this.set("text", (event.target as HTMLInputElement).value)} />
    </div>`;
  }

  private item(item: Item): TemplateResult {
    const [look, word] = verdict(item);
    const [first, ...others] = item.violations;
    return html`<article class="card roomy" tabindex="-1" aria-label="Statement to decide">
        <div class="in stack">
          <p class="v ${look}">${word}</p>
          <h1>${plain(first?.message ?? "Waits for a person")}</h1>
          ${others.map((one) => html`<p class="soft">${plain(one.message)}</p>`)}
          ${this.words(item, look)}
        </div>
        <table class="facts ruled">
          <tbody>
            <tr><th scope="row">${item.accepted ? "In the graph" : word}</th><td>${statement(item.statement, item.names)}</td>
              <td class="right small faint num">${item.statement.confidence?.toFixed(2) ?? ""}</td></tr>
            ${first?.shape ? html`<tr><th scope="row">Rule</th><td colspan="2">${ruleName(first.shape)}</td></tr>` : nothing}
            ${isIri(item.statement.subject) ? html`<tr><th scope="row">Look at</th><td colspan="2"><span class="row">
              ${[item.statement.subject, item.statement.object.type === "uri" ? item.statement.object.value : ""].filter(isIri).map((iri, index) => html`<a href=${entityAddress(iri)}>${(index ? item.names.object : item.names.subject) ?? nameOf(iri)}</a>`)}</span></td></tr>` : nothing}
          </tbody>
        </table>
      </article>
      ${this.choiceList(item)} ${this.bar(item)} ${this.state()} ${this.suggestionList(item)}
      <div class="cols">
        ${this.similar(item)}
        <details class="card" ?open=${item.decisions.length > 0}><summary>Decisions before <span class="small faint">${item.decisions.length || "none"}</span></summary>
          ${item.decisions.length
            ? html`<ul class="items">${item.decisions.map((one) => html`<li><b>${one.outcome}</b> by ${one.by} <span class="faint small num">${one.at.slice(0, 16).replace("T", " ")}</span>${one.reason ? html`<p class="why">${one.reason}</p>` : nothing}</li>`)}</ul>`
            : html`<p class="empty">What people decide about this statement is listed here, with their reasons.</p>`}</details>
      </div>`;
  }

  private words(item: Item, look: string): TemplateResult | typeof nothing {
    const evidence = item.statement.evidence;
    if (!evidence) return nothing;
    const around = item.sentence ?? { before: "", quote: evidence.quote, after: "" };
    return html`<p class="quote big">${around.before}<span class=${look}><span class="link">${around.quote}</span></span>${around.after}</p>
      <p class="small faint">${item.source ?? "A text"}${item.seen > 1 ? ` · seen ${item.seen} times` : ""}
        ${item.document ? html` · <a href=${`#/text/${item.document.split("/").pop()}`}>whole text</a>` : nothing}</p>`;
  }

  private bar(item: Item): TemplateResult {
    if (!this.may("review")) return html`<div class="note"><p>You may read the queue. To decide, sign in with a key of the scope “review”.</p></div>`;
    if (item.status !== "open") return html`<div class="bar"><p class="said small soft">This is ${item.status}.</p>${this.undoButton()}</div>`;
    if (this.mode === "reject") {
      return html`<form class="bar" @submit=${(event: Event) => void this.reject(event)}>
        <label class="field grow">Why is it wrong?<input id="reason" required autocomplete="off" .value=${this.reason} @input=${(event: Event) => (this.reason = (event.target as HTMLInputElement).value)} /></label>
        <button class="btn main">Reject</button><button class="btn" type="button" @click=${() => this.turn("look")}>Cancel</button></form>`;
    }
    if (this.mode === "correct") return this.correctionForm(item);
    const why = refusal(item);
    return html`<div class="bar">
      <button class="btn ${why ? "main" : ""}" @click=${() => this.turn("correct")}>Correct <kbd>C</kbd></button>
      <button class="btn ${why ? "" : "main"}" aria-disabled=${why ? "true" : nothing} aria-describedby=${why ? "why-not" : nothing} @click=${() => void this.accept()}>Accept <kbd>A</kbd></button>
      <button class="btn" @click=${() => this.turn("reject")}>Reject <kbd>R</kbd></button>
      ${why ? html`<p class="small soft said" id="why-not">${why}</p>` : nothing} ${this.undoButton()}
      ${this.foreseen(item)}
    </div>`;
  }

  /** What the decisions would do, before one is made. */
  private foreseen(item: Item): TemplateResult | typeof nothing {
    const { accept, reject } = this.effects;
    const parts = [
      accept && !accept.refused.length ? `Accept: ${item.accepted ? "it stays in the graph" : accept.added.length === 1 ? "it enters the graph" : `${accept.added.length} statements enter`}. ${consequences(accept)}` : "",
      reject ? `Reject: ${item.accepted ? "it leaves the graph" : "it stays out, whatever text says it again"}. ${consequences(reject)}` : "",
    ].filter(Boolean);
    return parts.length ? html`<p class="small faint foreseen">${parts.join(" ")}</p>` : nothing;
  }

  /** Which entity is meant: one of the known ones, or a new one. */
  private choiceList(item: Item): TemplateResult | typeof nothing {
    if (!item.choices?.length || !this.decidable()) return nothing;
    const asked = this.unanswered(item);
    const option = (choice: Choice, iri: string | null, label: string, words: TemplateResult, key: number): TemplateResult => html`<li class="two"><span>${words}</span>
      <button class="btn low" aria-label=${`This one: ${label}`} aria-pressed=${this.chosen.has(choice.entity) && this.chosen.get(choice.entity) === iri ? "true" : "false"}
        @click=${() => void this.choose(item, choice, iri)}>This one ${choice === asked && key < 10 ? html`<kbd>${key}</kbd>` : nothing}</button></li>`;
    return html`${item.choices.map(
      (choice) => html`<section class="card"><header><h2>Which of these is “${choice.name}”?</h2></header><ul class="items">
        ${choice.candidates.map((one, at) => option(choice, one.iri, one.label, html`<a href=${entityAddress(one.iri)}>${visible(one.label)}</a> <span class="small faint">${one.classes[0] ? nameOf(one.classes[0]) : ""}</span>`, at + 1))}
        ${option(choice, null, "a new one", html`A new one, that the graph does not know yet`, 0)}</ul></section>`,
    )}`;
  }

  /** Decide once all questions of an item are answered. */
  private async choose(item: Item, choice: Choice, iri: string | null): Promise<void> {
    this.chosen.set(choice.entity, iri);
    this.requestUpdate();
    if (item.choices!.every((one) => this.chosen.has(one.entity))) {
      await this.decide("accept", { entities: Object.fromEntries(this.chosen) }, "Accepted with your answer");
      // Refused: the questions are asked again.
      if (this.current === item) this.chosen.clear();
      this.requestUpdate();
    }
  }

  private suggestionList(item: Item): TemplateResult | typeof nothing {
    if (!this.suggestions.length) return nothing;
    return html`<section class="card"><header><h2>Would be accepted instead</h2></header><ul class="items">${this.suggestions.map((one, at) => html`<li class="two">
      <span>${statement(one.statement)} <span class="small faint">${CHANGED[one.changes] ?? one.changes}</span></span>
      ${this.decidable() ? html`<button class="btn low" @click=${() => void this.take(one)}>Accept this ${item.choices?.length ? nothing : html`<kbd>${at + 1}</kbd>`}</button>` : nothing}</li>`)}</ul></section>`;
  }

  private undoButton(): TemplateResult | typeof nothing {
    return this.done.length ? html`<button class="btn low push" @click=${() => void this.undo()}>Undo <kbd>U</kbd></button>` : nothing;
  }

  private correctionForm(item: Item): TemplateResult {
    const field = (of: "property" | "object", label: string): TemplateResult => html`<label class="field grow">${label}
      <input id=${of} required autocomplete="off" list="l-${of}" .value=${this.correction[of]} @input=${(event: Event) => void this.complete(of, (event.target as HTMLInputElement).value)} /></label>
      <datalist id="l-${of}">${this.offered[of].map((one) => html`<option value=${visible(one.label)}></option>`)}</datalist>`;
    return html`<form class="bar" @submit=${(event: Event) => void this.correct(event)}>
      <p class="said small soft"><b>${item.names.subject ?? nameOf(item.statement.subject)}</b> … what does the text say of it?</p>
      ${field("property", "Relation")} ${field("object", item.statement.object.type === "uri" ? "To what" : "Value")}
      <button class="btn main">Accept corrected</button><button class="btn" type="button" @click=${() => this.turn("look")}>Cancel</button></form>`;
  }

  private similar(item: Item): TemplateResult {
    const found = Object.values(item.similar ?? {}).flat().slice(0, 5);
    return html`<section class="card"><header><h2>Similar names</h2></header>
      ${found.length
        ? html`<table class="list"><tbody>${found.map((one) => html`<tr><td><a href=${entityAddress(one.iri)}>${visible(one.label)}</a></td><td class="soft">${one.classes[0] ? nameOf(one.classes[0]) : ""}</td><td class="right">${one.score.toFixed(2)}</td></tr>`)}</tbody></table>`
        : html`<p class="empty">${item.similar ? "The graph has no name like these." : "Looking for similar names…"}</p>`}</section>`;
  }
}

/** The class and the word of a verdict. */
function verdict(item: Item): [string, string] {
  if (item.status === "accepted") return ["ok", "Accepted"];
  if (item.status === "rejected") return ["no", "Rejected"];
  if (item.status === "superseded") return ["ok", "Came again and conformed"];
  return item.accepted ? ["warn", "To look at"] : ["no", "Refused"];
}

/** Why an item cannot be accepted as it is; empty when it can. */
function refusal(item: Item): string {
  if (item.choices?.length) return "Say first which one the text means.";
  const shape = item.violations.some((one) => one.severity === "Violation" && !one.component.startsWith(SYSTEM));
  return shape && !item.accepted ? "Cannot be accepted as it is: a shape refuses it." : "";
}

function remember(item: Item): void {
  for (const [iri, name] of Object.entries(item.labels)) if (iri !== TYPE && iri !== LABEL) note(iri, name);
}

/** What a decision does beside what it is about. */
function consequences(of: Decided | null | undefined): string {
  if (!of) return "";
  const many = (count: number, one: string, more: string): string => (count ? `${count === 1 ? one : `${count} ${more}`}.` : "");
  return [many(of.fallen.length, "Another statement goes to review", "others go to review"), many(of.revived.length, "Another statement comes in", "others come in")].filter(Boolean).join(" ");
}

function chosen(offered: Completion[], words: string): string | undefined {
  const wanted = words.trim().toLowerCase();
  return offered.find((one) => one.label.toLowerCase() === wanted)?.iri;
}

function cleaned(of: Statement): Statement {
  const { subject, predicate, object, evidence, confidence } = of;
  return { subject, predicate, object, evidence, confidence };
}

customElements.define("ukg-review", ReviewScreen);
