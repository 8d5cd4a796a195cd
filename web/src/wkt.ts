// WKT (OGC 06-103r4, 7) as GeoJSON, for drawing what a query gives. Longitude first.

import type { Feature, FeatureCollection, Geometry, Position } from "geojson";
import type { Results } from "./api";

const CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";

/** The geometry of a WKT literal; null where it cannot be read or is in another reference system. */
export function geometryOf(literal: string): Geometry | null {
  const crs = /^\s*<([^>]*)>\s*/.exec(literal);
  if (crs && crs[1] !== CRS84) return null;
  const tokens = literal.slice(crs?.[0].length ?? 0).match(/[A-Za-z]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[(),]/g) ?? [];
  let at = 0;
  const take = (wanted: string): void => {
    if (tokens[at++] !== wanted) throw new Error(`no ${wanted}`);
  };
  const position = (): Position => {
    const numbers: number[] = [];
    while (tokens[at] !== undefined && !/[(),A-Za-z]/.test(tokens[at]!.charAt(0))) numbers.push(Number(tokens[at++]));
    if (numbers.length < 2) throw new Error("no position");
    return numbers.slice(0, 2);
  };
  const list = <T>(read: () => T): T[] => {
    take("(");
    const found = [read()];
    while (tokens[at] === ",") {
      at++;
      found.push(read());
    }
    take(")");
    return found;
  };
  const positions = (): Position[] => list(position);
  const point = (): Position => (tokens[at] === "(" ? list(position)[0]! : position());
  const geometry = (): Geometry => {
    const name = tokens[at++]?.toUpperCase();
    if (/^(Z|M|ZM)$/i.test(tokens[at] ?? "")) at++;
    if (/^EMPTY$/i.test(tokens[at] ?? "")) throw new Error("empty");
    switch (name) {
      case "POINT":
        return { type: "Point", coordinates: list(position)[0]! };
      case "LINESTRING":
        return { type: "LineString", coordinates: positions() };
      case "POLYGON":
        return { type: "Polygon", coordinates: list(positions) };
      case "MULTIPOINT":
        return { type: "MultiPoint", coordinates: list(point) };
      case "MULTILINESTRING":
        return { type: "MultiLineString", coordinates: list(positions) };
      case "MULTIPOLYGON":
        return { type: "MultiPolygon", coordinates: list(() => list(positions)) };
      case "GEOMETRYCOLLECTION":
        return { type: "GeometryCollection", geometries: list(geometry) };
      default:
        throw new Error(`unknown ${name}`);
    }
  };
  try {
    return geometry();
  } catch {
    return null;
  }
}

/** The rows of an answer that have a geometry, as features; null when none has. */
export function featuresOf(results: Results): FeatureCollection | null {
  const vars = results.head.vars ?? [];
  const features: Feature[] = [];
  (results.results?.bindings ?? []).forEach((row, index) => {
    const column = vars.find((name) => row[name]?.datatype?.endsWith("#wktLiteral"));
    const geometry = column ? geometryOf(row[column]!.value) : null;
    if (!geometry) return;
    const thing = vars.find((name) => row[name]?.type === "uri");
    const iri = thing ? row[thing]!.value : null;
    const label = vars.map((name) => row[name]).find((term) => term?.type === "literal" && !term.datatype)?.value ?? null;
    features.push({ type: "Feature", id: iri ?? index, geometry, properties: { iri, label, row: index } });
  });
  return features.length ? { type: "FeatureCollection", features } : null;
}
