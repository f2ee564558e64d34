import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { configLeaves, valueAt } from '../../shared/config/keys.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { COPIED, copyState, KEPT_KEYS, restoreState } from '../../shared/update/state-copy.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Only ever newer: an old copy of one would give back what was taken from somebody, or forget what happened. */
const NEVER = [
  'mcpToken',
  'pluginRevocations',
  'pluginKeys',
  'pluginState',
  'pairing',
  'dashboardPin',
  'sessions',
  'ended',
  'peerLocks',
  'deviceId',
  'fleet',
  'fleetPolicy',
  'fleetQueue',
  'radioPairs',
  'radioKeys',
  'signingDir',
  'auditDir',
  'auditKey',
  'auditHeads',
] as const satisfies readonly (keyof Paths)[];

describe('the files of a node when a version did not stay', () => {
  let base: string;
  let paths: Paths;
  let folder: string;
  beforeEach(async () => {
    base = await tempDir();
    paths = pathsFrom({
      SVC_ETC_DIR: join(base, 'etc'),
      SVC_RUN_DIR: join(base, 'run'),
      SVC_STATE_DIR: join(base, 'state'),
    });
    folder = join(base, 'copies');
    await mkdir(paths.etc);
    await mkdir(paths.state);
  });
  afterEach(async () => removeDir(base));
  const asIs = async <T>(work: () => Promise<T>): Promise<T> => work();
  const isConfig = (name: string): boolean => name.startsWith('config');
  const put = async (name: keyof Paths, content: string): Promise<void> => {
    await mkdir(dirname(paths[name]), { recursive: true });
    await writeFile(paths[name], content, { mode: 0o600 });
  };

  for (const name of COPIED)
    it(`${name} comes back`, async () => {
      const [old, now] = isConfig(name)
        ? ['agent:\n  name: old\n', 'agent:\n  name: new\n']
        : ['{"of":"old"}', '{"of":"new"}'];
      await put(name, old);
      await copyState(paths, folder, asIs);
      await put(name, now);
      expect(await restoreState(paths, folder, asIs)).to.deep.equal([]);
      expect(await readFile(paths[name], 'utf8')).to.equal(old);
      expect((await stat(paths[name])).mode & 0o777).to.equal(0o600);
    });

  for (const name of NEVER)
    it(`${name} stays the newest`, async () => {
      await put(name, 'old');
      await put('config', 'agent:\n  name: old\n');
      await copyState(paths, folder, asIs);
      await put(name, 'new');
      await restoreState(paths, folder, asIs);
      expect(await readFile(paths[name], 'utf8')).to.equal('new');
    });

  it('who may do what stays the newest inside the config too, key by key; the rest comes back', async () => {
    const of = (keys: readonly string[], value: unknown): unknown => {
      const config = {};
      for (const key of keys) {
        let at: Record<string, unknown> = config;
        for (const part of key.split('.').slice(0, -1)) at = (at[part] ??= {}) as Record<string, unknown>;
        at[key.split('.').at(-1) ?? ''] = value;
      }
      return config;
    };
    const all = configLeaves().map(([key]) => key);
    expect(KEPT_KEYS).to.include.members([
      'fleet.operators',
      'fleet.scopes',
      'mcp.token_accept_enabled',
      'security.pairing.require_code',
      'security.api.cors_origins',
    ]);
    await put('config', stringify(of(all, 'old')));
    await copyState(paths, folder, asIs);
    const [gone = '', ...still] = KEPT_KEYS;
    await put('config', stringify(of([...all.filter((key) => !KEPT_KEYS.includes(key)), ...still], 'new')));
    expect(await restoreState(paths, folder, asIs)).to.deep.equal([]);
    const config: unknown = parse(await readFile(paths.config, 'utf8'));
    for (const key of all) {
      const expected = key === gone ? undefined : KEPT_KEYS.includes(key) ? 'new' : 'old';
      expect(valueAt(config, key), key).to.equal(expected);
    }
  });

  it('where the newest config cannot be read, nobody knows who may do what: the copy stays out', async () => {
    await put('config', 'fleet:\n  operators: [gone]\n');
    await copyState(paths, folder, asIs);
    await put('config', '{{{');
    const problems = await restoreState(paths, folder, asIs);
    expect(problems.join()).to.include('no present config can be read');
    expect(await readFile(paths.config, 'utf8')).to.equal('{{{');
  });

  it('a folder comes back file by file; a link is neither followed nor copied', async () => {
    await mkdir(paths.peripherals);
    await writeFile(join(paths.peripherals, 'a.yaml'), 'old');
    await writeFile(join(base, 'secret'), 'secret');
    await symlink(join(base, 'secret'), join(paths.peripherals, 'b.yaml'));
    await symlink(join(base, 'secret'), paths.setup);
    await copyState(paths, folder, asIs);
    await writeFile(join(paths.peripherals, 'a.yaml'), 'new');
    await writeFile(join(paths.peripherals, 'c.yaml'), 'added');
    await restoreState(paths, folder, asIs);
    const read = async (name: string) => readFile(join(paths.peripherals, name), 'utf8');
    expect([await read('a.yaml'), await read('c.yaml')]).to.deep.equal(['old', 'added']);
    await restoreState(paths, folder, asIs); // cut off, it is done again
    expect(await readFile(join(base, 'secret'), 'utf8')).to.equal('secret');
  });
});
