import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { readHubConfig } from '../../bin/hub/config.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const HUB = 'fleet: abcdefgh\nname: x\nnames: [localhost]\nbroker: { url: "mqtts://localhost:8883" }\n';
const rules = (...each: readonly string[]): string =>
  `maintenance:\n${each.map((one) => `  - ${one}\n`).join('')}`;
const PROPELLERS = '{ name: propellers, hours: 50 }';

describe('hub.yaml about flights and maintenance', () => {
  let file: string;
  let folder: string;
  before(async () => {
    folder = await tempDir();
    file = join(folder, 'hub.yaml');
  });
  after(async () => removeDir(folder));
  const read = async (text: string) => {
    await rm(file, { force: true });
    await writeFile(file, HUB + text, { mode: 0o600 });
    return readHubConfig(file);
  };

  it('says what it says, and what it leaves out', async () => {
    expect(await read('')).to.deep.include({
      flights: { keep_days: null, node_mb: 256 },
      maintenance: [],
    });
    const { flights, maintenance } = await read(
      `flights: { keep_days: 365 }\n${rules(PROPELLERS, '{ name: test, of: battery, flights: 100, days: 0.5 }')}`,
    );
    expect(flights).to.deep.equal({ keep_days: 365, node_mb: 256 });
    expect(maintenance).to.deep.equal([
      { name: 'propellers', of: 'airframe', hours: 50 },
      { name: 'test', of: 'battery', flights: 100, days: 0.5 },
    ]);
  });

  for (const [text, words] of [
    ['flights: 7', '/flights must be an object'],
    ['flights:', '/flights must be an object'],
    ['flights: { keep_days: 0 }', '/flights/keep_days must be from 1 to 36500'],
    ['flights: { keep_days: 36501 }', '/flights/keep_days must be from 1 to 36500'],
    ['flights: { keep_days: 1.5 }', '/flights/keep_days must be a whole number or null'],
    ['flights: { keep_days: ten }', '/flights/keep_days must be a whole number or null'],
    ['flights: { keep_for: 3 }', '/flights/keep_for is not known here'],
    ['flights: { node_mb: 0 }', '/flights/node_mb must be from 1 to 100000'],
    ['flights: { node_mb: null }', '/flights/node_mb must be a whole number'],
    ['maintenance:', '/maintenance must be a list'],
    ['maintenance: { name: propellers, hours: 50 }', '/maintenance must be a list'],
    ['maintenance: [propellers]', '/maintenance/0 must be an object'],
    [rules(PROPELLERS, '{ hours: 50 }'), '/maintenance/1 needs "name"'],
    [rules('{ name: propellers }'), '/maintenance/0 needs "hours", "flights" or "days"'],
    [rules('{ name: test, of: battery }'), '/maintenance/0 needs "hours", "flights" or "days"'],
    [rules('{ name: test, of: wing, days: 3 }'), '/maintenance/0/of must be airframe or battery'],
    [rules('{ name: "", days: 3 }'), '/maintenance/0/name must not be empty'],
    [rules('{ name: 7, days: 3 }'), '/maintenance/0/name must be text'],
    [rules('{ name: "a\\nb", days: 3 }'), '/maintenance/0/name must have no control characters'],
    [rules(`{ name: ${'x'.repeat(129)}, days: 3 }`), '/maintenance/0/name must have at most 128 characters'],
    [rules('{ name: test, hours: 0 }'), '/maintenance/0/hours must be 100000 or less and more than 0'],
    [rules('{ name: test, hours: "50" }'), '/maintenance/0/hours must be a number'],
    [rules('{ name: test, hours: .inf }'), '/maintenance/0/hours must be'],
    [rules('{ name: test, flights: 0 }'), '/maintenance/0/flights must be from 1 to 1000000'],
    [rules('{ name: test, flights: 1.5 }'), '/maintenance/0/flights must be a whole number'],
    [rules('{ name: test, days: -1 }'), '/maintenance/0/days must be 36500 or less and more than 0'],
    [rules('{ name: test, days: .nan }'), '/maintenance/0/days must be a number'],
    [rules('{ name: test, days: null }'), '/maintenance/0/days must be a number'],
    [rules('{ name: test, hour: 3, days: 3 }'), '/maintenance/0/hour is not known here'],
    [rules(PROPELLERS, PROPELLERS), '/maintenance has two entries with the same name'],
    [rules(PROPELLERS, '{ name: propellers, of: battery, days: 3 }'), 'two entries with the same name'],
    [
      rules(...Array.from({ length: 33 }, (_, n) => `{ name: r${n}, days: 3 }`)),
      '/maintenance must have at most 32',
    ],
    ['maintenance:\n  - name: a\n   days: 3', 'is no YAML'],
  ] as const)
    it(`is refused where it says ${JSON.stringify(text.slice(0, 60))}`, async () => {
      const said = await read(text).then(
        () => 'nothing is wrong',
        (error: unknown) => String(error),
      );
      expect(said).to.include(file).and.to.include(words);
      expect(said.split('; '), 'one thing is wrong').to.have.length(1);
    });
});
