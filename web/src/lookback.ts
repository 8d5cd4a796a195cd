// What operators look back at: the gate's verdicts by rule over time, and slow queries.

import { html, nothing, svg, type TemplateResult } from "lit";
import { address } from "./api";
import { spoken } from "./measures";
import { ruleName } from "./names";

interface ShapeVerdicts {
  shape: string | null;
  refused: number;
  warned: number;
  refused_rate: number | null;
  warned_rate: number | null;
  refused_by_period: number[];
  warned_by_period: number[];
}

export interface Verdicts {
  step: "hour" | "day";
  periods: { start: string; accepted: number; refused: number; warned: number }[];
  shapes: ShapeVerdicts[];
}

export interface SlowQueries {
  threshold: number;
  queries: { query: string | null; complete: boolean; times: number; longest: number; mean: number; last: string; status: number }[];
}

const SHOWN = 12;
const HEIGHT = 24;

/** Of each period the share of judged statements that were refused and warned of. */
interface Trend {
  name: string;
  refused: number[];
  warned: number[];
}

/** Each rule's share of all judged statements, in all and in each period. */
export function verdictTable(of: Verdicts): TemplateResult {
  const judged = of.periods.map((one) => one.accepted + one.refused);
  const sum = judged.reduce((all, one) => all + one, 0);
  if (!sum) return html`<p class="empty">Nothing was judged in this time. <a href="#/text">Read a text</a></p>`;
  const all: ShapeVerdicts = {
    shape: null,
    refused: of.periods.reduce((found, one) => found + one.refused, 0),
    warned: of.periods.reduce((found, one) => found + one.warned, 0),
    refused_rate: null,
    warned_rate: null,
    refused_by_period: of.periods.map((one) => one.refused),
    warned_by_period: of.periods.map((one) => one.warned),
  };
  const row = (one: ShapeVerdicts, name: string, link: boolean): TemplateResult => {
    const trend = { name, refused: one.refused_by_period, warned: one.warned_by_period };
    const words = link && one.shape ? html`<a href=${`#/${address("review", { shape: one.shape, status: "any" })}`}>${name}</a>` : html`<b>${name}</b>`;
    return html`<tr><td>${words}${trendOf(trend, judged, of)}</td><td class="right">${one.refused.toLocaleString("en")}</td>
      <td class="right">${one.warned.toLocaleString("en")}</td><td class="right">${percent(one.refused / sum)}</td></tr>`;
  };
  return html`<table class="list verdicts"><thead><tr><th>Rule</th><th class="right">Refused</th><th class="right">Warned</th><th class="right">Refused of all</th></tr></thead>
    <tbody>${row(all, `All ${sum.toLocaleString("en")} judged statements`, false)}
      ${of.shapes.slice(0, SHOWN).map((one) => row(one, one.shape === null ? "other reasons" : ruleName(one.shape), true))}</tbody></table>
    ${of.shapes.length > SHOWN ? html`<p class="small soft in">And ${of.shapes.length - SHOWN} rules with fewer.</p>` : nothing}`;
}

/** A bar for each period: how much of what was judged then was refused, and above it warned of. */
function trendOf(trend: Trend, judged: number[], of: Verdicts): TemplateResult {
  const share = (counts: number[], at: number): number => (judged[at] ? counts[at]! / judged[at]! : 0);
  const most = Math.max(0.05, ...judged.map((_, at) => share(trend.refused, at) + share(trend.warned, at)));
  const height = (counts: number[], at: number): number => (share(counts, at) / most) * HEIGHT;
  const bars = judged.map((_, at) => {
    const [no, warn] = [height(trend.refused, at), height(trend.warned, at)];
    return svg`${no ? svg`<rect class="no" x=${at * 4} y=${HEIGHT - no} width="3" height=${no}></rect>` : nothing}${warn ? svg`<rect class="warn" x=${at * 4} y=${HEIGHT - no - warn} width="3" height=${warn}></rect>` : nothing}`;
  });
  return html`<svg class="trend" role="img" viewBox="0 0 ${judged.length * 4} ${HEIGHT}" preserveAspectRatio="none" aria-label=${trendInWords(trend, judged, of)}>
    ${svg`<path d="M0 ${HEIGHT - 0.5}H${judged.length * 4}"></path>`}${bars}</svg>`;
}

/** The periods in which something was refused or warned of, the newest first. */
function trendInWords(trend: Trend, judged: number[], of: Verdicts): string {
  const found = of.periods.flatMap(({ start }, at) => {
    const [refused, warned] = [trend.refused[at]!, trend.warned[at]!];
    if (!refused && !warned) return [];
    const counts = [refused ? `${refused} refused` : "", warned ? `${warned} warned of` : ""].filter(Boolean).join(", ");
    return [`${when(start, of.step)}: ${counts} of ${judged[at]}`];
  });
  return `${trend.name} by ${of.step}. ${found.length ? found.reverse().slice(0, 8).join("; ") : "nothing refused or warned of"}`;
}

function when(start: string, step: Verdicts["step"]): string {
  return step === "day" ? start.slice(0, 10) : `${start.slice(11, 16)} UTC`;
}

function percent(share: number): string {
  return share && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** The slowest queries; the text of others' is not shown. */
export function slowList(of: SlowQueries): TemplateResult {
  if (!of.queries.length) return html`<p class="empty">No query of the last day took ${spoken(of.threshold)} or longer.</p>`;
  return html`<ul class="items">${of.queries.slice(0, SHOWN).map((one) => {
    const facts = html`<span class="num small faint">${spoken(one.longest)}</span>`;
    const more = html`<span class="small faint">${one.times === 1 ? "once" : `${one.times.toLocaleString("en")} times, ${spoken(one.mean)} on average`}, last at ${one.last.slice(0, 16).replace("T", " ")} UTC${ended(one.status)}</span>`;
    if (one.query === null) return html`<li><span class="two"><span class="soft">A query of another client</span>${facts}</span><p>${more}</p></li>`;
    return html`<li><details><summary class="bare"><span class="two"><code class="cut">${shortened(one.query)}</code>${facts}</span></summary>
        <pre tabindex="0" class="tall">${one.query}${one.complete ? nothing : "\n…"}</pre>
        ${one.complete ? html`<p><a class="small" href=${`#/${address("query", { query: one.query })}`}>Run it in Query</a></p>` : html`<p class="small soft">The rest was not kept.</p>`}</details><p>${more}</p></li>`;
  })}</ul>${of.queries.length > SHOWN ? html`<p class="small soft in">And ${of.queries.length - SHOWN} that were quicker.</p>` : nothing}`;
}

/** The start of a query, from behind its prefixes. */
function shortened(query: string): string {
  return query.replace(/^(?:\s*(?:PREFIX\s+\S+\s*<[^>]*>|BASE\s*<[^>]*>))+/i, "").trim().replace(/\s+/g, " ").slice(0, 200);
}

function ended(status: number): string {
  if (status === 504) return "; ended at its time limit";
  if (status === 499) return "; its client left";
  return status >= 400 ? `; it failed (${status})` : "";
}
