// Text: what a text would add to the graph, first without writing anything; then the commit.

import { html, nothing, type TemplateResult } from "lit";
import { ask, inSteps, rows } from "./api";
import { sampleText } from "./examples";
import { areMany, start } from "./jobs";
import { inWords, isIri, kindOf, learn, nameOf, note, TYPE, visible, vocabulary, type Kind } from "./names";
import { entityAddress, plain, Screen, statement, type Statement, type Violation } from "./screen";

interface Judged {
  statement: Statement;
  violations: Violation[];
}

interface Entity {
  iri: string;
  label: string;
  classes: string[];
  new: boolean;
  mentions: { start: number; end: number }[];
}

interface Outcome {
  id?: string;
  accepted: Statement[];
  rejected: Judged[];
  warnings: Judged[];
  entities: Entity[];
  derived: number;
  revision: number | null;
  usage?: { model_seconds?: number };
  incomplete?: { reason: string; at: number } | null;
}

/** A step of an extraction. */
interface Part {
  action: string;
  done?: number;
  of?: number;
  triples?: number;
  candidates?: number;
  entities?: number;
}

interface Shown {
  look: "ok" | "warn" | "no";
  statement: Statement;
  reasons: string[];
}

const KIND_WORDS: Record<Kind, string> = {
  area: "area",
  built: "place",
  way: "transport",
  water: "water",
  org: "organization",
  person: "person",
  value: "other",
};

class TextScreen extends Screen {
  private text = "";
  private source = "";
  private read = "";
  private outcome: Outcome | null = null;
  private committed = false;
  private seconds = 0;
  private focused: Shown | null = null;
  private names = new Map<string, string>();
  private texts: { id: string; source: string | null; characters: number | null; statements: number; open: number }[] = [];
  private stored: string | null = null;
  private sample = "";
  private parts: { done: number; of: number; triples: number } | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.list();
    sampleText().then((found) => {
      this.sample = found;
      this.requestUpdate();
    }, () => undefined);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("parameters")) return;
    const id = this.parameters.get("id");
    if (id && id !== this.stored) void this.openStored(id);
    if (!id && this.stored) this.again();
  }

  private async list(): Promise<void> {
    const found = await ask("documents?limit=8").catch(() => ({ documents: [] }));
    this.texts = found.documents;
    this.requestUpdate();
  }

  /** A text that is in the graph already, with what it supports. */
  private async openStored(id: string): Promise<void> {
    this.stored = id;
    const found = await this.run("Reading the text…", async () => {
      await vocabulary();
      return ask(`documents/${encodeURIComponent(id)}?limit=1000&state=any`);
    });
    if (!found) return;
    const told = found.statements as (Statement & { state: string; violations?: Violation[] })[];
    const waiting = told.filter((one) => one.state !== "accepted").map((one) => ({ statement: one, violations: one.violations ?? [] }));
    const isWarned = (one: Judged): boolean => one.violations.length > 0 && one.violations.every(({ severity }) => severity === "Warning");
    this.outcome = {
      accepted: told.filter((one) => one.state === "accepted"),
      rejected: waiting.filter((one) => !isWarned(one)),
      warnings: waiting.filter(isWarned),
      entities: [],
      derived: 0,
      revision: null,
    };
    this.text = this.read = found.text ?? "";
    this.source = found.source ?? "";
    this.committed = true;
    await this.name();
    this.outcome.entities = await this.mentioned(told).catch(() => []);
    this.requestUpdate();
  }

  /** What a stored text's statements are about, where it is named in the text. */
  private async mentioned(told: Statement[]): Promise<Entity[]> {
    const iris = [...new Set(told.flatMap((one) => [one.subject, one.object.type === "uri" && one.predicate !== TYPE ? one.object.value : ""]))].filter(isIri);
    const classes = new Map<string, string[]>();
    for (const row of await rows(`SELECT ?thing ?class { VALUES ?thing { ${iris.map((iri) => `<${iri}>`).join(" ")} } ?thing a ?class }`)) {
      const thing = row["thing"]!.value;
      classes.set(thing, [...(classes.get(thing) ?? []), row["class"]!.value]);
    }
    return iris.filter((iri) => classes.has(iri)).flatMap((iri) => {
      const label = nameOf(iri);
      const mentions = occurrences(this.read, label);
      return mentions.length ? [{ iri, label, classes: classes.get(iri)!, new: false, mentions }] : [];
    });
  }

  private async name(): Promise<void> {
    const outcome = this.outcome!;
    this.names.clear();
    for (const one of outcome.entities) this.names.set(one.iri, one.label);
    for (const one of statements(outcome)) {
      if (one.statement.predicate.endsWith("#label") && one.statement.object.type === "literal") this.names.set(one.statement.subject, one.statement.object.value);
    }
    for (const [iri, name] of this.names) note(iri, name);
    await learn(statements(outcome).flatMap(({ statement: one }) => [one.subject, one.predicate, one.object.type === "uri" ? one.object.value : ""])).catch(() => undefined);
    this.requestUpdate();
  }

  private async submit(commit: boolean): Promise<void> {
    if (!this.text.trim() && !commit) return;
    // What was shown is committed: the model is not asked again.
    const shown = commit ? this.outcome?.id : undefined;
    const begun = performance.now();
    const source = this.source.trim();
    const outcome = (await this.run(commit ? "Judging again and committing…" : "Reading the text…", async () => {
      await vocabulary();
      this.parts = null;
      const body = shown ? { dry_run: shown } : { text: this.text, commit, ...(source ? { source } : {}) };
      return inSteps("extractions", body, (step: Part) => this.hear(step));
    })) as Outcome | undefined;
    if (!outcome) return;
    this.outcome = outcome;
    if (!shown) this.read = this.text;
    this.committed = commit;
    this.seconds = (performance.now() - begun) / 1000;
    this.focused = null;
    if (commit) {
      dispatchEvent(new Event("urbankg-review"));
      void this.list();
    }
    await this.name();
    await this.updateComplete;
    this.querySelector<HTMLElement>("h1")?.focus();
  }

  /** A part of the text was read, or all are and names are linked. */
  private hear(step: Part): void {
    const found = (this.parts?.triples ?? 0) + (step.triples ?? 0);
    this.parts = step.action === "read" ? { done: step.done!, of: step.of!, triples: found } : this.parts;
    this.reached(step.action === "read" ? `${step.done} of ${step.of} parts read, ${found} statements found…` : `Judging ${step.candidates} statements about ${step.entities} names…`);
  }

  private again(): void {
    this.outcome = null;
    this.committed = false;
    if (this.stored) {
      this.stored = null;
      this.text = this.source = "";
      if (this.parameters.get("id")) location.hash = "#/text";
    }
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<HTMLTextAreaElement>("#text")?.focus());
  }

  private async drop(files: FileList | null | undefined): Promise<void> {
    const file = files?.[0];
    if (!file) return;
    if (areMany([...files!])) {
      const job = await this.run("Sending the texts…", () => start([...files!]));
      if (job) location.hash = `#/text?job=${job.id}`;
      return;
    }
    const text = await file.text();
    if (text.includes("\u0000") || text.includes("\uFFFD")) {
      this.problem = `“${file.name}” is not text that I can read. Nothing was stored.`;
    } else {
      this.problem = "";
      this.text = text;
      this.source ||= file.name;
    }
    this.requestUpdate();
  }

  protected override state(): TemplateResult {
    const { parts } = this;
    return html`${super.state()}${this.working && parts ? html`<progress max=${parts.of} value=${parts.done} aria-label="Parts of the text read"></progress>` : nothing}`;
  }

  protected override render(): unknown {
    const job = this.parameters.get("job");
    if (job) return html`<ukg-job .job=${job} .may=${this.may("extract")}></ukg-job>`;
    return this.outcome ? this.judged(this.outcome) : this.entry();
  }

  private entry(): TemplateResult {
    if (!this.may("extract")) {
      return html`<section class="stack"><h1>Text to graph</h1><div class="note"><p>To add a text, sign in with a key of the scope “extract”.</p></div>${this.earlier()}</section>`;
    }
    return html`<div class="gap">
      <div><h1>What does a text say?</h1><p class="soft">Paste a text or drop a file. First you see what would be accepted and refused; nothing is stored before you commit.</p></div>
      ${this.state()}
      <form class="card roomy" @submit=${(event: Event) => this.send(event)} @dragover=${(event: Event) => event.preventDefault()}
        @drop=${(event: DragEvent) => (event.preventDefault(), void this.drop(event.dataTransfer?.files))}>
        <div class="in stack">
          <label class="hide" for="text">The text</label>
          <textarea id="text" class="quote" rows="10" required placeholder="Paste a text, or drop files here: texts, JSON lines or CSV" .value=${this.text}
            @input=${(event: Event) => ((this.text = (event.target as HTMLTextAreaElement).value), this.requestUpdate())}
            @keydown=${(event: KeyboardEvent) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void this.submit(false)}></textarea>
          <div class="row sending">
            <label class="field grow">Where it comes from<input id="source" .value=${this.source} autocomplete="off" placeholder="An address or a title" @input=${(event: Event) => (this.source = (event.target as HTMLInputElement).value)} /></label>
            ${this.sample && !this.text ? html`<button class="btn" type="button" @click=${() => this.trySample()}>Try a sample</button>` : nothing}
            <label class="btn file">Choose files<input class="hide" type="file" multiple accept="text/*,.txt,.md,.csv,.json,.jsonl,.ndjson" @change=${(event: Event) => void this.drop((event.target as HTMLInputElement).files)} /></label>
            <button class="btn main" ?disabled=${this.working !== ""}>Read it <kbd class="wide">Ctrl ↵</kbd></button>
          </div>
        </div>
      </form>
      ${this.earlier()}
      <details class="card" @toggle=${() => void import("./relate")}><summary>Compare two geometries <span class="small faint">how one lies to the other</span></summary><div class="in"><ukg-relate></ukg-relate></div></details>
    </div>`;
  }

  private trySample(): void {
    this.text = this.sample;
    this.requestUpdate();
    this.querySelector<HTMLElement>("#text")?.focus();
  }

  private send(event: Event): void {
    event.preventDefault();
    void this.submit(false);
  }

  private earlier(): TemplateResult | typeof nothing {
    if (!this.texts.length) return nothing;
    return html`<section class="card"><header><h2>Texts in the graph</h2></header><div class="wide-table" tabindex="0" role="region" aria-label="Texts in the graph"><table class="list">
      <thead><tr><th>Text</th><th class="right wide">Characters</th><th class="right">Statements</th><th class="right">Waiting</th></tr></thead>
      <tbody>${this.texts.map(
        (one) => html`<tr><td><a href=${`#/text/${one.id}`}>${one.source ?? one.id}</a></td><td class="right wide">${one.characters?.toLocaleString("en") ?? ""}</td><td class="right">${one.statements}</td>
          <td class="right">${one.open ? html`<a href=${`#/review?document=${one.id}`}>${one.open}</a>` : "0"}</td></tr>`,
      )}</tbody></table></div></section>`;
  }

  private judged(outcome: Outcome): TemplateResult {
    const all = statements(outcome);
    const by = (look: string): Shown[] => all.filter((one) => one.look === look);
    const [ok, warn, no] = [by("ok"), by("warn"), by("no")];
    const count = ok.length + warn.length;
    const news = outcome.entities.filter((one) => one.new).length;
    return html`<div class="gap">
      <div class="row spread">
        <div><h1 tabindex="-1">${ok.length} accepted, ${warn.length} to look at, ${no.length} refused</h1>
          <p class="soft">${this.stored ? "This text is in the graph." : this.committed ? "Committed: the accepted statements are in the graph." : "Dry run: nothing is in the graph yet."}
            <span class="faint num small">${this.stored ? this.source : `${outcome.entities.length} entities · ${this.seconds.toFixed(0)} s`}</span></p></div>
        <div class="row push">
          <button class="btn" @click=${() => this.again()}>${this.committed ? "Another text" : "Edit text"}</button>
          ${this.committed
            ? html`<a class="btn" href="#/review${this.stored ? `?document=${this.stored}` : ""}">Open Review</a>`
            : html`<button class="btn main" ?disabled=${this.working !== "" || count + no.length === 0} @click=${() => void this.submit(true)}>Commit ${count} ${count === 1 ? "statement" : "statements"}</button>`}
        </div>
      </div>
      ${this.state()}
      ${outcome.incomplete ? html`<div class="note" role="alert"><p class="v">Not all of the text was read</p><p>${outcome.incomplete.reason}</p>
        <p class="small soft">It stopped at “${[...this.read].slice(outcome.incomplete.at, outcome.incomplete.at + 60).join("")}…”</p></div>` : nothing}
      <div class="cols">
        <section class="stay gap">
          <div class="card"><header><h2>Text</h2><span class="small faint">${this.source}</span></header><div class="in"><p class="quote whole">${this.marked(outcome)}</p></div>
            ${this.legend(outcome)}</div>
          ${outcome.entities.length
            ? html`<div class="card"><header><h2>Names</h2><span class="small faint">${news} new, ${outcome.entities.length - news} known</span></header>
                <table class="list"><tbody>${outcome.entities.map(
                  (one) => html`<tr><td><span class="k-${kindOf(one.classes)}"><span class="dot"></span> ${one.new && !this.committed ? visible(one.label) : html`<a href=${entityAddress(one.iri)}>${visible(one.label)}</a>`}</span></td>
                    <td class="soft">${one.classes[0] ? nameOf(one.classes[0]) : "kind not known"}</td><td class="right small">${one.new ? html`<b>new</b>` : "known"}</td></tr>`,
                )}</tbody></table></div>`
            : nothing}
        </section>
        <section class="gap">
          ${all.length === 0 && !outcome.incomplete ? html`<div class="card"><p class="empty first">The text says nothing that the ontology has words for. Try a text about places, people or events.</p></div>` : nothing}
          ${this.group("no", "Refused", this.committed ? "wait in Review" : "would wait in Review", no)}
          ${this.group("warn", "To look at", "accepted, queued as well", warn)}
          ${this.group("ok", "Accepted", "", ok)}
        </section>
      </div>
    </div>`;
  }

  private group(look: string, word: string, beside: string, shown: Shown[]): TemplateResult | typeof nothing {
    if (!shown.length) return nothing;
    return html`<div class="card"><header><span class="v ${look}">${word}</span><span class="count">${shown.length}</span><span class="small faint push">${beside}</span></header>
      <ul class="items">${shown.map(
        (one) => html`<li class=${look} aria-current=${one.statement === this.focused?.statement ? "true" : nothing} @mouseenter=${() => this.focusOn(one)}>
          <button class="cover" @focus=${() => this.focusOn(one)} @click=${() => this.focusOn(one)}>
            <span class="two"><span>${statement(one.statement, { subject: this.names.get(one.statement.subject), object: one.statement.object.type === "uri" ? this.names.get(one.statement.object.value) : inWords(one.statement.object) })}</span>
            <span class="num small faint">${one.statement.confidence?.toFixed(2) ?? ""}</span></span>
            ${one.reasons.map((reason) => html`<span class="why">${reason}</span>`)}</button></li>`,
      )}</ul></div>`;
  }

  private focusOn(one: Shown): void {
    if (this.focused?.statement === one.statement) return;
    this.focused = one;
    this.requestUpdate();
  }

  private legend(outcome: Outcome): TemplateResult | typeof nothing {
    const kinds = [...new Set(outcome.entities.map((one) => kindOf(one.classes)))];
    if (!kinds.length) return nothing;
    return html`<div class="row small soft ruled">${kinds.map((kind) => html`<span class="k-${kind}"><span class="dot"></span> ${KIND_WORDS[kind]}</span>`)}</div>`;
  }

  /** For each place of the text the statement that rests on it: of several, the one with the fewest words. */
  private aboutEach(outcome: Outcome, length: number): (Shown | undefined)[] {
    const found: (Shown | undefined)[] = new Array(length);
    const size = ({ statement: { evidence } }: Shown): number => (evidence ? evidence.end - evidence.start : 0);
    const long = statements(outcome).filter(size).sort((one, other) => size(other) - size(one));
    for (const one of long) found.fill(one, one.statement.evidence!.start, one.statement.evidence!.end);
    return found;
  }

  /** The text with its names marked, and the words of the statement in focus outlined. */
  private marked(outcome: Outcome): TemplateResult[] {
    const points = [...this.read];
    const kinds: (Kind | undefined)[] = new Array(points.length);
    // The longest names last: a shorter one inside of them does not show.
    const longest = (one: Entity): number => Math.max(0, ...one.mentions.map(({ start, end }) => end - start));
    const entities = [...outcome.entities].sort((one, other) => longest(one) - longest(other));
    for (const one of entities) for (const { start, end } of one.mentions) kinds.fill(kindOf(one.classes), start, end);
    const evidence = this.focused?.statement.evidence;
    const about = this.aboutEach(outcome, points.length);
    const isLinked = (at: number): boolean => !!evidence && at >= evidence.start && at < evidence.end;
    const pieces: { kind: Kind | undefined; linked: boolean; parts: { text: string; about: Shown | undefined }[] }[] = [];
    points.forEach((point, at) => {
      const last = pieces.at(-1);
      const part = { text: point, about: about[at] };
      if (!last || last.kind !== kinds[at] || last.linked !== isLinked(at)) pieces.push({ kind: kinds[at], linked: isLinked(at), parts: [part] });
      else if (last.parts.at(-1)!.about?.statement === part.about?.statement) last.parts.at(-1)!.text += point;
      else last.parts.push(part);
    });
    const one = (piece: (typeof pieces)[number]): TemplateResult => {
      const words = piece.parts.map(({ text, about }) => (about ? html`<span @mouseenter=${() => this.focusOn(about)}>${text}</span>` : html`${text}`));
      return piece.kind ? html`<mark class="k-${piece.kind}">${words}</mark>` : html`${words}`;
    };
    const linked = pieces.filter((piece) => piece.linked);
    const first = pieces.findIndex((piece) => piece.linked);
    if (first < 0) return pieces.map(one);
    return [
      ...pieces.slice(0, first).map(one),
      html`<span class=${this.focused!.look}><span class="link">${linked.map(one)}</span></span>`,
      ...pieces.slice(first + linked.length).map(one),
    ];
  }
}

/** Where words stand in a text, in code points. */
function occurrences(text: string, words: string): { start: number; end: number }[] {
  const found = [];
  for (let at = text.indexOf(words); words && at >= 0; at = text.indexOf(words, at + words.length)) {
    const start = [...text.slice(0, at)].length;
    found.push({ start, end: start + [...words].length });
  }
  return found;
}

/** All statements, the refused ones first; a statement that was warned of stands among those to look at only. */
function statements(outcome: Outcome): Shown[] {
  const name = (of: Statement): string => JSON.stringify([of.subject, of.predicate, of.object]);
  const judged = (look: "no" | "warn", of: Judged[]): Shown[] =>
    of.map(({ statement: one, violations }) => ({ look, statement: one, reasons: [...new Set(violations.map((two) => plain(two.message)))] }));
  const warned = new Set(outcome.warnings.map((one) => name(one.statement)));
  const accepted = outcome.accepted.filter((one) => !warned.has(name(one)));
  accepted.sort((one, other) => Number(one.predicate === TYPE) - Number(other.predicate === TYPE));
  return [...judged("no", outcome.rejected), ...judged("warn", outcome.warnings), ...accepted.map((one): Shown => ({ look: "ok", statement: one, reasons: [] }))];
}

customElements.define("ukg-text", TextScreen);
