// What the server measures (Prometheus text), and how the graph grew (its changes).

interface Sample {
  name: string;
  labels: string;
  value: number;
}

export interface Growth {
  time: string;
  change: number;
  triples: number;
}

export class Measures {
  readonly samples: Sample[];

  constructor(text: string) {
    this.samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name, labels = "", value]) => ({ name: name!, labels, value: Number(value) }));
  }

  /** The sum of a measure's samples, of those with a label's value where one is given. */
  sum(name: string, label?: string): number {
    return this.samples.filter((one) => one.name === name && (!label || one.labels.includes(`"${label}"`))).reduce((all, one) => all + one.value, 0);
  }
}

/** The routes that were asked for, the slowest first. Streams, which last as long as the client wants, are not counted. */
export function timesOf(measures: Measures): { method: string; route: string; count: number; mean: number }[] {
  const found = new Map<string, { method: string; route: string; count: number; seconds: number }>();
  for (const { name, labels, value } of measures.samples) {
    const what = /^urbankg_request_seconds_(count|sum)$/.exec(name)?.[1];
    const [, method = "", route = ""] = /method="(\w+)",route="([^"]*)"/.exec(labels) ?? [];
    if (!what || !route || route === "none" || /changes|events/.test(route)) continue;
    const one = found.get(`${method} ${route}`) ?? { method, route, count: 0, seconds: 0 };
    if (what === "count") one.count += value;
    else one.seconds += value;
    found.set(`${method} ${route}`, one);
  }
  return [...found.values()].filter((one) => one.count).map((one) => ({ ...one, mean: one.seconds / one.count })).sort((one, other) => other.mean - one.mean);
}

/** A time as people say it. */
export function spoken(seconds: number): string {
  return seconds < 1 ? `${(1000 * seconds).toFixed(0)} ms` : `${seconds.toFixed(1)} s`;
}

/** The size of the graph after each of its last changes, calculated back from what it is now. */
export function growthOf(lines: string, triples: number): Growth[] {
  const changes = lines.split("\n").filter(Boolean).map((line) => JSON.parse(line) as { time: string; added: number; removed: number });
  let left = triples;
  return changes.reverse().map(({ time, added, removed }) => {
    const one = { time, change: added - removed, triples: left };
    left -= added - removed;
    return one;
  }).filter((one) => one.change !== 0).reverse();
}
