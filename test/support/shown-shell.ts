import { globSync } from 'node:fs';
import { ROOT } from './node.ts';

/** A line that a page of the documentation tells its reader to type, with what it says that comes back. */
export interface ShownLine {
  readonly command: string;
  readonly output: readonly string[];
}

/** A fenced block of a Markdown text. */
export interface Block {
  /** The line of its fence, from 1 on. */
  readonly at: number;
  /** The word after the fence; empty for none. */
  readonly language: string;
  /** Why no test runs it, from `<!-- not run: … -->` on the line before; null without that. */
  readonly notRun: string | null;
  readonly lines: readonly string[];
}

/** The languages of the blocks that somebody types: `console` with `$ ` and what comes back, `sh` with the commands alone. */
export const TYPED: readonly string[] = ['console', 'sh'];

/** The pages whose blocks are run, in that order; what was measured, and the route table, tell nobody to type anything. */
export const TYPED_PAGES: readonly string[] = [
  'README.md', // the first: it starts the node, and pairs it
  ...globSync('docs/**/*.md', { cwd: ROOT, exclude: ['docs/evidence/**', 'docs/routes.md'] }).toSorted(),
];

/** All fenced blocks of a Markdown text, in order. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const language = /^```(.*)$/.exec(lines[index] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', index + 1);
    const notRun = /^<!-- not run:(.*)-->$/.exec(lines[index - 1] ?? '')?.[1]?.trim() ?? null;
    blocks.push({ at: index + 1, language, notRun, lines: lines.slice(index + 1, end) });
    index = end;
  }
  return blocks;
}

/** What is typed in a block of one of the languages `TYPED`, in order; a line that ends with a backslash goes on in the next. */
export function shownLines({ language, lines }: Block): readonly ShownLine[] {
  const shown: { command: string; output: string[] }[] = [];
  for (const text of lines) {
    const last = shown.at(-1);
    if (last?.command.endsWith('\\') === true) last.command += `\n${text}`;
    else if (language === 'sh') shown.push({ command: text, output: [] });
    else if (text.startsWith('$ ')) shown.push({ command: text.slice(2), output: [] });
    else if (text.trim() !== '') last?.output.push(text.trim());
  }
  return shown.filter(({ command }) => command.trim() !== '');
}

const VERDICTS = ['status', 'cmd', 'code', 'name', 'state', 'detail'] as const;

/**
 * Whether `line` came back as the page shows it, but for numbers and ids, which differ from one run to the next. `…` in a shown
 * line is whatever comes there, `<43 characters>` a secret of that length. Of JSON the verdict counts; a shown one may be cut.
 */
export function isAsShown(line: string, shown: string): boolean {
  if (shown.startsWith('{'))
    return shown.endsWith('}') ? verdict(line) === verdict(shown) : sameHead(line, shown);
  return new RegExp(`^${shown.replaceAll(VARIES, pattern)}$`).test(line);
}

/** What is another one in the next run: a described secret, a pairing code, an id, a number, how many spaces stand between columns. */
const VARIES =
  /<(\d+) characters>|\b(?=[A-Z]*\d)[A-Z2-9]{6}\b|(?<![a-zA-Z])[0-9a-f]{6,}(?![a-zA-Z])|\d+\.\d+(?![.\d])|\d+| +|…|[\\^$.*+?()[\]{}|]/g;

function pattern(text: string, length: string | undefined): string {
  if (length !== undefined) return `[\\w-]{${length}}`;
  if (text === '…') return '.*';
  if (text.startsWith(' ')) return ' +';
  if (/^\d+\.\d+$/.test(text)) return '\\d+(?:\\.\\d+)?'; // 2.3 s may be 1 s in the next run
  if (/^(?=.*[A-Z])[A-Z2-9]{6}$/.test(text)) return '[A-Z2-9]{6}';
  return /^[0-9a-f]+$/.test(text) ? '[0-9a-f]+' : `\\${text}`;
}

function sameHead(line: string, shown: string): boolean {
  return line.startsWith(shown.slice(0, 16));
}

function verdict(line: string): string | null {
  if (!line.startsWith('{') || !line.endsWith('}')) return null;
  const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
  return JSON.stringify(VERDICTS.map((name) => value[name] ?? null));
}
