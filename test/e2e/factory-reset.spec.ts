import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseConfig } from '../../shared/config/parse.ts';
import { KEY } from '../support/edge.ts';
import { gonePath } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, GROUND } from '../support/radios.ts';

const RESET = '/api/v1/ground-station/factory-reset';
const PIN = '7531';
const withKey = { 'x-svc-key': KEY };

describe('the factory reset of a ground station', function () {
  this.timeout(120_000);
  const config =
    'agent:\n  profile: ground-station\n  name: tent\nmcp:\n  token_accept_enabled: true\nlogging:\n  level: debug\n';
  const owned = async (paths: TestNode['paths']): Promise<void> => {
    await bindTo(GROUND, boundPair().atGround)(paths);
    await mkdir(paths.recordings, { recursive: true });
    await writeFile(join(paths.recordings, 'kept.mp4'), 'film');
    for (const file of [paths.fleet, paths.fleetPolicy, paths.fleetQueue])
      await writeFile(file, '{}', { mode: 0o600 });
  };
  const isNobodys = async (node: TestNode): Promise<void> => {
    const { paths } = node;
    for (const file of [
      paths.pairing,
      `${paths.pairing}.bak`,
      paths.dashboardPin,
      paths.mcpToken,
      paths.radioPairs,
      paths.radioKeys,
      paths.fleet,
      paths.fleetPolicy,
      paths.fleetQueue,
      paths.factoryReset,
    ])
      expect(existsSync(file), file).to.equal(false);
    expect(existsSync(paths.configChecked), paths.configChecked).to.equal(false);
    for (const file of [paths.config, paths.configLastGood]) {
      const text = await readFile(file, 'utf8');
      expect(text).to.not.match(/tent|debug|token/);
      expect(parseConfig(text, file)).to.deep.include({
        api: { ...parseConfig('', '').api, port: node.port, tls_port: 0 },
      });
      expect(parseConfig(text, file).agent.profile).to.equal('ground-station');
    }
    expect(await readFile(join(paths.recordings, 'kept.mp4'), 'utf8')).to.equal('film');
    expect((await readFile(paths.deviceId, 'utf8')).trim()).to.equal(GROUND);
    expect((await node.json('/api/pairing/info')).body).to.include({ paired: false, device_id: GROUND });
  };
  /** Resolves when every process has another pid and runs. */
  const restarted = async (node: TestNode, before: ReadonlySet<number | null>): Promise<void> =>
    node.until(
      (services) =>
        services.length > 1 &&
        services.every(
          ({ name, state, pid }) => state === 'running' && (name === 'svc-supervisor' || !before.has(pid)),
        ),
    );

  it('asks for its id, removes what belongs to the owner, says what stays, and restarts', async () => {
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config, prepare: owned });
    await node.knowsArmed();
    try {
      await node.post('/api/dashboard/pin/set', { pin: PIN }, withKey);
      const { body: token } = await node.post('/api/mcp/tokens', { scopes: ['read'] }, withKey);
      const wrong = await node.post(RESET, { confirm: 'yes' }, withKey);
      expect([wrong.status, wrong.body['code']]).to.deep.equal([422, 'E_INVALID_VALUE']);
      const byToken = await node.post(
        RESET,
        { confirm: GROUND },
        { 'x-svc-mcp-token': String(token['token']) },
      );
      expect(byToken.status).to.equal(403);
      expect(existsSync(node.paths.pairing)).to.equal(true);
      const before = new Set(node.services.map(({ pid }) => pid));
      const { status, body } = await node.post(RESET, { confirm: GROUND }, withKey);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body['removed']).to.include.members(['pairing', 'PIN', 'tokens', 'bound radios and their keys']);
      expect(body['kept']).to.include('recordings and pictures');
      await restarted(node, before);
      await isNobodys(node);
    } finally {
      await node.stop();
    }
  });

  it('is ended at the next start where it was killed in the middle, before anything else', async () => {
    const node = await TestNode.launch({
      pairing: { key: KEY },
      simulated: false,
      config,
      prepare: async (paths) => {
        await owned(paths);
        await mkdir(paths.state, { recursive: true });
        await writeFile(paths.factoryReset, '{"version":1,"phase":"removing"}\n', { mode: 0o600 });
      },
    });
    try {
      // The other processes have read the old config: everything starts once more.
      await gonePath(node.paths.factoryReset);
      await node.until(
        (services) => services.length > 1 && services.every(({ state }) => state === 'running'),
      );
      await isNobodys(node);
    } finally {
      await node.stop();
    }
  });
});
