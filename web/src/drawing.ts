// Features on a canvas, drawn in parts: however many there are, no frame takes long. The picture before stays until then.

import * as L from "leaflet";
import type { Feature, Geometry, Position } from "geojson";

export interface Look {
  fill: string | null;
  line: string | null;
  /** Of the line, in pixels. */
  width: number;
  opacity: number;
}

/** A feature in the plane: pixels of zoom level 0, from a common corner, so that single precision is enough. */
interface Shape {
  feature: Feature;
  look: Look;
  area: boolean;
  path: Path2D | null;
  points: [number, number][];
  box: [number, number, number, number];
}

const SLICE_MS = 8;
const SLICE = 400;
const PADDING = 0.3;
const RADIUS = 4;

export class Drawing {
  #map: L.Map;
  #canvas = document.createElement("canvas");
  #overlay: L.SVGOverlay;
  #shapes: Shape[] = [];
  #corner: [number, number];
  #turn = 0;
  #built: Promise<void>;
  #redraw = (): void => void this.#draw();

  /** The extent of all features. */
  readonly bounds: L.LatLngBounds;

  constructor(map: L.Map, features: Feature[], lookOf: (of: Feature) => Look, options: L.ImageOverlayOptions = {}) {
    this.#map = map;
    this.bounds = boundsOf(features);
    this.#corner = this.bounds.isValid() ? plane([this.bounds.getWest(), this.bounds.getNorth()]) : [0, 0];
    // Leaflet moves any element so, with the map and while it zooms.
    this.#overlay = L.svgOverlay(this.#canvas as unknown as SVGElement as never, map.getBounds(), options).addTo(map);
    // In a frame of its own: the extent above is work, too.
    this.#built = frame().then(() => inParts(features, (feature) => this.#shapes.push(this.#shape(feature, lookOf(feature))), () => this.#turn < 0));
    map.on("moveend", this.#redraw);
    void this.#draw();
  }

  remove(): void {
    this.#turn = -1;
    this.#map.off("moveend", this.#redraw);
    this.#overlay.remove();
  }

  /** The topmost feature at a place, or at most so many pixels beside it. */
  at(place: L.LatLng, pixels: number): Feature | null {
    const [x, y] = this.#inside([place.lng, place.lat]);
    const reach = pixels / 2 ** this.#map.getZoom();
    const context = this.#canvas.getContext("2d")!;
    const isHit = (one: Shape): boolean => {
      const [left, top, right, bottom] = one.box;
      if (x < left - reach || x > right + reach || y < top - reach || y > bottom + reach) return false;
      if (one.points.some(([px, py]) => Math.hypot(px - x, py - y) <= reach)) return true;
      if (!one.path) return false;
      context.save();
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.lineWidth = 2 * reach;
      const hit = (one.area && context.isPointInPath(one.path, x, y)) || context.isPointInStroke(one.path, x, y);
      context.restore();
      return hit;
    };
    return this.#shapes.findLast(isHit)?.feature ?? null;
  }

  #inside(position: Position): [number, number] {
    const [x, y] = plane(position);
    return [x - this.#corner[0], y - this.#corner[1]];
  }

  #shape(feature: Feature, look: Look): Shape {
    const made: Shape = { feature, look, area: false, path: null, points: [], box: [Infinity, Infinity, -Infinity, -Infinity] };
    const put = (position: Position): [number, number] => {
      const [x, y] = this.#inside(position);
      const { box } = made;
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
      return [x, y];
    };
    const line = (positions: Position[], closed: boolean): void => {
      made.path ??= new Path2D();
      positions.forEach((one, at) => (at ? made.path!.lineTo(...put(one)) : made.path!.moveTo(...put(one))));
      if (closed) made.path.closePath();
    };
    for (const geometry of parts(feature.geometry)) {
      if (geometry.type === "Point") made.points.push(put(geometry.coordinates));
      else if (geometry.type === "LineString") line(geometry.coordinates, false);
      else if (geometry.type === "Polygon") {
        made.area = true;
        for (const ring of geometry.coordinates) line(ring, true);
      }
    }
    return made;
  }

  /** Draw what is in view beside, in parts, and then show it at once. */
  async #draw(): Promise<void> {
    const turn = ++this.#turn;
    await this.#built;
    const map = this.#map;
    const isOver = (): boolean => turn !== this.#turn;
    const size = map.getSize();
    if (isOver() || size.x === 0) return;
    const bounds = map.getBounds().pad(PADDING);
    const [left, top] = this.#inside([bounds.getWest(), bounds.getNorth()]);
    const [right, bottom] = this.#inside([bounds.getEast(), bounds.getSouth()]);
    const density = Math.min(devicePixelRatio, 2);
    const scale = 2 ** map.getZoom() * density;
    const picture = document.createElement("canvas");
    picture.width = Math.round((right - left) * scale);
    picture.height = Math.round((bottom - top) * scale);
    // Without a graphics card at once: what is only noted down would all be drawn in one frame.
    const context = picture.getContext("2d", { willReadFrequently: true })!;
    const inView = this.#shapes.filter(({ box }) => box[2] >= left && box[0] <= right && box[3] >= top && box[1] <= bottom);
    const dots = new Map<Look, HTMLCanvasElement>();
    await inParts(
      inView,
      (one) => {
        const dot = one.points.length ? (dots.get(one.look) ?? dotOf(one.look, density)) : null;
        if (dot) dots.set(one.look, dot);
        context.setTransform(1, 0, 0, 1, 0, 0);
        for (const [x, y] of one.points) context.drawImage(dot!, (x - left) * scale - dot!.width / 2, (y - top) * scale - dot!.height / 2);
        if (!one.path) return;
        context.setTransform(scale, 0, 0, scale, -left * scale, -top * scale);
        context.lineJoin = "round";
        if (one.area && one.look.fill) {
          context.globalAlpha = one.look.opacity;
          context.fillStyle = one.look.fill;
          context.fill(one.path, "evenodd");
          context.globalAlpha = 1;
        }
        if (!one.look.line) return;
        context.lineWidth = (one.look.width * density) / scale;
        context.strokeStyle = one.look.line;
        context.stroke(one.path);
      },
      isOver,
      () => void context.getImageData(0, 0, 1, 1),
    );
    await frame();
    if (isOver()) return;
    this.#canvas.width = picture.width;
    this.#canvas.height = picture.height;
    if (picture.width && picture.height) this.#canvas.getContext("2d")!.drawImage(picture, 0, 0);
    this.#overlay.setBounds(bounds);
  }
}

/** The extent of features; not valid where there are none. */
export function boundsOf(features: Iterable<Feature>): L.LatLngBounds {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  const put = (position: Position): void => {
    west = Math.min(west, position[0]!);
    east = Math.max(east, position[0]!);
    south = Math.min(south, position[1]!);
    north = Math.max(north, position[1]!);
  };
  for (const { geometry } of features) {
    for (const one of parts(geometry)) {
      if (one.type === "Point") put(one.coordinates);
      else if (one.type === "LineString") one.coordinates.forEach(put);
      else if (one.type === "Polygon") one.coordinates[0]?.forEach(put);
    }
  }
  return west <= east ? L.latLngBounds([south, west], [north, east]) : L.latLngBounds([]);
}

/** The points, lines and polygons that a geometry is made of. */
function parts(of: Geometry): Geometry[] {
  switch (of.type) {
    case "GeometryCollection":
      return of.geometries.flatMap(parts);
    case "MultiPoint":
      return of.coordinates.map((coordinates) => ({ type: "Point", coordinates }));
    case "MultiLineString":
      return of.coordinates.map((coordinates) => ({ type: "LineString", coordinates }));
    case "MultiPolygon":
      return of.coordinates.map((coordinates) => ({ type: "Polygon", coordinates }));
    default:
      return [of];
  }
}

/** A position in the plane of web maps (EPSG:3857), in pixels of zoom level 0. */
function plane([longitude, latitude]: Position): [number, number] {
  const sine = Math.sin((Math.max(-85.0511, Math.min(85.0511, latitude!)) * Math.PI) / 180);
  return [256 * (longitude! / 360 + 0.5), 256 * (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI))];
}

/** A dot, drawn once and then copied. */
function dotOf(look: Look, density: number): HTMLCanvasElement {
  const made = document.createElement("canvas");
  const half = Math.ceil((RADIUS + look.width) * density);
  made.width = made.height = 2 * half;
  const context = made.getContext("2d", { willReadFrequently: true })!;
  context.arc(half, half, RADIUS * density, 0, 2 * Math.PI);
  context.globalAlpha = look.opacity;
  context.fillStyle = look.fill ?? "transparent";
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = look.width * density;
  context.strokeStyle = look.line ?? "transparent";
  context.stroke();
  return made;
}

let lastFrame: Promise<unknown> = Promise.resolve();

/** Resolves in a frame of its own: what is drawn at the same time takes turns. */
export function frame(): Promise<unknown> {
  lastFrame = lastFrame.then(() => new Promise(requestAnimationFrame));
  return lastFrame;
}

/** Do the work for each, some of it in every frame; `flush` ends what a part has begun. */
async function inParts<T>(all: T[], work: (one: T) => void, isOver: () => boolean, flush?: () => void): Promise<void> {
  let done = 0;
  while (done < all.length) {
    const begun = performance.now();
    do {
      for (const end = Math.min(all.length, done + SLICE); done < end; done++) work(all[done]!);
      flush?.();
    } while (done < all.length && performance.now() - begun < SLICE_MS);
    if (done === all.length) return;
    await frame();
    if (isOver()) return;
  }
}
