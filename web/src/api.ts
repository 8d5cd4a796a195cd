// The public HTTP API, as any other client uses it. Addresses are relative, so that a proxy may add a path.

const KEY = "urbankg.key";

export interface Access {
  key: string | null;
  scopes: string[];
}

export interface Term {
  type: "uri" | "literal" | "bnode" | "triple";
  value: string;
  datatype?: string;
  "xml:lang"?: string;
}

export type Row = Record<string, Term>;

export interface Results {
  head: { vars?: string[] };
  results?: { bindings: Row[] };
  boolean?: boolean;
}

/** What the server refused, in its own words (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly body: Record<string, any> = {},
  ) {
    super(detail);
  }
}

/** The key of this tab; it is gone when the tab is closed. */
export const key = {
  get: (): string | null => sessionStorage.getItem(KEY),
  set: (value: string | null): void => {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  },
};

interface Options {
  method?: string;
  json?: unknown;
  form?: Record<string, string>;
  turtle?: string;
  file?: { type: string; content: Blob };
  accept?: string;
  signal?: AbortSignal;
}

async function send(path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: options.accept ?? "application/json" };
  const token = key.get();
  if (token) headers["Authorization"] = `Bearer ${token}`;
  let body: BodyInit | undefined;
  if (options.json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(options.json);
  } else if (options.turtle !== undefined) {
    headers["Content-Type"] = "text/turtle";
    body = options.turtle;
  } else if (options.file) {
    headers["Content-Type"] = options.file.type;
    body = options.file.content;
  } else if (options.form) {
    body = new URLSearchParams(options.form);
  }
  let answer: Response;
  try {
    const method = options.method ?? (body === undefined ? "GET" : "POST");
    answer = await fetch(path, { method, headers, body, signal: options.signal });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem(0, "The server does not answer. Is it still running?");
  }
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Problem(answer.status, told.detail ?? `The server answered ${answer.status}.`, told);
  }
  return answer;
}

/** Ask for JSON. Throws `Problem`. */
export async function ask(path: string, options: Options = {}): Promise<any> {
  return (await send(path, options)).json();
}

/** Ask for JSON, and hear of each step while it is made. Throws `Problem`. */
export async function inSteps(path: string, json: unknown, step: (step: any) => void, signal?: AbortSignal): Promise<any> {
  const answer = await send(path, { json, accept: "text/event-stream, application/json;q=0.5", signal });
  if (!answer.headers.get("Content-Type")?.startsWith("text/event-stream")) return answer.json();
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let read = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Problem(0, "The connection ended before the answer came. Is the server still running?");
    const parts = (read + value).split("\n\n");
    read = parts.pop()!;
    for (const part of parts) {
      const name = /^event: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (!name || !data) continue;
      const told = JSON.parse(data);
      if (name === "answer") return told;
      if (name === "problem") throw new Problem(told.status, told.detail, told);
      step(told);
    }
  }
}

/** Ask for text in a format. Throws `Problem`. */
export async function text(path: string, options: Options): Promise<string> {
  return (await send(path, options)).text();
}

/** Send a file. Throws `Problem`. */
export function upload(path: string, type: string, content: Blob): Promise<any> {
  return ask(path, { file: { type, content } });
}

/** Run a SPARQL SELECT or ASK query. Throws `Problem`. */
export function select(query: string, signal?: AbortSignal): Promise<Results> {
  return ask("sparql", { form: { query }, accept: "application/sparql-results+json", signal });
}

/** The rows of a SELECT query. Throws `Problem`. */
export async function rows(query: string): Promise<Row[]> {
  return (await select(query)).results?.bindings ?? [];
}

/** An address with parameters; those without a value are left out. */
export function address(path: string, parameters: Record<string, string | number | null | undefined>): string {
  const found = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return found.length ? `${path}?${new URLSearchParams(found.map(([name, value]) => [name, String(value)]))}` : path;
}

/** What went wrong, in words that say what to do. */
export function inWords(error: unknown): string {
  if (error instanceof Problem) {
    if (error.status === 401) return key.get() ? `${error.message} Sign in with another key.` : "This needs a key. Sign in with one; who runs the server makes keys.";
    return withoutRoutes(error.message);
  }
  return error instanceof Error ? error.message : String(error);
}

/** A message without what only programs can do about it: requests to send. */
function withoutRoutes(message: string): string {
  const route = /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) \//;
  const sentences = message.split(/(?<=[.!?])\s+/).map((one) => one.replace(/; `?(?:GET|POST|PUT|PATCH|DELETE) \/[^;]*\.$/, "."));
  return sentences.filter((one) => !route.test(one)).join(" ") || message;
}

/** Let the browser keep a text as a file. */
export function download(name: string, type: string, content: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
