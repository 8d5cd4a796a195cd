// The page: header, navigation, sign-in, and the screen that the address names.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { ask, inWords, key, Problem, type Access } from "./api";
import { forget } from "./names";
import { arrived, type Screen } from "./screen";
import "./ask";

interface Entry {
  name: string;
  title: string;
  late?: boolean;
  /** The entry of the navigation that it belongs to. */
  under?: string;
  load: () => Promise<unknown>;
}

const SCREENS: Entry[] = [
  { name: "ask", title: "Ask", load: async () => undefined },
  { name: "text", title: "Text", load: () => import("./text") },
  { name: "review", title: "Review", load: () => import("./review") },
  { name: "gaps", title: "Gaps", under: "review", load: () => import("./gaps") },
  { name: "explore", title: "Explore", load: () => import("./explore") },
  { name: "query", title: "Query", load: () => import("./query") },
  { name: "model", title: "Model", late: true, load: () => import("./model") },
  { name: "status", title: "Status", late: true, load: () => import("./status") },
];

class App extends LitElement {
  private entry = SCREENS[0]!;
  private parameters = new URLSearchParams();
  private access: Access = { key: null, scopes: ["read"] };
  private waiting: number | null = null;
  private element: Screen | null = null;
  private problem = "";
  private lost = false;
  private signingIn = "";
  private known = false;
  /** Whether the server said what may be done here. */
  private learned = false;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const theme = new URLSearchParams(location.search).get("theme") ?? localStorage.getItem("urbankg.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
    addEventListener("hashchange", () => void this.open(true));
    addEventListener("keydown", (event) => this.pressed(event));
    addEventListener("urbankg-review", () => void this.count());
    void this.start();
  }

  private async start(): Promise<void> {
    // A question needs no more than the screen; the others show what the scopes allow.
    const access = this.learnAccess();
    this.known = !/^#\/(?!ask)/.test(location.hash);
    await Promise.all([this.open(false), access]);
    if (this.element) this.element.access = this.access;
    this.requestUpdate();
    void this.count();
  }

  private async learnAccess(): Promise<void> {
    try {
      this.access = (await ask("access")) as Access;
      this.learned = true;
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        key.set(null);
        this.problem = "The key of this tab is no longer valid. Sign in again.";
      } else this.problem = inWords(error);
    }
    this.known = true;
  }

  /** How many statements wait for a person. */
  private async count(): Promise<void> {
    try {
      this.waiting = (await ask("review?limit=1")).total;
    } catch {
      this.waiting = null;
    }
    this.requestUpdate();
  }

  private async open(moved: boolean): Promise<void> {
    const hash = location.hash;
    const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
    const [name = "", ...rest] = path.split("/");
    const found = SCREENS.find((one) => one.name === name);
    const entry = found ?? SCREENS[0]!;
    try {
      await entry.load();
    } catch {
      this.problem = "A part of the page could not be loaded. Reload it.";
    }
    // The reader has gone on meanwhile, and that place is opened next.
    if (hash !== location.hash) return;
    const before = this.entry;
    this.entry = entry;
    this.lost = name !== "" && !found;
    this.parameters = new URLSearchParams(query);
    if (rest.length) this.parameters.set("id", decodeURIComponent(rest.join("/")));
    document.title = `${this.entry.title} · UrbanKG`;
    if (!this.element || before !== this.entry) {
      this.element = document.createElement(`ukg-${this.entry.name}`) as Screen;
    }
    this.element.access = this.access;
    this.element.parameters = this.parameters;
    this.requestUpdate();
    await this.updateComplete;
    arrived(hash);
    if (moved && before !== this.entry) {
      scrollTo(0, 0);
      const main = this.querySelector<HTMLElement>("main")!;
      await this.element.updateComplete;
      if (!main.contains(document.activeElement)) main.focus({ preventScroll: true });
    }
  }

  private pressed(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const own = this.querySelector<HTMLInputElement>("main input[type=search], main .ask input");
      if (this.entry.name === "explore") own?.focus();
      else location.hash = "#/explore";
    }
  }

  private theme(): void {
    const root = document.documentElement;
    const now = root.dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset["theme"] = now === "dark" ? "light" : "dark";
    localStorage.setItem("urbankg.theme", root.dataset["theme"]);
  }

  private dialog(): HTMLDialogElement {
    return this.querySelector("dialog")!;
  }

  private async signIn(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const input = this.querySelector<HTMLInputElement>("#key")!;
    key.set(input.value.trim());
    try {
      this.access = (await ask("access")) as Access;
      this.learned = true;
      input.value = "";
      this.signingIn = "";
      this.problem = "";
      this.dialog().close();
      await this.changed();
    } catch (error) {
      key.set(null);
      this.signingIn = error instanceof Problem ? error.message : inWords(error);
      this.requestUpdate();
    }
  }

  private async signOut(): Promise<void> {
    key.set(null);
    await this.learnAccess();
    await this.changed();
  }

  private async changed(): Promise<void> {
    forget();
    this.element = null;
    await this.open(false);
    void this.count();
  }

  protected override render(): unknown {
    const signed = this.access.key !== null;
    return html`
      <a class="skip" href="#main" @click=${(event: Event) => this.skip(event)}>Skip to content</a>
      <header class="top">
        <a class="brand" href="#/ask">${mark}UrbanKG</a>
        <nav class="nav" aria-label="Main">
          ${SCREENS.filter((one) => !one.under).map(
            (one) => html`<a href="#/${one.name}" class=${one.late ? "late" : nothing} aria-current=${one === this.entry || one.name === this.entry.under ? "page" : nothing}
              ><span>${one.title}${one.name === "review" && this.waiting ? html` <span class="count">${this.waiting}</span>` : nothing}</span></a
            >`,
          )}
        </nav>
        <div class="tools">
          <form class="find" role="search" @submit=${(event: Event) => this.find(event)}>
            <label class="hide" for="find">Find a place or name</label>
            <input id="find" placeholder="Find a place or name" autocomplete="off" /><kbd>/</kbd>
          </form>
          <a class="icon late-tool" href="#/model" aria-label="Model">${modelIcon}</a>
          <a class="icon late-tool" href="#/status" aria-label="Status">${statusIcon}</a>
          <button class="icon" aria-label="Light or dark" @click=${() => this.theme()}>${themeIcon}</button>
          ${signed
            ? html`<button class="btn low" @click=${() => void this.signOut()}>Sign out ${this.access.key}</button>`
            : html`<button class="btn low" @click=${() => this.dialog().showModal()}>Sign in</button>`}
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${this.problem ? html`<div class="note warn" role="alert"><p>${this.problem}</p></div>` : nothing}
        ${this.lost ? html`<div class="note warn" role="alert"><p>This address leads to no part of the page. Here you can ask.</p></div>` : nothing}
        ${this.shut() ? this.closed() : this.known ? this.element : nothing}
      </main>
      <dialog aria-labelledby="sign">
        <form class="stack" @submit=${(event: SubmitEvent) => void this.signIn(event)}>
          <h2 id="sign">Sign in with a key</h2>
          <p class="small soft">The key stays in this tab and is gone when you close it. Who runs the server makes keys.</p>
          <label class="field">Key<input id="key" type="password" autocomplete="off" required spellcheck="false" /></label>
          ${this.signingIn ? html`<p class="v no" role="alert">${this.signingIn}</p>` : nothing}
          <div class="row"><button class="btn main">Sign in</button><button class="btn" type="button" @click=${() => this.dialog().close()}>Cancel</button></div>
        </form>
      </dialog>`;
  }

  /** Whether nothing of this screen may be read; texts may be added without reading. */
  private shut(): boolean {
    return this.learned && !this.access.scopes.includes("read") && !(this.entry.name === "text" && this.access.scopes.includes("extract"));
  }

  private closed(): TemplateResult {
    const { key: name, scopes } = this.access;
    return html`<section class="start stack"><h1>This graph is not open to all</h1>
      <p class="soft">${name === null ? "To read it, sign in with a key of the scope “read”. Who runs the server makes keys." : `The key ${name} does not have the scope “read”. Sign in with one that has.`}</p>
      <div class="row">${name === null ? html`<button class="btn main" @click=${() => this.dialog().showModal()}>Sign in</button>` : nothing}
        ${scopes.includes("extract") ? html`<a href="#/text">Add a text</a>` : nothing}</div></section>`;
  }

  private find(event: Event): void {
    event.preventDefault();
    const input = this.querySelector<HTMLInputElement>("#find")!;
    if (input.value.trim()) location.hash = `#/explore?q=${encodeURIComponent(input.value.trim())}`;
  }

  private skip(event: Event): void {
    event.preventDefault();
    this.querySelector<HTMLElement>("main")!.focus();
  }
}

const mark = html`<svg width="22" height="22" viewBox="0 0 22 22" fill="none" stroke="currentColor" stroke-width="1.8" aria-hidden="true"><path d="M6.5 7.5 15 5M6.8 9l3.6 6.5M15.6 6.8 12 15" /><circle cx="5" cy="8" r="2.6" fill="currentColor" /><circle cx="16.8" cy="4.6" r="2.2" /><circle cx="11.2" cy="17" r="2.6" /></svg>`;
const themeIcon = html`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="6.5" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M9 2.5a6.5 6.5 0 0 1 0 13z" fill="currentColor" /></svg>`;
const modelIcon = html`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M4 3v9.5a1.5 1.5 0 0 0 1.5 1.5H9M4 7h5" /><path d="M12 7h3M12 14h3" /></svg>`;
const statusIcon = html`<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d="M3 15V9M9 15V3M15 15V7" /></svg>`;

customElements.define("ukg-app", App);
