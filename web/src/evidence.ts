// The words of texts that statements rest on, from the provenance beside the graph.

import { html, nothing, type TemplateResult } from "lit";
import { rows, type Row, type Term } from "./api";
import { isIri } from "./names";

const PROVENANCE = "https://w3id.org/urbankg/graph/provenance";
const MOST = 300;
/** At most so many characters of a sentence are shown on each side of a quote. */
const AROUND = 200;

export interface Triple {
  subject: string;
  predicate: string;
  object: Term;
}

export interface Source {
  quote: string;
  /** Where the quote is in its document, in code points. */
  start: number | null;
  end: number | null;
  /** The rest of its sentence, once it was read (`readSentences`). */
  before?: string;
  after?: string;
  document: string | null;
  title: string | null;
  model: string | null;
  confidence: string | null;
  reviewer: string | null;
}

/** The sources of each statement that rests on a text; whole terms are looked up, so that no index is searched. */
export async function evidenceOf(triples: Triple[]): Promise<Map<Triple, Source[]>> {
  const asked = triples.filter((one) => isIri(one.subject) && written(one.object)).slice(0, MOST);
  const found = new Map<Triple, Source[]>();
  if (!asked.length) return found;
  const values = asked.map((one, index) => `(${index} <<( <${one.subject}> <${one.predicate}> ${written(one.object)} )>>)`);
  const told = await rows(`PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX ukg: <https://w3id.org/urbankg/system#> PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX dcterms: <http://purl.org/dc/terms/>
    SELECT ?n ?quote ?start ?end ?confidence ?document ?title ?model ?reviewer FROM <${PROVENANCE}> WHERE {
      VALUES (?n ?t) { ${values.join(" ")} }
      ?r rdf:reifies ?t ; ukg:quote ?quote .
      OPTIONAL { ?r ukg:start ?start ; ukg:end ?end }
      OPTIONAL { ?r ukg:confidence ?confidence }
      OPTIONAL { ?r prov:wasAttributedTo ?by . OPTIONAL { ?by rdfs:label ?label } BIND(COALESCE(?label, STR(?by)) AS ?reviewer) }
      OPTIONAL { ?r prov:wasGeneratedBy ?run OPTIONAL { ?run ukg:model ?model }
        OPTIONAL { ?run prov:used ?document OPTIONAL { ?document dcterms:source ?title } } } }`);
  for (const row of told) {
    const triple = asked[Number(row["n"]!.value)]!;
    found.set(triple, [...(found.get(triple) ?? []), sourceOf(row)]);
  }
  return found;
}

/** Read the sentences around the quotes of a few sources. */
export async function readSentences(sources: Source[]): Promise<void> {
  const asked = sources.filter((one) => one.before === undefined && one.start !== null && one.document && isIri(one.document));
  await Promise.all(asked.map(async (one) => {
    const from = Math.max(0, one.start! - AROUND);
    const [row] = await rows(`PREFIX ukg: <https://w3id.org/urbankg/system#>
      SELECT ?before ?after FROM <${PROVENANCE}> WHERE { <${one.document}> ukg:text ?text
        BIND(SUBSTR(?text, ${from + 1}, ${one.start! - from}) AS ?before) BIND(SUBSTR(?text, ${one.end! + 1}, ${AROUND}) AS ?after) }`);
    one.before = (row?.["before"]?.value ?? "").split(/[.!?]\s+|\n/).pop()!;
    one.after = /^.*?(?:[.!?](?=\s|$)|(?=\n)|$)/.exec(row?.["after"]?.value ?? "")![0];
  }));
}

/** A source: the quote, and where it comes from. */
export function sourceShown(one: Source): TemplateResult {
  const facts = [one.confidence ? `Confidence ${Number(one.confidence).toFixed(2)}` : "", one.model ?? "", one.reviewer ? `decided by ${one.reviewer}` : ""].filter(Boolean).join(" · ");
  const words = one.before || one.after ? html`“${one.before}<span class="ok"><span class="link">${one.quote}</span></span>${one.after}”` : html`“${one.quote}”`;
  return html`<p class="quote s">${words}</p>
    <p class="small soft">${facts}${one.document ? html` · <a href=${`#/text/${one.document.split("/").pop()}`}>${one.title ?? "the text"}</a>` : nothing}</p>`;
}

function sourceOf(row: Row): Source {
  const value = (name: string): string | null => row[name]?.value ?? null;
  const place = (name: string): number | null => (row[name] ? Number(row[name].value) : null);
  return { quote: value("quote") ?? "", start: place("start"), end: place("end"), document: value("document"), title: value("title"), model: value("model"), confidence: value("confidence"), reviewer: value("reviewer")?.split("/").pop() ?? null };
}

/** A term as a query writes it; empty for what cannot stand in one. */
function written(term: Term): string {
  if (term.type === "uri") return isIri(term.value) ? `<${term.value}>` : "";
  if (term.type !== "literal") return "";
  const text = JSON.stringify(term.value);
  if (term["xml:lang"]) return /^[a-z0-9-]+$/i.test(term["xml:lang"]) ? `${text}@${term["xml:lang"]}` : "";
  return term.datatype && isIri(term.datatype) ? `${text}^^<${term.datatype}>` : text;
}
