/** One attack case of the threat model, with the tests that carry its id. */
export interface AttackCase {
  readonly id: string;
  readonly text: string;
  /** Title null: the id stands elsewhere in that file, for example in a list of which each is a test. */
  readonly tests: readonly { readonly file: string; readonly title: string | null }[];
}

export interface SourceFile {
  readonly file: string;
  readonly text: string;
}

const ROW = /^\| ([A-Z]\d{1,2}) \| (.*?) \| [^|]* \|$/gm;
const TITLE = /\b(?:describe|it)\(\s*(['"`])((?:\\[\s\S]|(?!\1)[^\\])*)\1/g;
const ID = /(?<![%\w])[A-Z]\d{1,2}(?!\w)/g;

/** @param model the text of docs/threat-model.md @param specs all test files */
export function attackCases(model: string, specs: readonly SourceFile[]): readonly AttackCase[] {
  const named = specs
    .toSorted((a, b) => a.file.localeCompare(b.file))
    .map(({ file, text }) => ({
      file,
      ids: idsIn(text),
      titles: [...text.matchAll(TITLE)].map(([, , title = '']) => title.replaceAll(/\\(['"`])/g, '$1')),
    }));
  return [...model.matchAll(ROW)].map(([, id = '', text = '']) => ({
    id,
    text,
    tests: named
      .filter(({ ids }) => ids.has(id))
      .flatMap(({ file, titles }) => {
        const own = titles.filter((title) => idsIn(title).has(id));
        return (own.length === 0 ? [null] : own).map((title) => ({ file, title }));
      }),
  }));
}

function idsIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(ID)].map(([id]) => id));
}
