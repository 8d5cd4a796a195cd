// The query editor: YASQE without network, with the names of this graph as completions.

import Yasqe from "@zazuko/yasqe";
import { completions } from "./screen";

interface Token {
  string: string;
  type: string | null;
  start: number;
  end: number;
}

/** Names for IRIs that were offered. */
const offered = new Map<string, string>();

function wordOf(token: Token): string {
  return token.string.replace(/^<|>$/g, "").replace(/^[\w-]*:(?!\/\/)/, "").trim();
}

const names = {
  name: "names",
  bulk: false,
  autoShow: false,
  isValidCompletionPosition: (editor: any): boolean => {
    const token = editor.getCompleteToken() as Token;
    const line = editor.getDoc().getLine(editor.getDoc().getCursor().line) as string;
    return wordOf(token).length > 1 && !/^[?$"'#]/.test(token.string) && !/\b(PREFIX|BASE)\s+[^>]*$/i.test(line.slice(0, token.start));
  },
  preProcessToken: (_: unknown, token: Token): Token => ({ ...token, autocompletionString: wordOf(token), from: { ch: token.start } }) as Token,
  get: async (editor: any, token?: Token): Promise<string[]> => {
    const words = wordOf(token ?? editor.getCompleteToken()).replace(/([a-z])([A-Z])/g, "$1 $2");
    // Queries name classes and properties more often than things.
    const kinds = await Promise.all([completions(words, "class", 4), completions(words, "property", 4), completions(words, "entity", 8)]);
    // What the query's own prefixes name comes first within its kind.
    const starts = Object.values(editor.getPrefixesFromQuery() as Record<string, string>);
    const foreign = (iri: string): number => (starts.some((one) => iri.startsWith(one)) ? 0 : 1);
    const found = kinds.flatMap((some) => some.sort((one, other) => foreign(one.iri) - foreign(other.iri)));
    for (const one of found) offered.set(one.iri, `${one.label} · ${one.kind}`);
    return found.map((one) => one.iri);
  },
  postProcessSuggestion: (editor: any, _: unknown, iri: string): string => {
    for (const [prefix, start] of Object.entries(editor.getPrefixesFromQuery() as Record<string, string>)) {
      if (iri.startsWith(start) && /^[A-Za-z][\w-]*$/.test(iri.slice(start.length))) return `${prefix}:${iri.slice(start.length)}`;
    }
    return `<${iri}>`;
  },
  postprocessHints: (editor: any, hints: { text: string; displayText: string }[]): unknown[] => {
    const prefixes = editor.getPrefixesFromQuery() as Record<string, string>;
    for (const hint of hints) {
      const [prefix = "", ...local] = hint.text.split(":");
      const iri = hint.text.startsWith("<") ? hint.text.slice(1, -1) : (prefixes[prefix] ?? "") + local.join(":");
      hint.displayText = offered.get(iri) ?? hint.text;
    }
    return hints;
  },
};

let registered = false;

/** The editor measures its letters, so that its style comes first. */
export const styled = new Promise<void>((done) => {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "ui/editor.css" });
  link.addEventListener("load", () => done());
  link.addEventListener("error", () => done());
  document.head.append(link);
});

export interface Editor {
  value: () => string;
  set: (query: string) => void;
  insert: (text: string) => void;
  end: () => void;
}

/** Put an editor into an element. */
export function edit(parent: HTMLElement, query: string, changed: (query: string) => void, run: () => void): Editor {
  if (!registered) {
    (Yasqe as any).registerAutocompleter(names, false);
    // The editor's own completions of classes ask another host.
    (Yasqe as any).defaults.autocompleters = ["names", "variables"];
  }
  registered = true;
  const yasqe: any = new (Yasqe as any)(parent, {
    value: query,
    showQueryButton: false,
    resizeable: false,
    persistenceId: null,
    prefixCcApi: null,
    createShareableLink: () => "",
    pluginButtons: undefined,
    editorHeight: "18rem",
    screenReaderLabel: "SPARQL query",
    // The Tab key leaves the editor, as it leaves every field.
    extraKeys: { "Ctrl-Enter": run, "Cmd-Enter": run, "Ctrl-Space": () => yasqe.autocomplete(), Tab: false, "Shift-Tab": false },
  });
  const field = yasqe.getInputField() as HTMLElement;
  field.setAttribute("aria-label", "SPARQL query. Control and Space completes a name.");
  field.id = "sparql";
  yasqe.on("change", () => changed(yasqe.getValue()));
  return {
    value: () => yasqe.getValue() as string,
    set: (text) => yasqe.getValue() !== text && yasqe.setValue(text),
    insert: (text) => {
      yasqe.replaceSelection(text);
      yasqe.focus();
    },
    end: () => yasqe.destroy(),
  };
}
