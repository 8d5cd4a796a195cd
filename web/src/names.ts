// Names for IRIs: the ontology's labels, loaded once, and entities' labels, loaded when they are shown.

import { rows, type Term } from "./api";

const RDFS = "http://www.w3.org/2000/01/rdf-schema#";
const SCHEMA = ["https://schema.org/", "http://schema.org/"];
const XSD = "http://www.w3.org/2001/XMLSchema#";
export const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
export const LABEL = `${RDFS}label`;

export type Kind = "area" | "built" | "way" | "water" | "org" | "person" | "value";

// The colors of kinds follow the vocabulary that ontologies are aligned with, not one ontology.
const KINDS: Record<string, Kind> = {
  BodyOfWater: "water",
  RiverBodyOfWater: "water",
  LakeBodyOfWater: "water",
  SeaBodyOfWater: "water",
  Park: "area",
  Cemetery: "area",
  Beach: "area",
  AdministrativeArea: "area",
  City: "area",
  State: "area",
  Country: "area",
  Bridge: "way",
  TrainStation: "way",
  SubwayStation: "way",
  BusStation: "way",
  Airport: "way",
  Organization: "org",
  Person: "person",
  Event: "value",
  Place: "built",
};
const GREEN = new Set(["Park", "Cemetery", "Beach"]);

interface Vocabulary {
  labels: Map<string, string>;
  supers: Map<string, Set<string>>;
  units: Map<string, string>;
}

const UNITS: Record<string, string> = { M: "m", KiloM: "km", CentiM: "cm", FT: "ft", MI: "mi", M2: "m²", KiloM2: "km²", HA: "ha", NUM: "" };

const known = new Map<string, string>([
  [TYPE, "is a"],
  [LABEL, "is called"],
  ["http://www.w3.org/2004/02/skos/core#altLabel", "also called"],
  [`${RDFS}Literal`, "a value"],
  [`${RDFS}Resource`, "anything"],
  ["http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "text in a language"],
  ["http://www.opengis.net/ont/geosparql#wktLiteral", "a geometry (WKT)"],
  ...Object.entries({
    text: ["string", "normalizedString", "token"],
    "a number": ["decimal", "double", "float"],
    "a whole number": ["integer", "nonNegativeInteger", "positiveInteger", "int", "long", "short", "unsignedInt", "unsignedLong"],
    "yes or no": ["boolean"],
    "a year": ["gYear"],
    "a month": ["gYearMonth"],
    "a date": ["date"],
    "a date with time": ["dateTime", "dateTimeStamp"],
    "a time of day": ["time"],
    "a length of time": ["duration", "dayTimeDuration", "yearMonthDuration"],
    "an address": ["anyURI"],
  }).flatMap(([words, types]) => types.map((name): [string, string] => [`${XSD}${name}`, words])),
]);
const asked = new Set<string>();
let loading: Promise<Vocabulary> | undefined;
let loaded: Vocabulary | undefined;

/** Forget what was read, since the reader changed. */
export function forget(): void {
  loading = undefined;
  asked.clear();
}

/** The labels and superclasses of the ontology's terms. */
export function vocabulary(): Promise<Vocabulary> {
  loading ??= readVocabulary().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function readVocabulary(): Promise<Vocabulary> {
  const found = await rows(`PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX rdfs: <${RDFS}>
    SELECT ?term ?label ?super ?unit WHERE {
      VALUES ?kind { owl:Class owl:ObjectProperty owl:DatatypeProperty }
      ?term a ?kind FILTER(isIRI(?term))
      OPTIONAL { ?term rdfs:label ?label }
      OPTIONAL { ?term rdfs:subClassOf|owl:equivalentClass ?super FILTER(isIRI(?super)) }
      OPTIONAL { ?term <http://qudt.org/schema/qudt/hasUnit> ?unit } }`);
  const read: Vocabulary = { labels: new Map(), supers: new Map(), units: new Map() };
  for (const { term, label, super: above, unit } of found) {
    if (label) read.labels.set(term!.value, label.value);
    if (above) (read.supers.get(term!.value) ?? newSet(read.supers, term!.value)).add(above.value);
    if (unit) read.units.set(term!.value, unit.value.split("/").pop()!);
  }
  loaded = read;
  return read;
}

function newSet(sets: Map<string, Set<string>>, name: string): Set<string> {
  const made = new Set<string>();
  sets.set(name, made);
  return made;
}

/** Load the names of these IRIs, so that `nameOf` has them. */
export async function learn(iris: Iterable<string>): Promise<void> {
  await vocabulary();
  const missing = [...new Set(iris)].filter((iri) => !asked.has(iri) && isIri(iri) && !loaded?.labels.has(iri));
  for (let start = 0; start < missing.length; start += 300) {
    const part = missing.slice(start, start + 300);
    for (const iri of part) asked.add(iri);
    const found = await rows(`PREFIX rdfs: <${RDFS}> PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
      SELECT ?thing (MIN(?name) AS ?label) WHERE {
        VALUES ?thing { ${part.map((iri) => `<${iri}>`).join(" ")} }
        ?thing rdfs:label|skos:prefLabel ?name } GROUP BY ?thing`);
    for (const { thing, label } of found) if (thing && label) known.set(thing.value, label.value);
  }
}

/** Whether a text can stand between angle brackets in a query. */
export function isIri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i.test(text);
}

/** Remember a name that came with an answer. */
export function note(iri: string, name: string | null | undefined): void {
  if (name && !known.has(iri)) known.set(iri, name);
}

/** A text with its control and bidirectional characters as escapes: they would hide it, or turn it around. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The name of an IRI: its label, else its last part. */
export function nameOf(iri: string): string {
  return visible(known.get(iri) ?? loaded?.labels.get(iri) ?? lastPart(iri));
}

function lastPart(iri: string): string {
  const part = iri.replace(/[/#]+$/, "").split(/[/#]/).pop() ?? iri;
  try {
    return decodeURIComponent(part).replace(/[-_]+/g, " ") || iri;
  } catch {
    return part;
  }
}

/** A number with its word. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** The name of a rule, or of a kind of rule, as words. */
export function ruleName(iri: string): string {
  return nameOf(iri).replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
}

/** The unit that a property's values are in, as it is written after a number; empty where it has none. */
export function unitOf(property: string): string {
  const name = loaded?.units.get(property);
  return name ? ` ${UNITS[name] ?? name}`.trimEnd() : "";
}

/** Classes and all their superclasses, as far as the loaded ontology knows. */
function* above(classes: Iterable<string>): Generator<string> {
  const seen = new Set(classes);
  for (const one of seen) {
    yield one;
    for (const next of loaded?.supers.get(one) ?? []) seen.add(next);
  }
}

/** The color group of something with these classes. */
export function kindOf(classes: Iterable<string>): Kind {
  for (const iri of above(classes)) {
    const found = KINDS[inSchema(iri)];
    if (found) return found;
  }
  return "value";
}

/** How an area is drawn on the base map. */
export function groundOf(classes: Iterable<string>): "water" | "park" | "land" {
  for (const iri of above(classes)) {
    const name = inSchema(iri);
    if (KINDS[name] === "water") return "water";
    if (GREEN.has(name)) return "park";
  }
  return "land";
}

function inSchema(iri: string): string {
  const start = SCHEMA.find((one) => iri.startsWith(one));
  return start ? iri.slice(start.length) : "";
}

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

/** A time as people write it, in its own time zone; as it is where it has seconds or is none. */
function moment(value: string): string {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):00(?:\.0+)?(Z|[+-]\d\d:\d\d)?$/.exec(value);
  const day = found && new Date(`${found[1]}T00:00:00Z`);
  if (!day || Number.isNaN(day.getTime())) return value;
  return `${DATE.format(day)}, ${found[2]}${found[3] ? ` ${found[3] === "Z" ? "UTC" : found[3]}` : ""}`;
}

/** A term in words: a name, a date as people write it, a number with separators. */
export function inWords(term: Term): string {
  if (term.type === "uri") return nameOf(term.value);
  if (term.type === "bnode") return "something without a name";
  if (term.type === "triple") return "a statement";
  const datatype = term.datatype ?? "";
  if (datatype === `${XSD}date`) {
    const date = new Date(`${term.value.slice(0, 10)}T00:00:00Z`);
    return Number.isNaN(date.getTime()) ? visible(term.value) : DATE.format(date);
  }
  if (datatype === `${XSD}dateTime` || datatype === `${XSD}dateTimeStamp`) return moment(term.value);
  if (/#(integer|decimal|double|float|int|long|nonNegativeInteger)$/.test(datatype)) {
    const number = Number(term.value);
    return Number.isFinite(number) ? number.toLocaleString("en", { maximumFractionDigits: 3 }) : visible(term.value);
  }
  return visible(term.value.length > 300 ? `${term.value.slice(0, 300)}…` : term.value);
}
