import { createSocket } from 'node:dgram';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ActiveDrone } from '../../front/control/ground/active-drone.ts';
import type { StoredRadio } from '../../front/control/radio/pair-store.ts';
import { ApiError } from '../../shared/errors.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { readActiveSlot } from '../../shared/radio-slots.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, GROUND } from '../support/radios.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const GS = '/api/v1/ground-station';
const [FIRST, SECOND] = ['0000000000d1', '0000000000d2'] as const;
const withKey = { 'x-svc-key': KEY };

const put = async (node: TestNode, path: string, body: unknown) =>
  node.json(`${GS}${path}`, {
    method: 'PUT',
    headers: { ...withKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const get = async (node: TestNode, path: string) =>
  (await node.json(`${GS}${path}`, { headers: withKey })).body;

describe('a ground station', () => {
  let node: TestNode;
  let port: number;
  const air = createSocket('udp4');
  let feed: NodeJS.Timeout;

  before(async () => {
    port = await freePort();
    node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      // The second is of the radio's ports, and no place for ground stations.
      config: `agent:\n  profile: ground-station\nmavlink:\n  endpoints: [udp:127.0.0.1:${port}, udp:127.0.0.1:${port + 1}]\n`,
      env: { SVC_RADIO_MAVLINK_PORT: String(port) },
      prepare: bindTo(GROUND, boundPair(FIRST).atGround, boundPair(SECOND, GROUND, 1).atGround),
    });
    let seq = 0;
    // ArduPilot in slot 0, PX4 in slot 1.
    feed = setInterval(() => {
      for (const [slot, autopilot] of [3, 12].entries())
        air.send(encodeAs(heartbeat({ autopilot }), 'v2', seq & 0xff), port + slot, '127.0.0.1');
      seq++;
    }, 100);
  });
  after(async () => {
    clearInterval(feed);
    air.close();
    await node.stop();
  });

  const untilVehicle = async (firmware: string): Promise<void> => {
    await linkState(node, (state) => state.firmware === firmware);
    // svc-control hears it a little later.
    await askAgain(
      `${firmware} in the status`,
      async () => (await node.json('/api/status', { headers: withKey })).body,
      (status) => status['fc_firmware'] === firmware && status['fc_connected'] === true,
    );
  };

  it('tells its status, with null for what nobody has measured', async () => {
    const status = await get(node, '/status');
    expect(status).to.include({ profile: 'ground-station', active: FIRST, link: null });
    expect(status['paired_drones']).to.have.length(2);
    expect(JSON.stringify(status)).to.not.match(/secret/);
    expect((status['relay'] as unknown[])[0]).to.deep.equal({
      device_id: FIRST,
      silent_ms: null,
      latency_ms: null,
    });
    expect(status['gcs']).to.deep.include({ clients: [] });
    expect(status['role']).to.deep.include({ role: 'direct', configured: 'direct' });
    expect((await node.json('/api/status/full', { headers: withKey })).body).to.include({ role: 'direct' });
    expect(status['system']).to.have.property('agent_version').that.is.a('string');
  });

  it('flies the drone that was chosen as the active one: svc-link listens on the port of its slot', async () => {
    await untilVehicle('ardupilot');
    const drones = await get(node, '/drones');
    expect(drones['active']).to.equal(FIRST);
    expect(drones['drones']).to.deep.equal([
      { slot: 0, device_id: FIRST, name: '', link: null, quality: null, last_seen: null },
      { slot: 1, device_id: SECOND, name: '', link: null, quality: null, last_seen: null },
    ]);
    const before = node.pid('svc-link');
    const { status, body } = await put(node, '/drones/active', { device_id: SECOND });
    expect([status, body['active']], JSON.stringify(body)).to.deep.equal([200, SECOND]);
    expect(node.pid('svc-link')).to.not.equal(before);
    await untilVehicle('px4');
    const audit = globSync(join(node.paths.auditDir, '*.ndjson')).map((path) => readFileSync(path, 'utf8'));
    expect(audit.join('')).to.include(`"changed":"${SECOND}"`);
    const { body: telling } = await node.json('/api/status', { headers: withKey });
    expect(telling['fc_source']).to.equal(`udp:0.0.0.0:${port + 1}`);
    // It is the active one after a restart of everything, too.
    await node.killAndAwaitSuccessor('svc-control');
    await node.killAndAwaitSuccessor('svc-link');
    expect((await get(node, '/drones'))['active']).to.equal(SECOND);
    await untilVehicle('px4');
  });

  it('does not take another drone for a ground station', async () => {
    expect(node.stderr).to.include(`no ground stations on UDP ${port}: it is the radio's`);
    const status = await get(node, '/status');
    expect(status['gcs']).to.deep.include({ clients: [] });
  });

  it('refuses an unknown drone and changes nothing; the same one again restarts nothing', async () => {
    const pid = node.pid('svc-link');
    const unknown = await put(node, '/drones/active', { device_id: 'nobody' });
    expect([unknown.status, unknown.body['code']]).to.deep.equal([404, 'E_NOT_FOUND']);
    expect((await put(node, '/drones/active', { device_id: SECOND })).status).to.equal(200);
    expect(node.pid('svc-link')).to.equal(pid);
  });

  it('keeps its screens and buttons, within their bounds', async () => {
    const first = await get(node, '/ui');
    expect(first['oled']).to.deep.equal({ brightness: 204, auto_dim_enabled: true, screen_cycle_seconds: 5 });
    const changed = await put(node, '/ui', {
      oled: { brightness: 0 },
      screens: { enabled: ['link', 'home'] },
    });
    expect([changed.status, changed.body['oled']]).to.deep.equal([
      200,
      { brightness: 0, auto_dim_enabled: true, screen_cycle_seconds: 5 },
    ]);
    for (const wrong of [
      {},
      { oled: { brightness: 256 } },
      { oled: { screen_cycle_seconds: 0 } },
      { screens: { order: ['home', 'home'] } },
      { screens: { order: ['shell'] } },
      { buttons: { mapping: { B9_short: 'confirm' } } },
      { leds: {} },
    ])
      expect((await put(node, '/ui', wrong)).status, JSON.stringify(wrong)).to.equal(422);
    await put(node, '/ui', { buttons: { mapping: { B1_short: 'show_qr' } } });
    await node.killAndAwaitSuccessor('svc-control');
    const last = await get(node, '/ui');
    expect(last['buttons']).to.deep.equal({ mapping: { B1_short: 'show_qr' } });
    expect(last['screens']).to.deep.include({ enabled: ['link', 'home'] });
  });

  it('has the roles of a mesh only where there can be one, and names what is missing', async function () {
    const state = await get(node, '/role');
    if (state['missing'] === null) this.skip();
    expect(state).to.deep.include({ role: 'direct', supported: ['direct'], mesh_capable: false });
    for (const role of ['relay', 'receiver']) {
      const { status, body } = await put(node, '/role', { role });
      expect([status, body['missing']]).to.deep.equal([501, state['missing']]);
    }
    expect((await put(node, '/role', { role: 'direct' })).body).to.include({
      noop: true,
      previous: 'direct',
    });
    expect((await put(node, '/role', { role: 'king' })).status).to.equal(422);
  });

  it('records through the video process, with its own errors', async () => {
    const none = await node.json(`${GS}/recording/stop`, { method: 'POST', headers: withKey });
    expect([none.status, none.body['code']]).to.deep.equal([503, 'E_NO_PIPELINE']);
    expect(await get(node, '/recording')).to.deep.equal({
      recording: false,
      current: null,
      recordings: [],
      items: [],
    });
    const odd = await node.post(`${GS}/recording/start`, { name: '../x' }, withKey);
    expect(odd.status).to.equal(422);
  });
});

describe('the choice of the active drone', () => {
  it('is taken back when a process does not start again, and the first one is the active one after all', async () => {
    const folder = await tempDir();
    const file = join(folder, 'active-drone.json');
    const log = createLogger('test', 'error');
    const bound = [boundPair(FIRST).atGround, boundPair(SECOND, GROUND, 1).atGround];
    const asked: string[] = [];
    let refuses = true;
    const active = new ActiveDrone({
      file,
      radios: { list: () => bound, relaySecret: () => null, onChange: () => () => undefined },
      restart: async (name) => {
        asked.push(`${name} ${await readActiveSlot(file, () => undefined)}`);
        if (refuses && name === 'svc-video') {
          refuses = false;
          throw new ApiError('E_TIMEOUT');
        }
      },
      log,
    });
    try {
      await active.start();
      const refused: unknown = await active.choose(SECOND).catch((error: unknown) => error);
      expect(refused).to.have.property('code', 'E_TIMEOUT');
      expect(asked).to.deep.equal(['svc-link 1', 'svc-video 1', 'svc-link 0', 'svc-video 0']);
      expect(active.deviceId).to.equal(FIRST);
      await active.choose(SECOND);
      expect(active.deviceId).to.equal(SECOND);
      await writeFile(file, '{"version":1,"slot":99}');
      const said: string[] = [];
      expect(await readActiveSlot(file, (sentence) => said.push(sentence))).to.equal(null);
      expect(said.join()).to.include(file);
    } finally {
      await active.stop();
      await removeDir(folder);
    }
  });
  it('is the user’s: a drone whose binding ends is not active any more, and not when it, or another one, is bound again', async () => {
    const folder = await tempDir();
    const file = join(folder, 'active-drone.json');
    const changed: (() => void)[] = [];
    let bound: StoredRadio[] = [];
    const asked: string[] = [];
    const make = () =>
      new ActiveDrone({
        file,
        radios: {
          list: () => bound,
          relaySecret: () => null,
          onChange: (listener) => {
            changed.push(listener);
            return () => undefined;
          },
        },
        restart: async (name) => {
          asked.push(`${name} ${await readActiveSlot(file, () => undefined)}`);
        },
        log: createLogger('test', 'silent'),
      });
    let active = make();
    const bind = async (...radios: StoredRadio[]): Promise<void> => {
      bound = radios;
      for (const listener of changed) listener();
      await active.stop(); // what has begun has ended
    };
    const [first, again, second] = [boundPair(FIRST), boundPair(FIRST), boundPair(SECOND)];
    try {
      await active.start();
      await bind(first.atGround);
      expect(active.deviceId, 'the first that was ever bound').to.equal(FIRST);
      await bind(again.atGround);
      expect(active.deviceId, 'bound with another key').to.equal(FIRST);
      expect(asked).to.deep.equal([]);
      await bind();
      expect(active.deviceId).to.equal(null);
      expect(asked).to.deep.equal(['svc-link null', 'svc-video null']);
      for (const radio of [again, second]) {
        await bind(radio.atGround);
        expect(active.deviceId).to.equal(null);
        active = make();
        await active.start();
        await active.stop();
        expect(active.deviceId, 'after a restart').to.equal(null);
      }
      await active.choose(SECOND);
      expect(active.deviceId).to.equal(SECOND);
      expect(asked.slice(2)).to.deep.equal(['svc-link 0', 'svc-video 0']);
      // Unbound and replaced while svc-control did not run.
      bound = [first.atGround];
      active = make();
      await active.start();
      await active.stop();
      expect(active.deviceId).to.equal(null);
    } finally {
      await active.stop();
      await removeDir(folder);
    }
  });
});
