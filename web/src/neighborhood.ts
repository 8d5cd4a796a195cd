// The picture of what an entity is related to; it grows by clicking. The same statements are there as a list.

import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import Sigma from "sigma";
import { inWords as problemInWords, rows } from "./api";
import { resolved } from "./map";
import { isIri, kindOf, learn, nameOf, TYPE } from "./names";
import { dot, entityAddress } from "./screen";

const MOST = 14;
const MOST_NODES = 150;
const SYSTEM = ["http://www.opengis.net/", "http://www.w3.org/"];

interface Edge {
  subject: string;
  predicate: string;
  object: string;
}

class Neighborhood extends LitElement {
  static override properties = { iri: {} };
  declare iri: string;
  private edges: Edge[] = [];
  private classes = new Map<string, string[]>();
  private grown = new Set<string>();
  private left = new Map<string, number>();
  private chosen = "";
  private asList = false;
  private problem = "";
  private graph = new Graph({ multi: true });
  private sigma: Sigma | null = null;
  private theme = new MutationObserver(() => this.paint());
  private dark = matchMedia("(prefers-color-scheme: dark)");
  private repaint = (): void => this.paint();

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    this.dark.addEventListener("change", this.repaint);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.theme.disconnect();
    this.dark.removeEventListener("change", this.repaint);
    this.sigma?.kill();
    this.sigma = null;
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("iri")) return;
    this.graph.clear();
    this.edges = [];
    this.grown.clear();
    this.left.clear();
    this.chosen = this.iri;
    void this.grow(this.iri);
  }

  /** Add what is said of something, and what other things say of it. */
  private async grow(iri: string): Promise<void> {
    this.chosen = iri;
    this.requestUpdate();
    if (this.grown.has(iri) || !isIri(iri) || this.graph.order >= MOST_NODES) return;
    this.grown.add(iri);
    try {
      const others = SYSTEM.map((start) => `!STRSTARTS(STR(?p), "${start}")`).join(" && ");
      const found = await rows(`SELECT ?s ?p ?o WHERE { { BIND(<${iri}> AS ?s) <${iri}> ?p ?o FILTER(isIRI(?o) && ${others}) }
        UNION { BIND(<${iri}> AS ?o) ?s ?p <${iri}> FILTER(isIRI(?s) && ${others}) } } LIMIT 400`);
      const edges = found.map((row): Edge => ({ subject: row["s"]!.value, predicate: row["p"]!.value, object: row["o"]!.value }));
      const fresh = edges.filter((one) => !this.edges.some((other) => same(one, other)) && one.predicate !== TYPE);
      const shown = spread(fresh, iri).slice(0, MOST);
      this.left.set(iri, fresh.length - shown.length);
      this.edges.push(...shown);
      const things = [...new Set([iri, ...shown.flatMap((one) => [one.subject, one.object])])].filter(isIri);
      await learn([...things, ...shown.map((one) => one.predicate)]);
      const kinds = await rows(`SELECT ?x ?class WHERE { VALUES ?x { ${things.map((one) => `<${one}>`).join(" ")} } ?x a ?class }`);
      for (const row of kinds) this.classes.set(row["x"]!.value, [...(this.classes.get(row["x"]!.value) ?? []), row["class"]!.value]);
      this.join(iri, shown);
    } catch (error) {
      this.problem = problemInWords(error);
    }
    this.requestUpdate();
  }

  /** New things stand around the one that was clicked, then all move apart. */
  private join(iri: string, edges: Edge[]): void {
    const add = (name: string, x: number, y: number): void => {
      if (!this.graph.hasNode(name)) this.graph.addNode(name, { x, y, label: nameOf(name), size: name === this.iri ? 12 : 8 });
    };
    add(iri, 0, 0);
    const { x, y } = this.graph.getNodeAttributes(iri) as { x: number; y: number };
    edges.forEach((edge, at) => {
      const angle = (2 * Math.PI * at) / edges.length;
      add(edge.subject === iri ? edge.object : edge.subject, x + Math.cos(angle), y + Math.sin(angle));
      this.graph.addEdge(edge.subject, edge.object, { label: nameOf(edge.predicate), size: 1.5, type: "arrow" });
    });
    forceAtlas2.assign(this.graph, { iterations: 200, settings: { ...forceAtlas2.inferSettings(this.graph), adjustSizes: true, gravity: 0.6, scalingRatio: 12 } });
    this.upright();
    this.paint();
  }

  /** Names are written to the right of things, so the picture is turned until it is as narrow as can be. */
  private upright(): void {
    const places = this.graph.mapNodes((node, { x, y }) => ({ node, x: x as number, y: y as number }));
    const mean = (of: (one: (typeof places)[number]) => number): number => places.reduce((sum, one) => sum + of(one), 0) / places.length;
    const [mx, my] = [mean((one) => one.x), mean((one) => one.y)];
    const [xx, yy, xy] = [mean((one) => (one.x - mx) ** 2), mean((one) => (one.y - my) ** 2), mean((one) => (one.x - mx) * (one.y - my))];
    // The longer axis of what they cover becomes the vertical one.
    const angle = Math.PI / 2 - Math.atan2(2 * xy, xx - yy) / 2;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    for (const { node, x, y } of places) this.graph.mergeNodeAttributes(node, { x: (x - mx) * cos - (y - my) * sin, y: (x - mx) * sin + (y - my) * cos });
  }

  protected override updated(): void {
    const frame = this.querySelector<HTMLElement>(".network");
    if (!frame) {
      this.sigma?.kill();
      this.sigma = null;
    } else if (!this.sigma && this.graph.order) this.draw(frame);
  }

  private draw(frame: HTMLElement): void {
    try {
      this.sigma = new Sigma(this.graph, frame, {
        renderEdgeLabels: true,
        defaultEdgeType: "arrow",
        labelFont: getComputedStyle(this).fontFamily,
        labelSize: 13,
        edgeLabelSize: 11,
        labelRenderedSizeThreshold: 0,
        labelDensity: 4,
        stagePadding: 60,
        zIndex: true,
        defaultDrawNodeHover: () => undefined,
      });
    } catch {
      // No WebGL here: the list says the same.
      this.asList = true;
      this.requestUpdate();
      return;
    }
    this.sigma.on("clickNode", ({ node }) => void this.grow(node));
    this.sigma.on("enterNode", () => (frame.style.cursor = "pointer"));
    this.sigma.on("leaveNode", () => (frame.style.cursor = ""));
    // What hardware a canvas is drawn with is no concern of who reads the page out.
    for (const canvas of frame.querySelectorAll("canvas")) canvas.setAttribute("aria-hidden", "true");
    this.paint();
  }

  /** Colors of the kinds and the theme. */
  private paint(): void {
    const color = (name: string): string => resolved(`var(${name})`, this);
    const [ink, line, soft] = [color("--ink"), color("--edge"), color("--ink-2")];
    this.graph.forEachNode((node) => this.graph.mergeNodeAttributes(node, {
      color: node === this.iri ? ink : color(`--${kindOf(this.classes.get(node) ?? [])}-t`),
      highlighted: node === this.chosen,
    }));
    this.graph.forEachEdge((edge) => this.graph.setEdgeAttribute(edge, "color", line));
    this.sigma?.setSetting("labelColor", { color: ink });
    this.sigma?.setSetting("edgeLabelColor", { color: soft });
  }

  protected override render(): unknown {
    const tab = (list: boolean, words: string): TemplateResult => html`<button aria-pressed=${this.asList === list ? "true" : "false"} @click=${() => ((this.asList = list), this.requestUpdate())}>${words}</button>`;
    const isAlone = !this.edges.length && this.left.has(this.iri);
    return html`<div class="card"><header><h2>Related to</h2><span class="small faint">${this.edges.length} ${this.edges.length === 1 ? "statement" : "statements"}</span>
        ${isAlone ? nothing : html`<span class="seg push" role="group" aria-label="View">${tab(false, "As a picture")}${tab(true, "As a list")}</span>`}</header>
      ${this.problem ? html`<p class="empty" role="alert">${this.problem}</p>` : nothing}
      ${isAlone ? html`<p class="empty">Nothing else is related to it.</p>` : this.asList ? this.list() : html`<div class="network" role="img" aria-label=${`Picture of ${this.edges.length} statements around ${nameOf(this.iri)}. “As a list” says the same.`}></div>`}
      ${isAlone ? nothing : html`<div class="row ruled small" aria-live="polite">${this.about()}</div>`}</div>`;
  }

  private about(): TemplateResult {
    const classes = this.classes.get(this.chosen) ?? [];
    const left = this.left.get(this.chosen) ?? 0;
    if (this.chosen === this.iri) return html`<span class="soft">${this.asList ? "Show more of a thing with its button." : "Click a thing: what it is related to is added."}${left ? ` ${left} more are not drawn.` : ""}</span>`;
    return html`<span>${dot(classes)} <b>${nameOf(this.chosen)}</b> <span class="soft">${classes.map(nameOf).join(", ")}${left ? ` · ${left} more are not drawn` : ""}</span></span>
      <a class="push" href=${entityAddress(this.chosen)}>Open</a>`;
  }

  private list(): TemplateResult {
    const thing = (iri: string): TemplateResult => html`<a href=${entityAddress(iri)}>${nameOf(iri)}</a>
      ${this.grown.has(iri) ? nothing : html`<button class="src" aria-label=${`More of ${nameOf(iri)}`} @click=${() => void this.grow(iri)}>more</button>`}`;
    return html`<div class="wide-table" tabindex="0" role="region" aria-label="Statements of the picture"><table class="list"><thead><tr><th>Thing</th><th>Relation</th><th>Thing</th></tr></thead>
      <tbody>${this.edges.map((one) => html`<tr><td>${thing(one.subject)}</td><td class="soft">${nameOf(one.predicate)}</td><td>${thing(one.object)}</td></tr>`)}</tbody></table></div>`;
  }
}

function same(one: Edge, other: Edge): boolean {
  return one.subject === other.subject && one.predicate === other.predicate && one.object === other.object;
}

/** Some of every relation and direction, so that a crowded one hides no other. */
function spread(edges: Edge[], iri: string): Edge[] {
  const seen = new Map<string, number>();
  const turn = new Map(edges.map((one) => {
    const group = `${one.predicate} ${one.subject === iri}`;
    seen.set(group, (seen.get(group) ?? 0) + 1);
    return [one, seen.get(group)!] as const;
  }));
  return [...edges].sort((one, other) => turn.get(one)! - turn.get(other)!);
}

customElements.define("ukg-neighborhood", Neighborhood);
