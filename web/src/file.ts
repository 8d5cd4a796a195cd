// A file of the ontology or of the shapes: edited with a dry run, compared with its earlier versions, returned to one.

import { html, nothing, type TemplateResult } from "lit";
import { address, ask, Problem, text } from "./api";
import { difference, type Line } from "./difference";
import { learn, nameOf } from "./names";
import { entityAddress, plain, Screen, type Violation } from "./screen";

export interface File {
  kind: "ontologies" | "shapes";
  name: string;
}

export interface Finding {
  level: string;
  message: string;
  mend: string;
  file?: string;
  line: number | null;
}

export interface Check {
  errors: number;
  warnings: number;
  findings: Finding[];
}

interface Effects {
  switched: boolean;
  check: Check;
  impact: null | {
    failing: number;
    passing: number;
    mended: number;
    shapes: { shape: string; change: string; tested: number; failing: number; failing_examples: (Violation & { focus: { value: string } })[] }[];
  };
}

interface Version {
  kind: string;
  version: string;
  files: string[];
  first_in_force: string;
}

/** What a person chose on this machine, until it is tested and put in force. */
export const chosen: { name: string; content: string } = { name: "", content: "" };

class FileView extends Screen {
  static override properties = { ...Screen.properties, file: { attribute: false } };
  declare file: File;
  private content = "";
  private stored = "";
  private isNew = false;
  private effects: Effects | null = null;
  private tested = "";
  private versions: Version[] = [];
  private compared: { version: Version; content: string; lines: Line[] } | null = null;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("file")) void this.open();
  }

  private async open(): Promise<void> {
    const { kind, name } = this.file;
    this.effects = this.compared = null;
    const uploaded = chosen.name === name ? chosen.content : null;
    chosen.name = "";
    const found = await this.run("Reading the file…", () =>
      text(`${kind}/${encodeURIComponent(name)}`, { accept: "*/*" }).catch((error: unknown) => {
        if (error instanceof Problem && error.status === 404 && uploaded !== null) return null;
        throw error;
      }),
    );
    this.isNew = found === null;
    this.stored = found ?? "";
    this.content = uploaded ?? this.stored;
    await this.history();
  }

  private async history(): Promise<void> {
    const rules = await ask("rules").catch(() => ({ history: [] }));
    const kind = this.file.kind === "shapes" ? "shapes" : "ontology";
    this.versions = (rules.history as Version[]).filter((one) => one.kind === kind && one.files.includes(this.file.name));
    this.requestUpdate();
  }

  private async put(dryRun: boolean): Promise<void> {
    const { kind, name } = this.file;
    const path = address(`${kind}/${encodeURIComponent(name)}`, { "dry-run": dryRun ? "true" : undefined });
    const content = this.content;
    const found = (await this.run(dryRun ? "Testing against the graph…" : "Putting it in force…", () => ask(path, { method: "PUT", turtle: content }).catch(refused))) as Effects | undefined;
    if (!found) return;
    this.effects = found;
    this.compared = null;
    this.tested = content;
    if (found.switched) {
      this.stored = content;
      this.isNew = false;
      this.dispatchEvent(new Event("switched"));
      await this.history();
    }
    await learn((found.impact?.shapes ?? []).flatMap((one) => one.failing_examples.map((two) => two.focus.value))).catch(() => undefined);
    this.requestUpdate();
  }

  private async compare(version: Version): Promise<void> {
    const content = await this.run("Reading the version…", () => text(`rules/${version.kind}/${version.version}/${encodeURIComponent(this.file.name)}`, { accept: "*/*" }));
    if (content === undefined) return;
    this.compared = { version, content, lines: difference(content, this.content) };
    this.requestUpdate();
  }

  private back(): void {
    this.content = this.compared!.content;
    this.compared = null;
    this.requestUpdate();
    if (this.may("admin") && this.content !== this.stored) void this.put(true);
  }

  private async take(event: Event): Promise<void> {
    const file = (event.target as HTMLInputElement).files?.[0];
    if (!file) return;
    this.content = await file.text();
    this.requestUpdate();
  }

  protected override render(): unknown {
    const may = this.may("admin");
    const isChanged = this.content !== this.stored;
    const sound = this.effects && this.tested === this.content && !this.effects.check.errors;
    return html`${this.state()}<div class="cols"><section class="card"><header><h2>${this.file.name}</h2>${this.isNew ? html`<span class="small faint">new, not in force</span>` : nothing}<a class="push small" href="#/model">Back to the kinds</a></header><div class="in stack">
        <label class="hide" for="turtle">Turtle of ${this.file.name}</label>
        <textarea id="turtle" class="code" rows="28" spellcheck="false" ?readonly=${!may} .value=${this.content} @input=${(event: Event) => this.typed(event)}></textarea>
        ${may
          ? html`<div class="row"><button class="btn ${sound ? "" : "main"}" ?disabled=${!isChanged || this.working !== ""} @click=${() => void this.put(true)}>Test</button>
              <button class="btn ${sound ? "main" : ""}" ?disabled=${!sound || !isChanged || this.working !== ""} @click=${() => void this.put(false)}>Put in force</button>
              <label class="btn low file">Take it from a file<input class="hide" type="file" accept=".ttl,text/turtle" @change=${(event: Event) => void this.take(event)} /></label>
              <span class="small soft">${isChanged ? (sound ? "" : "Test it first: nothing changes.") : "Not changed."}</span></div>`
          : html`<p class="small soft">To edit, sign in with a key of the scope “admin”.</p>`}
      </div></section>
      <section class="gap" aria-live="polite">
        ${this.compared ? this.differences() : this.effects ? this.shown(this.effects) : html`<div class="card"><p class="empty first">Change the file and test it: here you see what would fail and what would pass, before anything is in force.</p></div>`}
        ${this.versions.length ? this.listed() : nothing}</section></div>`;
  }

  private listed(): TemplateResult {
    return html`<div class="card"><header><h2>Versions</h2><span class="small faint">the newest first</span></header><ul class="items">${this.versions.slice(0, 30).map(
      (one) => html`<li class="two"><span><span class="num">${one.first_in_force.slice(0, 16).replace("T", " ")}</span> <span class="small faint">${one.version}</span></span>
        <button class="btn low" @click=${() => void this.compare(one)}>Compare</button></li>`,
    )}</ul></div>`;
  }

  private differences(): TemplateResult {
    const { version, content, lines } = this.compared!;
    const count = (sign: string): number => lines.filter((one) => one.sign === sign).length;
    const when = version.first_in_force.slice(0, 16).replace("T", " ");
    return html`<div class="card"><header><h2>Since ${when}</h2><span class="small faint">${count("+")} ${count("+") === 1 ? "line" : "lines"} added, ${count("-")} removed</span>
        <button class="btn low push" @click=${() => ((this.compared = null), this.requestUpdate())}>Close</button></header>
      ${count("+") + count("-") ? html`<pre class="tall diff" tabindex="0" aria-label="Difference">${lines.map((one) => html`<span class=${one.sign === "+" ? "added" : one.sign === "-" ? "removed" : ""}>${one.sign} ${one.text}\n</span>`)}</pre>` : html`<p class="empty">The text is the same.</p>`}
      ${this.may("admin") && content !== this.content ? html`<div class="row ruled"><button class="btn" @click=${() => this.back()}>Return to this version</button><span class="small soft">It is tested first.</span></div>` : nothing}</div>`;
  }

  private typed(event: Event): void {
    this.content = (event.target as HTMLTextAreaElement).value;
    this.requestUpdate();
  }

  private shown({ switched, check, impact }: Effects): TemplateResult {
    const failing = impact?.failing ?? 0;
    const heading = check.errors
      ? `${check.errors} ${check.errors === 1 ? "error" : "errors"} in the file`
      : switched
        ? "In force now"
        : `${failing} ${failing === 1 ? "statement" : "statements"} would fail`;
    return html`<div><h1 class="mid">${heading}</h1><p class="soft">${switched ? "What is in the graph stays; what comes in is judged by the new rules." : "Dry run: nothing is changed."}${impact?.mended ? ` ${impact.mended} would be right again.` : ""}</p></div>
      ${check.findings.length ? html`<div class="card"><header><h2>The file</h2></header>${findings(check.findings.slice(0, 20))}</div>` : nothing}
      ${(impact?.shapes ?? []).map((one) => html`<div class="card"><header><h2>${nameOf(one.shape)}</h2><span class="small faint">${one.change}</span><span class="push small num">${one.failing} of ${one.tested} fail</span></header>
        ${one.tested ? html`<div class="in"><div class="meter" aria-hidden="true">${share("ok", one.tested - one.failing, one.tested)}${share("no", one.failing, one.tested)}</div></div>` : nothing}
        ${one.failing_examples.length ? html`<ul class="items">${one.failing_examples.map((two) => html`<li><a href=${entityAddress(two.focus.value)}>${nameOf(two.focus.value)}</a><p class="why">${plain(two.message)}</p></li>`)}</ul>` : html`<p class="empty">Everything it looks at passes.</p>`}</div>`)}`;
  }
}

/** A part of a bar, in twelfths, since no style is inline. */
function share(look: string, part: number, all: number): TemplateResult | typeof nothing {
  return part ? html`<i class="${look} w${Math.max(1, Math.round((12 * part) / all))}"></i>` : nothing;
}

/** What a check found, with what to do. */
export function findings(found: Finding[]): TemplateResult {
  return html`<ul class="items">${found.map((one) => html`<li><span class="v ${one.level === "ERROR" ? "no" : "warn"}">${one.line ? `Line ${one.line}` : one.level.toLowerCase()}</span>${one.file ? html` <span class="small faint">${one.file}</span>` : nothing}<p>It ${plain(one.message)}</p><p class="why">${one.mend}</p></li>`)}</ul>`;
}

/** What the check found wrong with a file that was refused for it. */
function refused(error: unknown): Effects {
  if (error instanceof Problem && error.body["check"]) return { switched: false, impact: null, check: error.body["check"] };
  throw error;
}

customElements.define("ukg-file", FileView);
