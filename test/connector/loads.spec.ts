import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';

/** A statement that loads a module; `import type` loads nothing, and import() waits until it is called. */
const LOADS = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\bfrom\s+)?'([^']+)'/gm;

/** The packages that a file loads by statements, its own and those of what it loads. */
function packagesOf(entry: string): ReadonlySet<string> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const next = [join(ROOT, entry)];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(LOADS)) {
      if (target.startsWith('.')) next.push(join(dirname(file), target));
      else if (!target.startsWith('node:')) packages.add(target);
    }
  }
  return packages;
}

describe('what the connector loads', () => {
  it('to its answer of initialize over stdio: the protocol and the logger; the rest when it is asked for', () => {
    const loaded = [...packagesOf('connector/main.ts')].toSorted();
    expect(loaded).to.deep.equal([
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/server/stdio',
      'winston',
    ]);
  });

  it('over HTTP and for a fleet, what these need besides', () => {
    expect(packagesOf('connector/transports/services.ts')).to.include('@modelcontextprotocol/node');
    expect(packagesOf('connector/planes/open-fleet.ts')).to.include('mqtt/lib/client');
  });
});
