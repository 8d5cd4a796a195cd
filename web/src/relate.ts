// Two geometries in, their relation out, drawn.

import { html, LitElement, nothing } from "lit";
import type { Feature, FeatureCollection, Geometry } from "geojson";
import { ask, inWords } from "./api";
import { geometryOf } from "./wkt";
import "./map";

const WORDS: Record<string, string> = {
  DC: "are apart",
  EC: "touch at their borders",
  PO: "overlap",
  EQ: "are the same",
  TPP: "A lies in B, at its border",
  NTPP: "A lies inside B",
  TPPi: "B lies in A, at its border",
  NTPPi: "B lies inside A",
};

interface Relation {
  relation: string;
  rcc8: string;
  relate: string;
  simple_features: string[];
  distance_m: number;
}

class Relate extends LitElement {
  private a = "POLYGON((-74.02 40.70, -73.97 40.70, -73.97 40.74, -74.02 40.74, -74.02 40.70))";
  private b = "POINT(-73.99 40.72)";
  private found: Relation | null = null;
  private drawn: FeatureCollection | null = null;
  private problem = "";

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  private async compare(event: Event): Promise<void> {
    event.preventDefault();
    this.problem = "";
    this.found = null;
    try {
      this.found = await ask("relations", { json: { a: read(this.a), b: read(this.b) } });
      const features = [this.a, this.b].flatMap((text, at): Feature[] => {
        const geometry = drawable(text);
        return geometry ? [{ type: "Feature", id: at, geometry, properties: { label: at ? "B" : "A", number: at ? "B" : "A" } }] : [];
      });
      this.drawn = { type: "FeatureCollection", features };
    } catch (error) {
      this.problem = inWords(error);
    }
    this.requestUpdate();
  }

  protected override render(): unknown {
    const field = (name: "a" | "b"): unknown => html`<label class="field">Geometry ${name.toUpperCase()}, as WKT or GeoJSON
      <textarea class="code" rows="3" spellcheck="false" required .value=${this[name]} @input=${(event: Event) => (this[name] = (event.target as HTMLTextAreaElement).value)}></textarea></label>`;
    return html`<form class="stack" @submit=${(event: Event) => void this.compare(event)}>${field("a")}${field("b")}
        <div class="row"><button class="btn">Compare</button></div>
        ${this.problem ? html`<p class="v no" role="alert">${this.problem}</p>` : nothing}</form>
      ${this.found ? html`<div class="stack found" aria-live="polite"><h2 class="verdict">${["DC", "EC", "PO", "EQ"].includes(this.found.rcc8) ? "They " : ""}${WORDS[this.found.rcc8] ?? this.found.relation}</h2>
        <p class="small soft">${this.found.rcc8} · ${this.found.simple_features.join(", ")} · DE-9IM ${this.found.relate}${this.found.distance_m ? ` · ${Math.round(this.found.distance_m).toLocaleString("en")} m apart` : ""}</p>
        <ukg-map .data=${this.drawn} .reference=${null} .around=${null} .selected=${null} label="Map of both geometries"></ukg-map></div>` : nothing}`;
  }
}

/** GeoJSON as such, everything else as the text that it is. */
function read(text: string): unknown {
  if (!text.trim().startsWith("{")) return text.trim();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function drawable(text: string): Geometry | null {
  const value = read(text);
  if (typeof value === "string") return geometryOf(value);
  return ((value as Feature).geometry ?? value) as Geometry;
}

customElements.define("ukg-relate", Relate);
