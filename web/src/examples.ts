// What this graph can be tried with: kinds of things and the regions that hold some of them, where it has any.

import { rows } from "./api";
import { vocabulary } from "./names";

interface Example {
  /** The name of a class. */
  kind: string;
  region: { iri: string; name: string };
}

const QUERY = `PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?class ?region (SAMPLE(?name) AS ?label) (COUNT(DISTINCT ?x) AS ?n) WHERE {
  ?x geo:rcc8ntpp ?region ; a ?class . ?class rdfs:label ?word . ?region rdfs:label ?name
} GROUP BY ?class ?region HAVING (COUNT(DISTINCT ?x) < 30) ORDER BY DESC(?n) LIMIT 60`;

let asked: Promise<Example[]> | undefined;

/** Three examples with different kinds and regions; asked for once. */
export function examples(): Promise<Example[]> {
  asked ??= find().catch((error: unknown) => {
    asked = undefined;
    throw error;
  });
  return asked;
}

async function find(): Promise<Example[]> {
  const found = await rows(QUERY);
  const { labels } = await vocabulary();
  const chosen: Example[] = [];
  for (const row of found) {
    const kind = labels.get(row["class"]?.value ?? "");
    const [iri, name] = [row["region"]?.value, row["label"]?.value];
    if (!kind || !iri || !name || chosen.some((one) => one.kind === kind || one.region.name === name)) continue;
    chosen.push({ kind, region: { iri, name } });
    if (chosen.length === 3) break;
  }
  return chosen;
}

// For graphs whose things lie nowhere: kinds, and things that something is said of.
const KINDS = `PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?class (COUNT(DISTINCT ?x) AS ?n) (SAMPLE(?x) AS ?thing) (SAMPLE(?name) AS ?label) WHERE {
  ?class a owl:Class ; rdfs:label ?word . ?x a ?class ; rdfs:label ?name FILTER(isIRI(?x))
} GROUP BY ?class ORDER BY DESC(?n) LIMIT 12`;
const LINKS = `PREFIX owl: <http://www.w3.org/2002/07/owl#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?property ?label WHERE { ?property a owl:ObjectProperty ; rdfs:label ?word . ?x ?property ?thing . ?thing rdfs:label ?label . ?x rdfs:label ?name } LIMIT 1`;

/** Questions that this graph can answer, about its places where it has any. */
export async function questions(): Promise<string[]> {
  return (await examples()).length ? inRegions() : ofKinds();
}

/** Things to look at. */
export async function things(): Promise<{ iri: string; name: string }[]> {
  const regions = (await examples()).map(({ region }) => region);
  if (regions.length) return regions;
  return (await rows(KINDS)).slice(0, 3).map((row) => ({ iri: row["thing"]!.value, name: row["label"]!.value }));
}

async function ofKinds(): Promise<string[]> {
  const [kinds, [link], { labels }] = await Promise.all([rows(KINDS), rows(LINKS), vocabulary()]);
  const [first, second] = kinds.flatMap((row) => labels.get(row["class"]?.value ?? "") ?? []);
  const said = link ? labels.get(link["property"]!.value) : undefined;
  return [
    ...(first ? [`How many ${plural(first)} are there?`] : []),
    ...(said ? [`What ${said} ${link!["label"]!.value}?`] : []),
    ...(second ? [`Which ${plural(second)} are there?`] : []),
  ];
}

async function inRegions(): Promise<string[]> {
  return (await examples()).map(({ kind, region }, at) => `${at === 1 ? "How many" : "Which"} ${plural(kind)} are in ${region.name}?`);
}

/** A text about a thing that does not exist, with a contradiction; empty where the graph has no example. */
export async function sampleText(): Promise<string> {
  const one = (await examples())[0];
  if (!one) return "";
  const { kind, region } = one;
  const name = `Lantern ${kind.replace(/(^| )\w/g, (letter) => letter.toUpperCase())}`;
  return `The ${name} is ${/^[aeiou]/i.test(kind) ? "an" : "a"} ${kind} in ${region.name}. It opened on May 14, 1931. It closed in 1925.`;
}

function plural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(s|x|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}
