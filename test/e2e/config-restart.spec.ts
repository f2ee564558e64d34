import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { expect } from 'chai';
import { configLeaves } from '../../shared/config/keys.ts';
import { setConfigKey } from '../../shared/config/write.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { type Client, clientOf } from '../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { writeSureModel } from '../models/small-model.ts';
import { askAgain } from '../support/ask-again.ts';
import { folderHas, telemetry } from '../support/events.ts';
import { formWith, makeExtension } from '../support/extensions.ts';
import { TestNode } from '../support/node.ts';
import { rawHttp } from '../support/raw-http.ts';
import { RtspCamera } from '../support/rtsp-camera.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { UdpReceiver } from '../support/udp-receiver.ts';

/** Keys whose effect needs a vehicle or a machine of its own, and which spec sees it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'agent.role': 'test/contract/ground-station.spec.ts',
  'api.tls_cert': 'test/e2e/https.spec.ts',
  'api.tls_key': 'test/e2e/https.spec.ts',
  'api.tls_port': 'test/e2e/https.spec.ts',
  'api.trusted_proxies': 'test/e2e/proxies.spec.ts',
  'fleet.flight_tracks': 'test/fleet/flights.spec.ts',
  'fleet.operators': 'test/attack/fleet-calls.spec.ts',
  'fleet.queue_mb': 'test/fleet/event-queue.spec.ts',
  'fleet.scopes': 'test/attack/fleet-calls.spec.ts',
  'fleet.telemetry_fields': 'test/e2e/fleet-enrolment.spec.ts',
  'fleet.telemetry_hz': 'test/e2e/fleet-enrolment.spec.ts',
  'fleet.pictures': 'test/attack/fleet-calls.spec.ts',
  'fleet.watched_hz': 'test/attack/fleet-calls.spec.ts',
  'mavlink.heartbeat': 'test/link/endpoints.spec.ts',
  'mavlink.serial_control': 'test/link/endpoints.spec.ts',
  'mavlink.system': 'test/link/which-vehicle.spec.ts',
  'mavlink.sign_endpoints': 'test/e2e/signing.spec.ts',
  ...Object.fromEntries(
    ['uplinks', 'metered', 'metered_video_kbps', 'metered_telemetry_hz'].map((key) => [
      `network.${key}`,
      'test/e2e/uplinks.spec.ts',
    ]),
  ),
  'network.setup_hotspot': 'test/contract/first-boot.spec.ts',
  'plugins.allow_unsandboxed': 'test/attack/sandbox.spec.ts',
  ...Object.fromEntries(
    [
      'region',
      'channel',
      'bandwidth_mhz',
      'mcs',
      'fec_k',
      'fec_n',
      'tx_power_dbm',
      'cards',
      'tunnel.ground',
    ].map((key) => [`radio.${key}`, 'test/contract/radio-managed.spec.ts']),
  ),
  'radio.adaptive': 'test/contract/radio-adaptive.spec.ts',
  'radio.channel_revert_s': 'test/property/channel-change.spec.ts',
  'radio.relay_port': 'test/attack/relay.spec.ts',
  'radio.tunnel.drone': 'test/attack/relay.spec.ts',
  'radio.tunnel.rate_kbps': 'test/attack/helper.spec.ts',
  ...Object.fromEntries(
    ['operator_id', 'self_id'].map((key) => [`remote_id.${key}`, 'test/clients/remote-id.spec.ts']),
  ),
  'security.require_tls': 'test/e2e/https.spec.ts',
  'video.cameras': 'test/video/cameras.spec.ts',
  'video.codec': 'test/e2e/video-h265.spec.ts',
  'video.ice.servers': 'test/e2e/video-nat.spec.ts',
};

describe('each config key is in force once what the answer names was restarted', function () {
  this.timeout(120_000);
  let node: TestNode;
  let supervisor: Client<typeof SUPERVISOR>;
  let camera: RtspCamera;
  let directory: string;
  const tried = new Set<string>(Object.keys(ELSEWHERE));

  before(async () => {
    camera = await RtspCamera.start('pilot:right');
    directory = await tempDir();
    node = await TestNode.start(); // not paired: this machine is trusted with every key but root's
    supervisor = clientOf(SUPERVISOR, { path: node.paths.supervisorSocket });
    supervisor.start();
  });
  after(async () => {
    supervisor.stop();
    await node.stop();
    await camera.stop();
    await removeDir(directory);
  });

  async function restart(name: string): Promise<void> {
    if (name !== 'svc-supervisor') {
      await supervisor.calls.restart({ name });
      return;
    }
    const link = node.pid('svc-link');
    await supervisor.calls.restart_self({});
    await node.until(
      (services) =>
        services.every(({ state }) => state === 'running') &&
        services.some(({ name: own, pid }) => own === 'svc-link' && pid !== link),
    );
  }

  async function restartAll(names: readonly string[]): Promise<void> {
    for (const name of names) await restart(name);
  }

  const get = async (path: string) => node.json(path);
  const at = async (path: string, member: string) => (await get(path)).body[member];

  /** Writes one key over the API. @returns what is to be restarted, as the answer names it */
  async function write(key: string, value: unknown): Promise<readonly string[]> {
    tried.add(key);
    const put = async () =>
      node.json('/api/config', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key, value }),
      });
    let { status, body } = await put();
    while (body['code'] === 'E_ARMED') {
      await node.knowsArmed(); // a svc-link that has just started knows nothing
      ({ status, body } = await put());
    }
    expect(status, JSON.stringify(body)).to.equal(200);
    return body['restart_required'] as string[];
  }

  /** Writes one key over the API and restarts exactly what the answer names. */
  async function apply(key: string, value: unknown): Promise<void> {
    await restartAll(await write(key, value));
  }

  /** Back to what it was, without the API, which the key may have switched off. */
  async function undo(key: string, value: unknown): Promise<void> {
    await setConfigKey(node.paths, key, value);
    await restartAll(configLeaves().find(([each]) => each === key)?.[1]['x-restart'] ?? []);
  }

  async function video(fits: (body: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const { body } = await get('/api/video');
      if (fits(body)) return body;
    }
  }

  async function connects(port: number, host = '127.0.0.1'): Promise<boolean> {
    const socket = connect(port, host);
    const opened = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return opened;
  }

  it('agent.name', async () => {
    await apply('agent.name', 'kite');
    expect(await at('/api/pairing/info', 'name')).to.equal('kite');
  });

  it('api.host', async () => {
    expect(await connects(node.port, '127.0.0.2')).to.equal(true);
    await apply('api.host', '127.0.0.1');
    expect(await connects(node.port, '127.0.0.2')).to.equal(false);
    await undo('api.host', '::');
  });

  it('api.port', async () => {
    const port = await freePort();
    await apply('api.port', port);
    expect([await connects(port), await connects(node.port)]).to.deep.equal([true, false]);
    await undo('api.port', node.port);
  });

  it('features.*', async () => {
    const features = FEATURES.filter((name) => name !== 'ground-station' && name !== 'core');
    const named = new Set<string>();
    for (const feature of features)
      for (const name of await write(`features.${feature}`, false)) named.add(name);
    await restartAll([...named]);
    for (const feature of features) {
      const row = (ROWS as readonly Row[]).find(
        (each) => each.feature === feature && each.method !== 'WS' && !each.path.includes('{'),
      );
      const { body: refused } = await node.json(row?.path ?? '', {
        method: row?.method ?? '',
        headers: row?.bodyMedia == null ? {} : { 'content-type': row.bodyMedia },
      });
      // Those of an extension's lifecycle have a number as their code.
      expect(refused['error'] ?? refused['code'], feature).to.equal('E_NOT_IMPLEMENTED');
      expect(refused['feature']).to.equal(feature);
      expect(refused['detail']).to.match(/ is off on this node/);
    }
    for (const feature of features) await setConfigKey(node.paths, `features.${feature}`, true);
    await restartAll([...named]);
  });

  it('features.core, which is the way back, and what a profile has no use for, are refused', async () => {
    for (const [key, value] of [
      ['features.core', false],
      ['features.ground-station', true],
      ['radio.fec_n', 3],
    ] as const) {
      const { status, body } = await node.json('/api/config', {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key, value }),
      });
      expect([status, body['code']], key).to.deep.equal([422, 'E_INVALID_VALUE']);
    }
    await apply('features.core', true);
  });

  it('features.residual', async () => {
    await apply('features.residual', false);
    expect((await get('/api/config')).body['detail']).to.match(/no residual process/);
    await undo('features.residual', true);
  });

  it('discovery.mdns', async () => {
    const listens = (): boolean => {
      const pid = node.pid('svc-control');
      const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
      const inodes = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
      return ['udp', 'udp6']
        .flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').split('\n').slice(1))
        .map((line) => line.trim().split(/\s+/))
        .some((columns) => columns[1]?.endsWith(':14E9') === true && inodes.has(columns[9])); // port 5353
    };
    expect(listens()).to.equal(false);
    await apply('discovery.mdns', true);
    await askAgain('its socket', async () => Promise.resolve(listens()), Boolean);
    await undo('discovery.mdns', false);
  });

  it('logging.level', async () => {
    const heard = (): boolean => {
      const begun = node.stderr.lastIndexOf('svc-link is starting');
      return /"level":"info","service":"svc-link"/.test(node.stderr.slice(begun));
    };
    await apply('logging.level', 'error');
    expect(heard()).to.equal(false);
    await apply('logging.level', 'info');
    expect(heard()).to.equal(true);
  });

  it('logging.store.*', async () => {
    await apply('logging.store.max_mb', 9);
    await apply('logging.store.max_age_days', 3);
    expect(await at('/api/logs/stats', 'limits')).to.deep.equal({ max_mb: 9, max_age_days: 3 });
    await apply('logging.store.enabled', false);
    expect((await get('/api/logs')).status).to.equal(501);
    await undo('logging.store.enabled', true);
  });

  it('radio.mode and radio.api_port', async () => {
    expect(await at('/api/wfb', 'state')).to.equal('absent');
    await apply('radio.mode', 'external');
    expect(await at('/api/wfb', 'state')).to.equal('down');
    const reports = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(reports, 'listening');
    const address = reports.address();
    const asked = once(reports, 'connection');
    await apply('radio.api_port', typeof address === 'object' && address !== null ? address.port : 0);
    await asked;
    await undo('radio.mode', 'off');
    reports.close();
  });

  it('mavlink.source', async () => {
    const vehicle = createServer((socket) => socket.on('error', () => undefined));
    vehicle.listen(0, '127.0.0.1');
    await once(vehicle, 'listening');
    const address = vehicle.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const met = once(vehicle, 'connection');
    await apply('mavlink.source', `tcp:127.0.0.1:${port}`);
    await met;
    expect(node.services.map(({ name }) => name)).to.not.include('svc-sim');
    while ((await at('/api/status', 'fc_source')) !== `tcp:127.0.0.1:${port}`); // the front meets its successor
    await apply('mavlink.source', 'sim');
    vehicle.close();
    expect(node.services.map(({ name }) => name)).to.include('svc-sim');
    await telemetry(node, ({ mavlink_alive: alive }) => alive === true);
  });

  it('flight.max_goto_m', async () => {
    await apply('flight.max_goto_m', 50);
    const fixed = (told: Record<string, unknown>): boolean => memberOf(told['position'], 'lat') !== null;
    const { position } = await telemetry(node, (told) => told['mavlink_alive'] === true && fixed(told));
    const [lat, lon] = [Number(memberOf(position, 'lat')), Number(memberOf(position, 'lon'))];
    const there = { cmd: 'goto', args: [lat + 100 / 111_195, lon, 10] };
    const { status, body } = await node.post('/api/command', there);
    expect([status, body['code'], body['limit_m']]).to.deep.equal([422, 'E_TOO_FAR', 50]);
    await undo('flight.max_goto_m', 2000);
  });

  it('tlog.when, tlog.max_mb', async () => {
    await apply('tlog.when', 'always');
    await apply('tlog.max_mb', 16); // test/link/tlog.spec.ts sees the oldest go
    await askAgain(
      'a log is written',
      async () => at('/api/tlogs', 'writing'),
      (writing) => writing !== null,
    );
    await undo('tlog.when', 'armed');
    await undo('tlog.max_mb', 512);
  });

  it('remote_id.classification, remote_id.operator_place', async () => {
    await apply('remote_id.classification', 'eu-open-c1'); // test/link/remote-id.spec.ts sees it sent
    await apply('remote_id.operator_place', '48.1,11.5');
    await askAgain(
      'the place is sent',
      async () => at('/api/remote-id', 'operator_place'),
      (place) => place === 'fixed',
    );
    await undo('remote_id.operator_place', '');
  });

  it('rtk.*', async () => {
    const asked: string[] = [];
    const caster = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (request) => asked.push(request.toString()));
    });
    caster.listen(0, '127.0.0.1');
    await once(caster, 'listening');
    const address = caster.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await askAgain(
      'svc-link is back, without corrections',
      async () => at('/api/rtk', 'state'),
      (state) => state === 'off',
    );
    await setConfigKey(node.paths, 'security.near_hosts', ['127.0.0.1']);
    for (const [key, value] of [
      ['host', '127.0.0.1'],
      ['port', port],
      ['mountpoint', 'BASE'],
      ['username', 'pilot'],
      ['password', 'geheim'],
      ['version', 1],
      ['send_position', true], // test/link/ntrip.spec.ts sees what is sent
    ] as const) {
      tried.add(`rtk.ntrip.${key}`);
      await setConfigKey(node.paths, `rtk.ntrip.${key}`, value);
    }
    await apply('rtk.source', 'ntrip');
    const login = Buffer.from('pilot:geheim').toString('base64');
    const [request] = await askAgain(
      'the caster is asked',
      async () => asked,
      (all) => all.length > 0,
    );
    expect(request).to.match(/^GET \/BASE HTTP\/1\.0\r\n/);
    expect(request).to.include(`Authorization: Basic ${login}\r\n`);
    await apply('rtk.ntrip.tls', true);
    await askAgain(
      'it is asked by TLS',
      async () => asked,
      (all) => all.at(-1)?.startsWith('\u0016\u0003') === true,
    );
    await apply('rtk.source', `tcp:127.0.0.1:${port}`);
    await askAgain(
      'a base station is the source',
      async () => at('/api/rtk', 'source'),
      (source) => source === `tcp:127.0.0.1:${port}`,
    );
    await apply('security.near_hosts', []);
    await askAgain(
      'this machine is not asked any more',
      async () => at('/api/rtk', 'problem'),
      (problem) => typeof problem === 'string' && problem.includes('security.near_hosts'),
    );
    await undo('rtk.source', 'off');
    caster.close();
  });

  it('maps.sources, maps.cache_mb', async () => {
    const source = {
      id: 'aerial',
      name: 'Aerial',
      attribution: '© a',
      min_zoom: 0,
      max_zoom: 9,
      tile: 'raster',
    };
    await apply('maps.cache_mb', 16); // test/contract/map-download.spec.ts sees the oldest go
    await apply('maps.sources', [{ ...source, url: 'http://127.0.0.1:9/{z}/{x}/{y}' }]);
    const list = await askAgain(
      'svc-residual is back, with a source',
      async () => (await get('/api/maps')).body,
      ({ sources }) => Array.isArray(sources) && sources.length === 1,
    );
    expect(list).to.deep.include({ sources: [source], cache: { bytes: 0, limit: 16e6 } });
    await undo('maps.sources', []);
    await undo('maps.cache_mb', 512);
  });

  it('upload.*', async () => {
    for (const [key, value] of [
      ['bucket', 'flights'],
      ['region', 'eu-central-1'],
      ['prefix', 'north/'],
      ['access_key_id', 'AKID'],
      ['secret_access_key', 'geheim'],
      ['kinds', ['tlogs']],
      ['while_armed', true],
      ['on_metered', true],
      ['max_kbit_s', 1000],
      ['keep_days', 30], // test/e2e/uploads.spec.ts sees what each does
    ] as const) {
      tried.add(`upload.${key}`);
      await setConfigKey(node.paths, `upload.${key}`, value);
    }
    await setConfigKey(node.paths, 'security.near_hosts', ['127.0.0.1']);
    await apply('upload.endpoint', 'http://127.0.0.1:9');
    await askAgain(
      'svc-residual is back, with a store',
      async () => at('/api/uploads', 'store'),
      (store) => store === 'http://127.0.0.1:9/flights',
    );
    await undo('upload.endpoint', '');
    await setConfigKey(node.paths, 'security.near_hosts', []);
  });

  it('mavlink.endpoints', async () => {
    const port = await freePort();
    await apply('mavlink.endpoints', [`tcp:127.0.0.1:${port}`]);
    while (!(await connects(port))); // it opens a moment after svc-link is ready
  });

  it('mcp.token_accept_enabled, which is root’s', async () => {
    tried.add('mcp.token_accept_enabled');
    await undo('mcp.token_accept_enabled', true);
    expect(await at('/api/mcp/status', 'accept_enabled')).to.equal(true);
  });

  it('security.api.cors_*', async () => {
    const allowed = async (origin: string) =>
      (await node.fetch('/api/ping', { headers: { origin } })).headers.get('access-control-allow-origin');
    await apply('security.api.cors_origins', ['http://a.example']);
    await apply('security.api.cors_origins_extra', ['http://b.example']);
    expect(await allowed('http://a.example')).to.equal('http://a.example');
    expect(await allowed('http://b.example')).to.equal('http://b.example');
    await apply('security.api.cors_enabled', false);
    expect(await allowed('http://a.example')).to.equal(null);
  });

  it('security.api.hosts', async () => {
    const ask = async () => rawHttp(node.port, 'GET /api/status HTTP/1.1\r\nHost: drone.example\r\n\r\n');
    expect((await ask()).status).to.equal(403);
    await apply('security.api.hosts', ['drone.example']);
    expect((await ask()).status).to.equal(200);
  });

  it('security.pairing.require_code', async () => {
    await apply('security.pairing.require_code', true);
    expect((await node.post('/api/pairing/claim', { user_id: 'u' })).body).to.include({ code: 'E_CODE' });
  });

  it('video.source, video.username, video.password', async () => {
    await apply('video.source', camera.url);
    expect(node.services.map(({ name }) => name)).to.include('svc-video');
    await video(({ state }) => state === 'lost');
    await apply('video.password', 'right');
    await apply('video.username', 'pilot');
    await video(({ state }) => state === 'running');
    await apply('video.password', 'wrong');
    await video(({ state }) => state === 'lost');
    await apply('video.source', 'test');
    await video(({ state, source }) => state === 'running' && source === 'bars');
  });

  it('video.encoder', async () => {
    await apply('video.encoder', 'h264_nvenc');
    const reasons = await video((body) => JSON.stringify(body['encoder_reasons'])?.includes('h264_nvenc'));
    expect(reasons).to.include({ state: 'running', encoder: 'libx264' });
    await apply('video.encoder', 'libx264');
    await video(({ state, encoder_reasons: none }) => state === 'running' && JSON.stringify(none) === '[]');
  });

  for (const [profile, width, height, fps, kbps] of [
    ['hero', 640, 360, 20, 900],
    ['thumbnail', 352, 198, 4, 120],
  ] as const) {
    it(`video.${profile}.*`, async () => {
      await node.post('/api/video/profile', { profile });
      await apply(`video.${profile}.width`, width);
      await apply(`video.${profile}.height`, height);
      await apply(`video.${profile}.fps`, fps);
      await apply(`video.${profile}.bitrate_kbps`, kbps);
      await video(({ state, profile: now }) => state === 'running' && memberOf(now, 'bitrate_kbps') === kbps);
      expect((await get('/api/video/profile')).body).to.include({
        profile,
        width,
        height,
        fps,
        bitrate_kbps: kbps,
      });
    });
  }

  it('video.radio', async () => {
    const radio = createSocket('udp4');
    radio.bind(0, '127.0.0.1');
    await once(radio, 'listening');
    const packet = once(radio, 'message');
    await apply('video.radio', `127.0.0.1:${radio.address().port}`);
    await packet;
    radio.close();
  });

  it('video.outputs, video.follow_gcs, video.follow_port', async () => {
    await using receiver = await UdpReceiver.open();
    await apply('video.outputs', [`mpegts://127.0.0.1:${receiver.port}`]);
    await receiver.until((all) => all.length > 0);
    await apply('video.follow_gcs', true);
    await video(({ follow_port: port }) => port === 5600);
    await apply('video.follow_port', 5610);
    await video(({ follow_port: port }) => port === 5610);
  });

  it('video.whep.max_viewers', async () => {
    await apply('video.whep.max_viewers', 3);
    expect(await at('/api/video', 'max_viewers')).to.equal(3);
  });

  it('video.recording.*', async () => {
    await apply('video.recording.directory', directory);
    await video(({ state }) => state === 'running');
    expect((await node.post('/api/video/record/start', {})).status).to.equal(200);
    await folderHas(directory, (names) => names.length > 0); // it begins with the next key frame
    expect((await node.fetch('/api/video/record/stop', { method: 'POST' })).status).to.equal(200);
    const files = await readdir(directory); // more than one where the pipeline had to start again
    expect((await get('/api/video/recordings')).body['recordings']).to.have.length(files.length);
    await apply('video.recording.directory', `/dev/shm${directory}`);
    await apply('video.recording.reserve_mb', 65_536); // more than a tmpfs has
    await video(({ state }) => state === 'running');
    expect((await node.post('/api/video/record/start', {})).body).to.include({ code: 'E_DISK_FULL' });
    await removeDir(`/dev/shm${directory}`);
  });

  it('vision.*', async () => {
    const vision = async (fits: (body: Record<string, unknown>) => boolean): Promise<void> => {
      while (!fits((await get('/api/vision/status')).body));
    };
    await writeSureModel(node.paths.models, 0.6);
    await apply('vision.detector', 'sure');
    await vision(({ state, rate_hz: rate }) => state === 'running' && rate === 5);
    await apply('vision.rate_hz', 2);
    await vision(({ state, rate_hz: rate }) => state === 'running' && rate === 2);
    await apply('vision.threads', 2);
    await vision(({ threads }) => threads === 2);
    /** Of the first batch that the process has made which runs now. */
    const seen = async (): Promise<unknown> => {
      for (;;) {
        const { body } = await get('/api/vision/detections/latest');
        if ('source' in body) return body['detections'];
      }
    };
    expect(await seen()).to.have.length(1);
    await apply('vision.confidence', 0.8);
    expect(await seen()).to.have.length(0);
    const limit = (): number =>
      Number(
        /Max data size +(\d+)/.exec(readFileSync(`/proc/${node.pid('svc-vision')}/limits`, 'utf8'))?.[1] ?? 0,
      );
    await apply('vision.memory_mb', 4096);
    await seen();
    expect(limit()).to.be.within(4096 * 2 ** 20, 6000 * 2 ** 20);
    await apply('vision.models_max_mb', 7);
    const models = async () => (await get('/api/vision/models')).body;
    expect(memberOf((await models())['cache'], 'max_mb')).to.equal(7);
    expect((await models())['registry_error']).to.equal(null);
    await apply('vision.registry', 'http://127.0.0.1:1/models.json');
    expect((await models())['registry_error']).to.match(/127\.0\.0\.1:1/);
    await apply('vision.detector', '');
    await vision(({ state }) => state === 'off');
  });

  it('plugins.require_signed, plugins.url_hosts', async () => {
    const kindOf = async (answer: Promise<Response>) =>
      ((await (await answer).json()) as { kind?: string }).kind;
    const form = await formWith(await makeExtension({}));
    const install = async () => node.fetch('/api/plugins/install', { method: 'POST', body: form });
    expect(await kindOf(install())).to.equal('signature_missing');
    await apply('plugins.require_signed', false);
    expect((await install()).status).to.equal(200);
    const body = JSON.stringify({ url: 'https://localhost:1/a', expected_sha256: '0'.repeat(64) });
    const headers = { 'content-type': 'application/json' };
    const fetched = async () =>
      node.fetch('/api/plugins/install_from_url', { method: 'POST', headers, body });
    expect(await kindOf(fetched())).to.equal('url_invalid');
    await apply('plugins.url_hosts', ['localhost:1']);
    expect(await kindOf(fetched())).to.equal('download_failed');
  });

  it('agent.profile, and features.ground-station on one', async () => {
    const drones = async () => (await get('/api/v1/ground-station/drones')).body;
    await undo('features.vision', false); // which a ground station has no use for
    await apply('agent.profile', 'ground-station');
    expect(await at('/api/status', 'profile')).to.equal('ground-station');
    expect(await drones()).to.deep.equal({ active: null, drones: [] });
    await apply('features.ground-station', false);
    expect((await drones())['detail']).to.match(/is off on this node/);
  });

  it('and there is no other key', () => {
    const others = configLeaves().flatMap(([key]) => (tried.has(key) ? [] : [key]));
    expect(others).to.deep.equal([]);
  });
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed since it was listed
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
