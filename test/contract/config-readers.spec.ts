import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { configLeaves } from '../../shared/config/keys.ts';
import { ROOT } from '../support/node.ts';

/** The sources of each process that reads the configuration at its start. */
const SOURCES = {
  'svc-control': 'front/control',
  'svc-link': 'front/link',
  'svc-fleet': 'front/fleet',
  'svc-machine': 'front/machine',
  'svc-residual': 'residual/app',
  'svc-video': 'residual/video',
  'svc-vision': 'residual/vision',
} as const;

const LEAVES = configLeaves();
const SECTIONS = [...new Set(LEAVES.map(([key]) => key.split('.')[0] ?? ''))];
/** `video.hero`, `config.video.recording.reserve_mb`; not the same in a text or a comment. */
const CHAIN = new RegExp(
  `(?<![\\w.'"\`/-])(?:\\w+\\.)?((?:${SECTIONS.join('|')})(?:\\.[a-z][a-z0-9_]*)+)\\b(?!\\()`,
  'g',
);

/** It reads the file anew each time that it is asked. */
const ALWAYS_NEW = 'residual/app/setup/**';

/** The keys that the sources of a process name by section and member: of a whole section that is handed on, all of it. */
function keysReadBy(folder: string): ReadonlyMap<string, string> {
  const read = new Map<string, string>();
  for (const file of globSync(`${folder}/**/*.ts`, { cwd: ROOT, exclude: [ALWAYS_NEW] })) {
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(
      /^\s*(?:\/\/|\/?\*).*$|'(?:[^'\n\\]|\\.)*'|`[^`$]*`/gm,
      '',
    );
    for (const [, chain = ''] of text.matchAll(CHAIN))
      for (const [key] of LEAVES) if (key === chain || key.startsWith(`${chain}.`)) read.set(key, file);
  }
  return read;
}

describe('which processes a config key names as those to restart', () => {
  for (const [name, folder] of Object.entries(SOURCES))
    it(`${name} is named by every key that it reads`, () => {
      const read = keysReadBy(folder);
      const missing = LEAVES.flatMap(([key, leaf]) => {
        const file = read.get(key);
        const restarts = leaf['x-restart'] ?? [];
        return file === undefined || restarts.includes(name) || restarts.includes('svc-supervisor')
          ? []
          : [`${key} (${file})`];
      });
      expect(missing).to.deep.equal([]);
    });
});
