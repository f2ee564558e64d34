import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from './shown-shell.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The text without its fenced blocks. */
export function prose(page: string): string {
  const lines = readFileSync(join(ROOT, page), 'utf8').split('\n');
  for (const { at, lines: shown } of blocksOf(lines.join('\n')))
    lines.fill('', at - 1, at + shown.length + 1);
  return lines.join('\n');
}

/** What GitHub makes of the headings of a page. */
export function anchorsOf(page: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...prose(page).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}
