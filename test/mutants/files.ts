import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { ROOT } from '../support/node.ts';

/** As far as it is read here: patterns of files, where those after `!` are left out, and the tests. */
export const CONFIG = JSON.parse(readFileSync(join(ROOT, 'test/mutants/stryker.json'), 'utf8')) as {
  readonly mutate: readonly string[];
  readonly mochaOptions: { readonly spec: readonly string[] };
};

/** The files that are mutated, each with its mark as it is now. */
export function mutatedFiles(): ReadonlyMap<string, string> {
  const [files, exclude] = [false, true].map((isOut) =>
    CONFIG.mutate.filter((each) => each.startsWith('!') === isOut).map((each) => each.replace(/^!/, '')),
  );
  const found = globSync(files ?? [], { cwd: ROOT, exclude: exclude ?? [] }).toSorted();
  return new Map(found.map((file) => [file, markOf(readFileSync(join(ROOT, file), 'utf8'))]));
}

/** The mark of a file, which changes with what it does: the first 12 hex digits of the SHA-256 of its code without comments, types and line breaks. */
export function markOf(source: string): string {
  const { comments } = parseSync('code.ts', source);
  const bare = comments.reduceRight((text, { start, end }) => text.slice(0, start) + text.slice(end), source);
  const code = stripTypeScriptTypes(bare).replaceAll(/\s+/g, ' ');
  return createHash('sha256').update(code).digest('hex').slice(0, 12);
}

/** Files that the page does not vouch for: without a row, or changed since it was written. */
export function staleFiles(
  rows: readonly { readonly file: string; readonly mark: string }[],
  files: ReadonlyMap<string, string>,
): readonly string[] {
  const tried = new Map(rows.map(({ file, mark }) => [file, mark]));
  return [...files].filter(([file, mark]) => tried.get(file) !== mark).map(([file]) => file);
}
