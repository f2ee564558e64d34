/** A line that a page of the documentation tells its reader to type, with what it says that comes back. */
export interface ShownLine {
  readonly command: string;
  readonly output: readonly string[];
}

/** The lines after `$ ` in the fenced blocks of a Markdown text, in order. */
export function shownLines(markdown: string): readonly ShownLine[] {
  const lines: { command: string; output: string[] }[] = [];
  for (const [, block = ''] of markdown.matchAll(/^```\n([^]*?)^```$/gm)) {
    if (!block.startsWith('$ ')) continue;
    for (const text of block.trimEnd().split('\n')) {
      if (text.startsWith('$ ')) lines.push({ command: text.slice(2), output: [] });
      else lines.at(-1)?.output.push(text);
    }
  }
  return lines;
}

const VERDICTS = ['status', 'cmd', 'code', 'name', 'state', 'detail'] as const;

/** Whether `line` came back as the page shows it. A shown line of JSON may be cut, a secret is described. */
export function isAsShown(line: string, shown: string): boolean {
  if (shown.startsWith('{') && !shown.endsWith('}')) return line.startsWith(shown.slice(0, 16));
  if (shown === 'svc_<43 characters>') return /^svc_[\w-]{43}$/.test(line);
  return essence(line) === essence(shown);
}

/** What does not change from one run to the next: of JSON the verdict, of other text all but its numbers and ids. */
function essence(line: string): string {
  if (line.startsWith('{') && line.endsWith('}')) {
    const value = JSON.parse(line) as Readonly<Record<string, unknown>>;
    return JSON.stringify(VERDICTS.map((name) => value[name] ?? null));
  }
  return line.replaceAll(/(?<![a-zA-Z])[0-9a-f]{6,}(?![a-zA-Z])|\d+/g, '#').replaceAll(/ +/g, ' ');
}
