// Lines that were added and removed between two texts.

export interface Line {
  sign: "+" | "-" | " ";
  text: string;
}

const AROUND = 2;
const MOST_CELLS = 4_000_000;

/** The lines that differ, with some around them; a gap is a line of "⋯". */
export function difference(before: string, after: string): Line[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const middle = changed(old.slice(start, old.length - end), now.slice(start, now.length - end));
  const same = (lines: string[]): Line[] => lines.map((text) => ({ sign: " ", text }));
  return folded([...same(old.slice(0, start)), ...middle, ...same(end ? old.slice(-end) : [])]);
}

/** The longest common lines stay; without room to find them, all of one text is removed and all of the other added. */
function changed(old: string[], now: string[]): Line[] {
  const removed = (text: string): Line => ({ sign: "-", text });
  const added = (text: string): Line => ({ sign: "+", text });
  if (old.length * now.length > MOST_CELLS) return [...old.map(removed), ...now.map(added)];
  const wide = now.length + 1;
  const common = new Uint32Array((old.length + 1) * wide);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * wide + j] = old[i] === now[j] ? common[(i + 1) * wide + j + 1]! + 1 : Math.max(common[(i + 1) * wide + j]!, common[i * wide + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) {
      lines.push({ sign: " ", text: old[i++]! });
      j++;
    } else if (common[(i + 1) * wide + j]! >= common[i * wide + j + 1]!) lines.push(removed(old[i++]!));
    else lines.push(added(now[j++]!));
  }
  return [...lines, ...old.slice(i).map(removed), ...now.slice(j).map(added)];
}

function folded(lines: Line[]): Line[] {
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((one) => one.sign !== " "));
  return lines.flatMap((line, at): Line[] => (near[at] ? [line] : near[at - 1] ? [{ sign: " ", text: "⋯" }] : []));
}
