import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from './package-list.ts';

/** What may be in a package; all of it may be given on under the GPL 3. */
const ALLOWED = new Set([
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'LGPL-3.0-only',
  'MIT',
  'Python-2.0',
  'Unlicense',
]);

/** What a package calls its licence, where that is no id of SPDX. Both have the text of version 3 without "or later". */
const CALLED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'node-mavlink': { LGPL: 'LGPL-3.0-only' },
  'mavlink-mappings': { LGPL: 'LGPL-3.0-only' },
};

/**
 * Packages that name their licence and bring no text: the standard one is given for them, with the holder that their sources or
 * their package.json name.
 */
const HOLDERS: Readonly<Record<string, string>> = {
  '@polka/url': 'Luke Edwards',
  '@seydx/node-av-linux-arm64': 'seydx',
  '@seydx/node-av-linux-x64': 'seydx',
  'onnxruntime-common': '2018 - present Microsoft Corporation',
  'onnxruntime-node': '2018 - present Microsoft Corporation',
  'pg-types': '2014 Brian M. Carlson',
  pgpass: '2013-2016 Hannes Hörl',
  pmtiles: '2021 Protomaps LLC',
  sirv: 'Luke Edwards',
  werift: '2020 shinyoshiaki',
  'xz-decompress': 'Steve Sanderson, Tim Perry',
};
/** Stands in for packages that are not wanted (`overrides` in package.json); there is nothing in it. */
const EMPTY = 'empty-npm-package';

const TEXT_FILE = /^(?:licen[cs]e|copying|notice)/i;
const STANDARD = join(import.meta.dirname, 'licenses');

/** @returns the id of SPDX @throws Error if the licence is not one of those that may be in a package */
export function licenseId({ name, version, license }: Package): string {
  const id = CALLED[name]?.[license] ?? license;
  if (!ALLOWED.has(id)) throw new Error(`${name} ${version} has the licence '${id}', which is not allowed.`);
  return id;
}

/** All licence texts of the packages, each text once, in the order of the names. @throws Error naming each package without one */
export async function licenseTexts(packages: readonly Package[]): Promise<string> {
  const texts = new Map<string, string[]>();
  const wrong: string[] = [];
  for (const each of packages) {
    const title = `${each.name} ${each.version} (${licenseId(each)})`;
    const text = await textOf(each);
    if (text === null) wrong.push(title);
    else texts.set(text, [...new Set([...(texts.get(text) ?? []), title])]);
  }
  if (wrong.length > 0) throw new Error(`No licence text: ${wrong.join(', ')}`);
  const line = '-'.repeat(78);
  return [...texts].map(([text, titles]) => `${line}\n${titles.join('\n')}\n${line}\n\n${text}\n`).join('\n');
}

async function textOf(each: Package): Promise<string | null> {
  const names = (await readdir(each.folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && TEXT_FILE.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
  if (names.length > 0) {
    const texts = await Promise.all(names.map(async (name) => readFile(join(each.folder, name), 'utf8')));
    return texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
  }
  if (each.name === EMPTY) return '(an empty package)';
  const holder = HOLDERS[each.name];
  if (holder === undefined) return null;
  const standard = await readFile(join(STANDARD, `${licenseId(each)}.txt`), 'utf8');
  return `Copyright (c) ${holder}\n\n${standard.trim()}`;
}
