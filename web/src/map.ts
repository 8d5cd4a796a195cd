// The map: the graph's own areas as the ground, an answer's features above, the same numbers as in the list.

import * as L from "leaflet";
import type { Feature, FeatureCollection, Geometry } from "geojson";
import { html, LitElement, type PropertyValues } from "lit";
import { address, ask } from "./api";
import { boundsOf, Drawing, frame, type Look } from "./drawing";
import { groundOf, visible, vocabulary } from "./names";

interface Label {
  text: string;
  bounds: L.LatLngBounds;
  center: L.LatLng;
}

const GROUND_TOLERANCE = 0.0004;
const MOST_LABELS = 18;
const MOST_PINS = 300;
// More pins than these cover one another: the list beside the map has the same numbers, and is for the keyboard.
const FEW_PINS = 9;
let ground: Promise<FeatureCollection> | undefined;

/** The areas of the graph, simplified; asked for once. */
function areas(): Promise<FeatureCollection> {
  ground ??= ask(address("features", { of: "areas", tolerance: GROUND_TOLERANCE, limit: 3000 })).catch((error: unknown) => {
    ground = undefined;
    throw error;
  }) as Promise<FeatureCollection>;
  return ground;
}

export class MapView extends LitElement {
  static override properties = {
    data: { attribute: false },
    reference: { attribute: false },
    around: { attribute: false },
    selected: { attribute: false },
    label: {},
  };
  /** What is drawn and can be picked; `properties.number`, where given, is written on the pin. */
  declare data: FeatureCollection | null;
  /** Places that the answer refers to. */
  declare reference: FeatureCollection | null;
  /** The area around them that was searched. */
  declare around: Geometry | null;
  /** The IRI of the feature in focus. */
  declare selected: string | null;
  declare label: string;

  #map?: L.Map;
  #ground?: Drawing;
  #labels: Label[] = [];
  #written = L.layerGroup();
  #shown = L.layerGroup();
  #beside?: L.Layer;
  /** Too many for elements of their own: they are drawn on a canvas. */
  #many?: Drawing;
  #tiled = false;
  #markers = new Map<string, L.Marker | L.Path>();
  #fitted: FeatureCollection | null | undefined;
  #moved = false;
  #resize?: ResizeObserver;
  #theme?: MutationObserver;
  #dark = matchMedia("(prefers-color-scheme: dark)");
  #restyle = (): void => void this.#drawGround().then(() => this.#many && this.#draw(true));

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): unknown {
    return html`<div class="map"></div>`;
  }

  protected override firstUpdated(): void {
    const frame = this.querySelector<HTMLElement>(".map")!;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", this.label || "Map");
    this.#map = L.map(frame, { attributionControl: false, zoomControl: false, minZoom: 2, maxZoom: 18, zoomSnap: 0.25 });
    L.control.zoom({ position: "topright" }).addTo(this.#map);
    this.#tile();
    this.#map.setView([0, 0], 2);
    this.#written.addTo(this.#map);
    this.#shown.addTo(this.#map);
    this.#map.on("dragstart", () => (this.#moved = true));
    this.#map.on("click", (event) => {
      this.#pick(event.latlng);
      const reach = (this.#map!.containerPointToLatLng([12, 0]).lng - this.#map!.containerPointToLatLng([0, 0]).lng) / 2;
      this.dispatchEvent(new CustomEvent("place", { detail: { at: event.latlng, reach }, bubbles: true }));
    });
    this.#map.on("moveend zoomend", () => this.#write());
    void this.#drawGround();
    this.#resize = new ResizeObserver(() => {
      this.#map?.invalidateSize({ pan: false });
      if (!this.#moved) this.#fitted = undefined;
      this.#fit();
    });
    this.#resize.observe(frame);
    this.#theme = new MutationObserver(this.#restyle);
    this.#theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    this.#dark.addEventListener("change", this.#restyle);
  }

  /** The operator's tiles, beneath all else; the areas are then drawn through. */
  #tile(): void {
    const chosen = document.querySelector<HTMLMetaElement>("meta[name=tiles]");
    if (!chosen) return;
    this.#tiled = true;
    L.tileLayer(chosen.content, { maxZoom: 19 }).addTo(this.#map!);
    const credit = L.control.attribution({ prefix: false }).addTo(this.#map!);
    const words = document.createElement("span");
    words.textContent = chosen.dataset["credit"] ?? "";
    if (words.textContent) credit.addAttribution(words.innerHTML);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    this.#theme?.disconnect();
    this.#dark.removeEventListener("change", this.#restyle);
    this.#ground?.remove();
    this.#many?.remove();
    this.#map?.remove();
    this.#map = undefined;
  }

  protected override updated(changed: PropertyValues): void {
    if (!this.#map) return;
    if (changed.has("data") || changed.has("reference") || changed.has("around")) this.#draw();
    if (changed.has("selected")) this.#select();
  }

  async #drawGround(): Promise<void> {
    const [collection] = await Promise.all([areas(), vocabulary()]).catch(() => [null]);
    await frame();
    if (!collection || !this.#map) return;
    const style = getComputedStyle(this);
    const color = (name: string): string => resolved(style.getPropertyValue(name), this);
    const colors = { land: color("--m-land"), water: color("--m-water"), park: color("--m-park"), hood: color("--m-hood") };
    this.#labels = [];
    const order = { land: 0, water: 1, park: 2 };
    const drawn = collection.features.map((feature) => ({ feature, ground: groundOf(feature.properties!["classes"]) }));
    drawn.sort((one, other) => order[one.ground] - order[other.ground]);
    const looks = new Map(drawn.map(({ feature, ground: kind }): [Feature, Look] => [
      feature,
      { fill: this.#tiled ? null : colors[kind], line: kind === "land" ? colors.hood : null, width: 1, opacity: 1 },
    ]));
    this.#ground?.remove();
    this.#ground = new Drawing(this.#map, [...looks.keys()], (one) => looks.get(one)!, { pane: "tilePane", zIndex: 2 });
    await frame();
    if (!this.#map) return;
    for (const { feature } of drawn) {
      const bounds = boundsOf([feature]);
      const text = feature.properties!["label"] as string | null;
      if (text && bounds.isValid()) this.#labels.push({ text, bounds, center: bounds.getCenter() });
    }
    if (this.#fitted === undefined) this.#draw();
    else this.#write();
  }

  /** Write the names of areas that have room for them. */
  #write(): void {
    const map = this.#map;
    if (!map) return;
    this.#written.clearLayers();
    const view = map.getBounds();
    const taken: L.Bounds[] = [];
    for (const { text, bounds, center } of this.#labels) {
      if (taken.length >= MOST_LABELS) break;
      if (!view.contains(center)) continue;
      const low = map.latLngToContainerPoint(bounds.getSouthWest());
      const high = map.latLngToContainerPoint(bounds.getNorthEast());
      const wide = Math.min(text.length * 6 + 16, 130);
      const size = map.getSize();
      if (high.x - low.x < wide * 0.8 || low.y - high.y < 24 || high.x - low.x > size.x * 1.6) continue;
      const at = map.latLngToContainerPoint(center);
      const box = L.bounds([at.x - wide / 2, at.y - 14], [at.x + wide / 2, at.y + 14]);
      if (taken.some((other) => other.intersects(box))) continue;
      taken.push(box);
      const name = document.createElement("span");
      name.textContent = text;
      L.marker(center, {
        icon: L.divIcon({ className: "m-name", html: name, iconSize: [0, 0] }),
        interactive: false,
        keyboard: false,
        zIndexOffset: -1000,
      }).addTo(this.#written);
    }
  }

  #draw(keepView = false): void {
    const map = this.#map!;
    this.#shown.clearLayers();
    this.#markers.clear();
    this.#many?.remove();
    this.#many = undefined;
    if (this.around) L.geoJSON(this.around, { interactive: false, style: { className: "m-near" } }).addTo(this.#shown);
    this.#beside = undefined;
    if (this.reference) {
      const drawn = L.geoJSON(this.reference, { interactive: false, style: (one) => ({ className: isArea(one) ? "m-ref" : "m-beside", fill: isArea(one) }), pointToLayer: dot }).addTo(this.#shown);
      if (!this.reference.features.every(isArea)) this.#beside = drawn;
    }
    const features = this.data?.features ?? [];
    if (features.length > MOST_PINS) {
      const accent = resolved(getComputedStyle(this).getPropertyValue("--accent"), this);
      const look = { fill: accent, line: accent, width: 1.5, opacity: 0.25 };
      this.#many = new Drawing(map, features, () => look);
    } else for (const feature of features) this.#add(feature);
    this.#select();
    if (keepView) {
      this.#write();
      return;
    }
    this.#fitted = undefined;
    this.#moved = false;
    map.invalidateSize({ pan: false });
    this.#fit();
  }

  #add(feature: Feature): void {
    const { iri, label, number } = feature.properties as { iri?: string; label?: string; number?: number | string };
    const name = String(label ?? iri ?? "");
    const picked = (): void => this.#tell(iri);
    const position = feature.geometry.type === "Point" ? feature.geometry.coordinates : null;
    const isPoint = position !== null;
    if (!isPoint) {
      const shape = L.geoJSON(feature, { style: { className: isArea(feature) ? "m-shape" : "m-line", fill: isArea(feature) }, pointToLayer: dot });
      shape.bindPopup(popup(name, iri)).on("click", picked).addTo(this.#shown);
      if (number === undefined && iri) shape.eachLayer((layer) => this.#markers.set(iri, layer as L.Path));
    }
    if (!isPoint && number === undefined) return;
    const at = position ? L.latLng(position[1]!, position[0]!) : L.geoJSON(feature).getBounds().getCenter();
    const pin = document.createElement("span");
    pin.textContent = number === undefined ? "" : String(number);
    const marker = L.marker(at, { icon: L.divIcon({ className: "m-pin", html: pin, iconSize: [22, 22] }), title: name, keyboard: this.data!.features.length <= FEW_PINS });
    marker.bindPopup(popup(name, iri), { offset: [0, -6] }).on("click", picked).addTo(this.#shown);
    if (iri) this.#markers.set(iri, marker);
  }

  #tell(iri: string | undefined): void {
    if (iri) this.dispatchEvent(new CustomEvent("pick", { detail: iri, bubbles: true }));
  }

  /** Say what is at a place, of very many things. */
  #pick(place: L.LatLng): void {
    const found = this.#many?.at(place, 6)?.properties as { iri?: string; label?: string } | undefined;
    if (!found) return;
    L.popup().setLatLng(place).setContent(popup(visible(String(found.label ?? found.iri ?? "")), found.iri)).openOn(this.#map!);
    this.#tell(found.iri);
  }

  #select(): void {
    for (const [iri, marker] of this.#markers) {
      if (!(marker instanceof L.Marker)) continue;
      marker.getElement()?.classList.toggle("on", iri === this.selected);
      marker.setZIndexOffset(iri === this.selected ? 1000 : 0);
    }
  }

  /** Show all that is drawn; once for each answer, when the frame has its size. */
  #fit(): void {
    const map = this.#map!;
    if (this.#fitted === this.data && this.#fitted !== undefined) return;
    if (map.getSize().x === 0) return;
    const bounds = L.latLngBounds([]);
    const extend = (layer: L.Layer): void => {
      if ("getBounds" in layer) bounds.extend((layer as L.Polyline).getBounds());
      else if ("getLatLng" in layer) bounds.extend((layer as L.Marker).getLatLng());
    };
    this.#shown.eachLayer((layer) => {
      // Lines and points beside the answer may lead far away from it.
      if (layer !== this.#beside) extend(layer);
    });
    if (this.#many) bounds.extend(this.#many.bounds);
    if (!bounds.isValid()) for (const one of this.#labels) bounds.extend(one.bounds);
    if (!bounds.isValid()) return;
    map.fitBounds(bounds.pad(0.12), { maxZoom: 15, animate: false });
    this.#fitted = this.data ?? null;
    this.#write();
  }
}

function isArea(feature?: Feature): boolean {
  return /Polygon$/.test(feature?.geometry.type ?? "");
}

function dot(_: Feature, at: L.LatLng): L.Layer {
  return L.circleMarker(at, { radius: 7, className: "m-ref" });
}

/** Names are written as text: what is called <script> stays a name. */
function popup(name: string, iri: string | undefined): HTMLElement {
  const content = document.createElement("div");
  const title = document.createElement("b");
  title.textContent = name;
  content.append(title);
  if (iri) {
    const link = document.createElement("a");
    link.href = `#/explore?iri=${encodeURIComponent(iri)}`;
    link.textContent = "Open";
    content.append(link);
  }
  return content;
}

/** A color as a canvas takes it: the browser resolves light-dark(). */
export function resolved(value: string, beside: HTMLElement): string {
  const probe = document.createElement("span");
  probe.style.color = value;
  beside.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

customElements.define("ukg-map", MapView);
