// What every screen has: its place in the page, its parameters, and words for what goes wrong.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { address, ask, Problem, type Access, type Term } from "./api";
import { inWords as problemInWords } from "./api";
import { inWords, isIri, kindOf, nameOf, visible } from "./names";

export interface Statement {
  subject: string;
  predicate: string;
  object: Term;
  evidence: { start: number; end: number; quote: string } | null;
  confidence: number | null;
}

export interface Violation {
  message: string;
  shape: string | null;
  component: string;
  severity: string;
}

/** The address whose screen is shown; another one in the address bar is still being opened. */
let shown = "";

/** Note that the screen of an address is shown. */
export function arrived(address: string): void {
  shown = address;
}

export abstract class Screen extends LitElement {
  static override properties = {
    parameters: { attribute: false },
    access: { attribute: false },
  };
  /** From the address, after the name of the screen: `#/review/ID?shape=...`. */
  declare parameters: URLSearchParams;
  declare access: Access;
  /** What went wrong last, in words. */
  problem = "";
  /** What is being done, where it takes longer. */
  working = "";
  #words = "";
  #timer?: ReturnType<typeof setTimeout>;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  may(scope: string): boolean {
    return this.access.scopes.includes(scope);
  }

  /** Put what is shown into the address, unless the reader has gone on to another place meanwhile. */
  protected addressed(path: string): void {
    if (!this.isConnected || location.hash !== shown) return;
    history.replaceState(null, "", `#/${path}`);
    shown = location.hash;
  }

  /** Do something that may fail; says so after half a second, and what went wrong. */
  protected async run<T>(words: string, work: () => Promise<T>): Promise<T | undefined> {
    this.problem = "";
    this.#words = words;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.working = this.#words;
      this.requestUpdate();
    }, 500);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError")) this.problem = problemInWords(error);
      return undefined;
    } finally {
      clearTimeout(this.#timer);
      this.working = "";
      this.requestUpdate();
    }
  }

  /** What the work has come to. */
  protected reached(words: string): void {
    this.#words = words;
    if (!this.working) return;
    this.working = words;
    this.requestUpdate();
  }

  /** What is under way and what went wrong; read out when it changes. */
  protected state(): TemplateResult {
    return html`<div class="state" aria-live="polite">
      ${this.working ? html`<p class="soft working" role="status">${this.working}</p>` : nothing}
      ${this.problem ? html`<div class="note no"><p class="v">That did not work</p><p>${this.problem}</p></div>` : nothing}
    </div>`;
  }
}

/** Where the page shows an entity. */
export function entityAddress(iri: string): string {
  return `#/explore?iri=${encodeURIComponent(iri)}`;
}

/** A term, linked where the page can show it. */
export function term(value: Term, name?: string): TemplateResult {
  const words = visible(name ?? inWords(value));
  if (value.type === "uri" && isIri(value.value)) return html`<a href=${entityAddress(value.value)}>${words}</a>`;
  return html`${words}`;
}

/** A statement in labels. */
export function statement(of: Statement, names: { subject?: string | null; object?: string | null } = {}): TemplateResult {
  const subject = names.subject ?? nameOf(of.subject);
  const object = names.object ?? inWords(of.object);
  return html`<span class="st"><b>${visible(subject)}</b> <span>${nameOf(of.predicate)}</span> <b>${visible(object)}</b></span>`;
}

/** A triple that a question missed, with a question mark for what is missing. */
export function triple(of: { subject: string; property: string; object: string }): TemplateResult {
  const end = (words: string): TemplateResult => (words === "?" ? html`<b class="missing">?</b>` : html`<b>${words}</b>`);
  const parts = of.property === "?" && of.object === "?" ? [end(of.subject)] : [end(of.subject), html`<span>${of.property}</span>`, end(of.object)];
  return html`<span class="st">${parts.map((one) => html`${one} `)}</span>`;
}

/** A dot in the color of a kind. */
export function dot(classes: Iterable<string>): TemplateResult {
  return html`<span class="k-${kindOf(classes)}"><span class="dot"></span></span>`;
}

/** A message of the gate without addresses: what stands between angle brackets is named. */
export function plain(message: string): string {
  return message
    .replace(/\s*\((?:POST|GET|PUT|DELETE) \/[^)]*\)/g, "")
    .replace(/\s*<([a-z][a-z0-9+.-]*:[^\s<>]*)>/gi, (_, iri: string, at: number) =>
      message.slice(0, at).endsWith(nameOf(iri)) ? "" : ` “${nameOf(iri)}”`,
    );
}

export interface Completion {
  iri: string;
  label: string;
  kind: string;
  classes: string[];
}

/** What words may mean, the best match first. Throws `Problem`. */
export async function meanings(text: string, kind?: "entity" | "class" | "property", limit = 12): Promise<Completion[]> {
  return (await ask(address("suggest", { text: text.slice(0, 200), kind, limit }))).suggestions as Completion[];
}

/** The same beside what is written; empty where it cannot be asked. */
export function completions(text: string, kind?: "entity" | "class" | "property", limit = 12): Promise<Completion[]> {
  return meanings(text, kind, limit).catch(() => []);
}

/** The problem of a refused decision, with the shapes' reasons. */
export function withReasons(error: unknown): unknown {
  if (!(error instanceof Problem) || !Array.isArray(error.body["refused"])) return error;
  const reasons = (error.body["refused"] as { violations: Violation[] }[]).flatMap((one) => one.violations.map((two) => plain(two.message)));
  return new Problem(error.status, [error.message.replace(" Fix it and send it as 'statements'.", " Correct it."), ...new Set(reasons)].join(" "));
}
