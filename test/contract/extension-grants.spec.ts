import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { renderDropIn } from '../../bin/helper/plugin-unit.ts';
import { frameOf } from '../../front/link/encode.ts';
import { grantedOf } from '../../residual/app/plugins/record.ts';
import { bwrapCommand } from '../../residual/app/plugins/sandbox/bwrap-args.ts';
import { devicesOf } from '../../residual/app/plugins/sandbox/devices.ts';
import type { SandboxSpec } from '../../residual/app/plugins/sandbox/types.ts';
import { frameAt } from '../../shared/mavlink/frame.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { CAPABILITIES } from '../../shared/plugins/capabilities.ts';
import { METHOD_CAPABILITIES } from '../../shared/plugins/methods.ts';
import { NOT_OFFERED } from '../../shared/plugins/not-offered.ts';
import type { FeedComponent } from '../../shared/rpc/feed.ts';
import { type Feed, openFeed } from '../../shared/rpc/feed.ts';
import { withSdk } from '../support/extensions.ts';
import { MANIFEST, rawZip } from '../support/foreign-archives.ts';
import { describeWith } from '../support/needs.ts';
import { decodeJpeg, jpegOfTestPicture } from '../support/pictures.ts';
import { PluginNode } from '../support/plugin-node.ts';
import { tempDir } from '../support/temp.ts';

const ID = 'org.example.asker';
const GIMBAL = 154;
const COMMAND_ACK = 77;
const GIMBAL_ATTITUDE = 285;
/** MAV_TYPE_GIMBAL */
const TYPE_GIMBAL = 26;

/** Calls what its tool is asked for, offers a camera, and acknowledges what comes for its component. */
const ASKER = `
import { readFileSync } from 'node:fs';
const bytesOf = (value) => (Array.isArray(value) ? Buffer.from(value) : value);
svc.tool('ask', async ({ method, args }) => {
  const given = { ...args, ...(args.frame ? { frame: bytesOf(args.frame) } : {}) };
  const said = await svc.call(method, given, 60_000).catch((error) => ({ refused: error.message }));
  return said?.jpeg instanceof Uint8Array ? { ...said, jpeg: Buffer.from(said.jpeg).toString('base64') } : said;
});
const heard = [];
svc.on('event', ({ topic }) => { heard.push(topic); });
svc.tool('heard', () => heard);
const forMe = [];
svc.on('mavlink_component', ({ component_id, frame }) => { forMe.push([component_id, ...frame]); });
svc.tool('forMe', () => forMe);
const picture = readFileSync(new URL('./picture.jpg', import.meta.url));
await svc.camera('mjpeg', (stream) => {
  const timer = setInterval(() => stream.write(picture), 50);
  stream.once('close', () => clearInterval(timer));
}).catch(() => undefined);
`;

/** What an extension asks for, and what of it is seen. */
interface Effect {
  readonly method: keyof typeof METHOD_CAPABILITIES;
  readonly args: Readonly<Record<string, unknown>>;
  /** Of the answer. */
  readonly seen: (answer: Readonly<Record<string, unknown>>) => unknown;
}

/** Every capability whose effect is an answer on the socket. Those below have another. */
const ASKED: Readonly<Record<string, Effect>> = {
  'event.publish': {
    method: 'event.publish',
    args: { topic: 'weather.wind', payload: 1 },
    seen: ({ published }) => published,
  },
  'event.subscribe': {
    method: 'event.subscribe',
    args: { topics: ['vehicle.armed', 'vehicle.battery_low'] },
    seen: ({ topics }) => Array.isArray(topics),
  },
  'mavlink.read': {
    method: 'mavlink.subscribe',
    args: { messages: [0] },
    seen: ({ subscribed }) => subscribed,
  },
  'telemetry.read': { method: 'telemetry.subscribe', args: {}, seen: ({ subscribed }) => subscribed },
  'telemetry.extend': {
    method: 'telemetry.extend',
    args: { values: { tilt: 12.5, on: true, name: 'a\u001b[31mb', list: [1, null] } },
    seen: ({ extended }) => extended,
  },
  'mission.read': {
    method: 'mission.read',
    args: { part: 'mission' },
    seen: ({ items }) => Array.isArray(items),
  },
  'mission.write': {
    method: 'mission.write',
    args: { part: 'rally', plan: { items: [] } },
    seen: ({ count }) => count === 0,
  },
  // The simulated node has no camera to record from but this extension's, which is not granted yet.
  'recording.write': {
    method: 'recording.stop',
    args: {},
    seen: ({ refused }) => /not active|recording/i.test(String(refused)),
  },
  'command.send': {
    method: 'command.send',
    args: { cmd: 'mode', args: ['STABILIZE'] },
    seen: ({ status }) => status === 'accepted',
  },
  'mavlink.write': {
    method: 'mavlink.send',
    args: { frame: [...frame(MSG.COMMAND_LONG, 255, 190)] },
    seen: ({ sent }) => sent,
  },
  'mavlink.component.gimbal': {
    method: 'mavlink.register_component',
    args: { component_id: GIMBAL },
    seen: ({ registered }) => registered,
  },
  'sensor.camera.register': {
    method: 'camera.register',
    args: { format: 'mjpeg' },
    seen: ({ source }) => source === `extension:${ID}`,
  },
  'vision.detection.publish': {
    method: 'vision.publish_detection',
    args: { ts_ms: 0, frame_width: 1, frame_height: 1, detections: [] },
    seen: ({ refused }) => String(refused).startsWith('ts_ms'),
  },
  'vision.detection.subscribe': {
    method: 'vision.subscribe_detections',
    args: {},
    seen: ({ subscribed }) => subscribed,
  },
  'vision.frame.read': {
    method: 'vision.read_frame',
    args: {},
    seen: ({ jpeg, refused }) => typeof jpeg === 'string' || /frame/.test(String(refused)),
  },
  // There is no detector here: the call came as far as the API.
  'vision.track.designate': {
    method: 'vision.designate_track',
    args: { track_id: 1 },
    seen: ({ refused }) => String(refused).startsWith('E_UPSTREAM_DOWN'),
  },
};

/** Played like the gimbal, by the same rule; which messages each may send stands in shared/plugins/mavlink-kinds.ts. */
const OTHER_COMPONENTS = ['camera', 'payload', 'peripheral', 'vio'].map(
  (kind) => `mavlink.component.${kind}`,
);

const DEVICES: Readonly<Record<string, string>> = {
  'hardware.uart': 'ttyUSB7',
  'hardware.i2c': 'i2c-1',
  'hardware.spi': 'spidev0.0',
  'hardware.gpio': 'gpiochip0',
  'hardware.gpio_out': 'gpiochip0',
  'hardware.usb': 'bus/usb/001/002',
  'hardware.usb.uvc': 'video0',
  'hardware.camera.csi': 'media0',
  'hardware.gpu': 'dri',
};
const SANDBOXED = ['network.outbound', 'network.listen', 'filesystem.host'];
/** Below. */
const OTHERS = ['mcp.expose', 'process.spawn'];

const SPEC: Omit<SandboxSpec, 'grants'> = {
  id: ID,
  runtime: 'node',
  install: '/extension',
  entrypoint: 'agent/main.mjs',
  data: '/data',
  sockets: '/sockets',
  resources: { max_ram_mb: 64, max_cpu_percent: 10, max_pids: 10 },
  listenPorts: [8000],
  profile: 'drone',
  http: false,
  closedDevices: [],
};

async function deviceTree(names: readonly string[]): Promise<{ readonly dev: string; readonly sys: string }> {
  const base = await tempDir();
  for (const name of names) {
    await mkdir(dirname(join(base, 'dev', name)), { recursive: true });
    await writeFile(join(base, 'dev', name), '');
  }
  return { dev: join(base, 'dev'), sys: join(base, 'sys') };
}

/** A client of svc-link's raw frames, once it was taken. @throws Error with the reason why it was refused */
async function listen(
  path: string,
  onFrame: (bytes: Buffer) => void,
  component?: FeedComponent,
): Promise<Feed> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const feed = openFeed({
    path,
    hello: {
      name: 'test',
      write: true,
      force: false,
      msgs: null,
      ...(component === undefined ? {} : { component }),
    },
    onFrame: (heard) => onFrame(heard.bytes()),
    onOpen: resolve,
    onRefused: (reason) => reject(new Error(reason)),
    onEnd: (problem) => reject(new Error(problem)),
  });
  await promise;
  return feed;
}

function frame(id: number, system: number, component: number, payload = Buffer.alloc(33)): Buffer {
  return frameOf({ id, payload, seq: 0, system, component });
}

describeWith('bwrap')('what an extension may ask for', function () {
  this.timeout(120_000);
  let plugins: PluginNode;
  const system = 1;

  const ask = async (method: string, args: unknown = {}): Promise<Record<string, unknown>> => {
    const answer = await plugins.done('POST', `/api/plugins/${ID}/tools/ask/invoke`, {
      arguments: { method, args },
      timeout_ms: 25_000,
    });
    return answer['result'] as Record<string, unknown>;
  };
  const told = async (tool: string): Promise<readonly unknown[]> =>
    (await plugins.done('POST', `/api/plugins/${ID}/tools/${tool}/invoke`, {}))[
      'result'
    ] as readonly unknown[];
  const grant = async (id: string) =>
    plugins.done('POST', `/api/plugins/${ID}/grant`, { permission_id: id, force: true });
  const revoke = async (id: string) => plugins.done('DELETE', `/api/plugins/${ID}/perms/${id}`);
  const added = async (): Promise<unknown> =>
    ((await plugins.done('GET', '/api/telemetry'))['extensions'] as Record<string, unknown>)[ID];
  const untilAdded = async (wanted: (value: unknown) => boolean) =>
    plugins.until('the telemetry', added, wanted);

  before(async () => {
    plugins = await PluginNode.start({
      config: `video:\n  source: extension:${ID}\n  radio: ''\n  hero:\n    width: 320\n    height: 180\n    fps: 10\n    bitrate_kbps: 300\n`,
    });
    await plugins.run({
      id: ID,
      agent: [
        'entrypoint: agent/main.mjs',
        'runtime: node',
        `permissions: [mcp.expose, ${Object.keys(ASKED)
          .map((id) => `{id: ${id}, required: false}`)
          .join(', ')}]`,
        `mavlink_components: [{component_id: ${GIMBAL}, component_kind: gimbal}]`,
        'contributes: {tools: [{name: ask, safety_class: read}, {name: heard, safety_class: read}, {name: forMe, safety_class: read}]}',
      ],
      grants: ['mcp.expose'],
      files: { ...(await withSdk(ASKER)), 'agent/picture.jpg': await jpegOfTestPicture(320, 180) },
    });
    await plugins.until(
      'it has said hello',
      async () => plugins.done('GET', `/api/plugins/${ID}/readiness`),
      ({ services }) => (services as { ready: boolean }[])[0]?.ready === true,
    );
    // The simulated vehicle is system 1.
    await plugins.until(
      'the vehicle',
      async () => plugins.done('GET', '/api/telemetry'),
      ({ mavlink_alive: alive }) => alive === true,
    );
  });
  after(async () => plugins.node.stop());

  it('is in one of these tables, each of its names', () => {
    const agents = Object.keys(CAPABILITIES).filter((id) => CAPABILITIES[id]?.halves.includes('agent'));
    const tested = [
      ...Object.keys(ASKED),
      ...OTHER_COMPONENTS,
      ...Object.keys(DEVICES),
      ...SANDBOXED,
      ...OTHERS,
    ];
    expect(agents.toSorted()).to.deep.equal(tested.toSorted());
  });

  for (const [id, { method, args, seen }] of Object.entries(ASKED))
    it(`${id}: denied without the grant, real with it, denied again after it`, async () => {
      const denied = { refused: `capability_denied: ${id}` };
      const without = await ask(method, args);
      if (id === 'event.publish')
        expect(without).to.deep.equal({ refused: 'capability_denied: event.publish' });
      else expect(String(without['refused'])).to.include('capability_denied');
      await grant(id);
      const answer = await ask(method, args);
      expect(seen(answer), JSON.stringify(answer)).to.equal(true);
      await revoke(id);
      const after = await ask(method, args);
      expect(String(after['refused'])).to.include(
        id === 'event.subscribe' ? 'capability_denied' : denied.refused,
      );
    });

  for (const id of Object.keys(NOT_OFFERED))
    it(`${id}: refused at the installation, or installed without it, and never granted`, async () => {
      // Our own packer would refuse it, by the same rule.
      const refused = await plugins.install(
        rawZip([
          { name: 'manifest.yaml', content: MANIFEST.replace('[telemetry.read]', `[${id}]`) },
          { name: 'agent/main.mjs' },
        ]),
      );
      expect([refused.status, refused.body['kind']]).to.deep.equal([400, 'manifest_invalid']);
      expect(refused.body['detail']).to.include(`${id} is not offered: `);
      const taken = await plugins.install({
        id: 'org.example.wants',
        agent: ['entrypoint: agent/main.mjs', 'runtime: node', `permissions: [{id: ${id}, required: false}]`],
      });
      expect(taken.status, JSON.stringify(taken.body)).to.equal(200);
      expect(String(taken.body['warnings'])).to.include(`${id} is not offered`);
      const answer = await plugins.call('POST', '/api/plugins/org.example.wants/grant', {
        permission_id: id,
      });
      expect([answer.status, answer.body['kind']]).to.deep.equal([400, 'permission_deny']);
      expect(answer.body['detail']).to.include('is not offered');
    });

  it('a device is open with its grant only', async () => {
    const { dev, sys } = await deviceTree(Object.values(DEVICES));
    for (const [id, device] of Object.entries(DEVICES)) {
      expect(await devicesOf(new Set(), [], { dev, sys }), id).to.deep.equal([]);
      expect(await devicesOf(new Set([id]), [], { dev, sys }), id).to.include(`${dev}/${device}`);
    }
  });

  it('the network and files of the machine are open with their grants only', () => {
    const sources = { extension: '/e', data: '/d', sockets: '/s', node: '/n' };
    const command = (...grants: string[]): string =>
      bwrapCommand({ ...SPEC, grants: new Set(grants) }, sources, { roots: [], devices: [] }).join(' ');
    const unit = (...grants: ('network.outbound' | 'network.listen')[]): string =>
      renderDropIn(
        {
          id: ID,
          installed_at: 1,
          runtime: 'node',
          entrypoint: 'agent/main.mjs',
          http: false,
          grants,
          max_ram_mb: 64,
          max_cpu_percent: 10,
          max_pids: 10,
          listen_ports: [8000],
          closed_devices: [],
          profile: 'drone',
        },
        { node: '/n', resolvConf: '/r', groups: new Set(), foreignRoots: [] },
      );
    expect(command()).to.not.include('--share-net').and.to.not.include('/srv');
    expect(command('network.outbound')).to.include('--share-net');
    expect(command('filesystem.host')).to.include('--bind-try /srv');
    expect(unit('network.outbound')).to.not.include('tcp:8000');
    expect(unit('network.outbound', 'network.listen')).to.include('SocketBindAllow=tcp:8000');
  });

  it('programs that it brings along: it does not start without process.spawn', async () => {
    const id = 'org.example.spawner';
    const installed = await plugins.install({
      id,
      agent: [
        'entrypoint: agent/main.mjs',
        'runtime: node',
        'permissions: [{id: process.spawn, required: false}]',
        'subprocess_spawn: [tool]',
      ],
      files: {
        'agent/main.mjs': 'setInterval(() => undefined, 60_000);\n',
        'agent/vendor/tool': '#!/bin/sh\n',
      },
    });
    expect(installed.status, JSON.stringify(installed.body)).to.equal(200);
    const early = await plugins.call('POST', `/api/plugins/${id}/enable`, {});
    expect([early.status, early.body['kind']]).to.deep.equal([400, 'permission_deny']);
    expect(early.body['detail']).to.include('process.spawn');
    await plugins.done('POST', `/api/plugins/${id}/grant`, { permission_id: 'process.spawn' });
    await plugins.done('POST', `/api/plugins/${id}/enable`, {});
  });

  it('telemetry.extend: for every reader, bounded, and gone with the grant', async () => {
    await grant('telemetry.extend');
    await ask('telemetry.extend', {
      values: { tilt: 12.5, on: true, name: 'a\u001b[31mb', list: [1, null] },
    });
    const values = { tilt: 12.5, on: true, name: 'a [31mb', list: [1, null] };
    expect(await untilAdded((value) => value !== undefined)).to.deep.equal(values);
    const socket = new WebSocket(
      `${plugins.node.url.replace('http', 'ws')}/api/telemetry/ws?fields=extensions`,
      {
        headers: PluginNode.headers,
      },
    );
    const [text] = (await once(socket, 'message')) as [Buffer];
    socket.terminate();
    expect(JSON.parse(text.toString())).to.deep.equal({ extensions: { [ID]: values } });
    for (const wrong of [
      { values: { 'a b': 1 } },
      { values: { __proto: 1 } },
      { values: { nested: { a: 1 } } },
      { values: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`v${i}`, i])) },
      { values: { long: 'x'.repeat(129) } },
      { values: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`v${i}`, 'x'.repeat(128)])) },
    ])
      expect(String((await ask('telemetry.extend', wrong))['refused']), JSON.stringify(wrong)).to.match(
        /^(?:telemetry\.extend: values|values: at most)/,
      );
    const many = await Promise.all(
      Array.from({ length: 30 }, async () => ask('telemetry.extend', { values: { tilt: 1 } })),
    );
    expect(many.filter(({ refused }) => refused === 'at most 10 times a second').length).to.be.above(0);
    await revoke('telemetry.extend');
    await untilAdded((value) => value === undefined);
  });

  it('command.send: in its own name, never what is destructive, never with force', async () => {
    await grant('command.send');
    expect(await ask('command.send', { cmd: 'mode', args: ['STABILIZE'] })).to.include({
      status: 'accepted',
    });
    for (const cmd of ['killSwitch', 'parachute'])
      expect(String((await ask('command.send', { cmd, args: ['KILL'] }))['refused']), cmd).to.match(
        /^E_SCOPE: /,
      );
    expect(String((await ask('command.send', { cmd: 'arm', force: true }))['refused'])).to.include(
      'force is not known',
    );
    await plugins.until(
      'the audit',
      async () => JSON.stringify(await plugins.done('GET', '/api/logs?service=audit&limit=100')),
      (text) => text.includes(`extension:${ID}`),
    );
    await revoke('command.send');
  });

  it('mission.write: the checked upload, and no fence is taken away', async () => {
    await grant('mission.write');
    const place = { frame: 3, autocontinue: 1, param1: 0, param2: 0, param3: 0, param4: 0 };
    const items = [
      { ...place, seq: 0, command: 22, x: -35.3632, y: 149.1653, z: 10 },
      { ...place, seq: 1, command: 16, x: -35.3631, y: 149.1654, z: 10 },
    ];
    expect(await ask('mission.write', { part: 'mission', plan: { items } })).to.include({ count: 2 });
    const wrong = { items: [{ ...items[0], command: 'x' }] };
    expect(String((await ask('mission.write', { part: 'mission', plan: wrong }))['refused'])).to.match(
      /^E_(?:MISSION_ITEM|INVALID_VALUE): /,
    );
    expect(String((await ask('mission.write', { part: 'fence', plan: { items: [] } }))['refused'])).to.match(
      /^E_SCOPE: An empty fence/,
    );
    await revoke('mission.write');
  });

  it('mavlink.component: a heartbeat of its own while it runs, frames of that component only, what is for it', async () => {
    const id = 'mavlink.component.gimbal';
    const heard: Buffer[] = [];
    let wake = (): void => undefined;
    const station = await listen(plugins.node.paths.mavlinkSocket, (bytes) => {
      heard.push(bytes);
      wake();
    });
    const untilHeard = async (wanted: (bytes: Buffer) => boolean): Promise<Buffer> => {
      for (;;) {
        const found = heard.find(wanted);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    };
    const from = (message: number) => (bytes: Buffer) => {
      const { id: message_id, system: from_system, component } = frameAt(bytes);
      return message_id === message && from_system === system && component === GIMBAL;
    };
    await grant(id);
    await ask('mavlink.register_component', { component_id: GIMBAL });
    const heartbeat = await untilHeard(from(MSG.HEARTBEAT));
    expect(heartbeat[frameAt(heartbeat).payloadStart + 4]).to.equal(TYPE_GIMBAL);
    const attitude = frame(GIMBAL_ATTITUDE, system, GIMBAL, Buffer.alloc(40));
    const send = async (bytes: Buffer) =>
      ask('mavlink.component_send', { component_id: GIMBAL, frame: [...bytes] });
    expect(await send(attitude)).to.deep.equal({ sent: true });
    await untilHeard(from(GIMBAL_ATTITUDE));
    for (const [bytes, why] of [
      [frame(GIMBAL_ATTITUDE, system, 1), /component 1/],
      [frame(MSG.COMMAND_LONG, system, GIMBAL), /does not send message 76/],
      [frame(MSG.HEARTBEAT, system, GIMBAL), /does not send message 0/],
      [Buffer.concat([attitude, attitude]), /one MAVLink frame/],
      [Buffer.alloc(20), /one MAVLink frame/],
    ] as const)
      expect(String((await send(bytes))['refused'])).to.match(why);
    expect(String((await ask('mavlink.register_component', { component_id: 155 }))['refused'])).to.include(
      'mavlink_components',
    );
    const command = Buffer.alloc(33);
    command.writeUInt16LE(1000, 28); // MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW
    command.writeUInt8(system, 30);
    command.writeUInt8(GIMBAL, 31);
    station.write(frame(MSG.COMMAND_LONG, 255, 190, command));
    await plugins.until(
      'what is for it',
      async () => told('forMe'),
      (list) =>
        list.some((entry) => Array.isArray(entry) && entry[0] === GIMBAL && entry[8] === MSG.COMMAND_LONG),
    );
    await revoke(id);
    heard.length = 0;
    // Two heartbeats of the vehicle later there was none of the gimbal.
    const isOfVehicle = (bytes: Buffer): boolean => {
      const { id: message_id, component } = frameAt(bytes);
      return message_id === MSG.HEARTBEAT && component === 1;
    };
    await untilHeard((bytes) => isOfVehicle(bytes) && heard.filter(isOfVehicle).length > 2);
    expect(heard.filter(from(MSG.HEARTBEAT))).to.deep.equal([]);
    station.end();
  });

  it('a component that svc-link is told of is held to its name and its messages, whoever tells it', async () => {
    const heard: Buffer[] = [];
    const station = await listen(plugins.node.paths.mavlinkSocket, (bytes) => heard.push(bytes));
    const component = { id: 160, type: 18, messages: [COMMAND_ACK] };
    const played = await listen(plugins.node.paths.mavlinkSocket, () => undefined, component);
    const inside = frame(MSG.COMMAND_LONG, system, 160);
    const around = frame(COMMAND_ACK, system, 160, Buffer.concat([Buffer.alloc(10), inside]));
    around.writeUInt16LE(0, around.length - 2); // its checksum is wrong, that of the frame in it is right
    for (const bytes of [around, frame(MSG.COMMAND_LONG, system, 160), frame(COMMAND_ACK, system, 1)])
      played.write(bytes);
    played.write(frame(COMMAND_ACK, system, 160, Buffer.from([9, 0, 1, 0, 0, 0, 0, 0, 0, 0])));
    await plugins.until(
      'the acknowledgement',
      async () => Promise.resolve(heard),
      (frames) =>
        frames.some((bytes) => frameAt(bytes).id === COMMAND_ACK && frameAt(bytes).component === 160),
    );
    expect(heard.filter((bytes) => frameAt(bytes).id === MSG.COMMAND_LONG)).to.deep.equal([]);
    const again = await listen(plugins.node.paths.mavlinkSocket, () => undefined, component).then(
      () => 'taken',
      (error: unknown) => String(error),
    );
    expect(again).to.include('There is a component 160');
    played.end();
    station.end();
  });

  it('sensor.camera.register: its pictures are those of the node, and end with the grant', async () => {
    await grant('sensor.camera.register');
    await grant('vision.frame.read');
    await ask('camera.register', { format: 'mjpeg' });
    const picture = async () => ask('vision.read_frame');
    const { jpeg } = await plugins.until(
      'a picture',
      picture,
      (answer) => typeof answer['jpeg'] === 'string',
    );
    expect(await decodeJpeg(Buffer.from(String(jpeg), 'base64'))).to.include({ width: 320, height: 180 });
    expect(await plugins.done('GET', '/api/video')).to.include({ source: `extension:${ID}` });
    await revoke('sensor.camera.register');
    await plugins.until(
      'no more pictures',
      async () => plugins.done('GET', '/api/video'),
      ({ state }) => state !== 'running',
    );
  });

  it('vehicle.battery_low comes when the vehicle itself calls its battery low', async () => {
    await grant('event.subscribe');
    await ask('event.subscribe', { topics: ['vehicle.armed', 'vehicle.battery_low'] });
    await plugins.done('PUT', '/api/params', { params: { BATT_LOW_TIMER: 0, ARMING_CHECK: 0 } });
    await plugins.done('POST', '/api/command', { cmd: 'mode', args: ['STABILIZE'] });
    await plugins.until(
      'armed',
      async () => plugins.done('POST', '/api/command', { cmd: 'arm' }),
      ({ status }) => status === 'accepted',
    );
    await plugins.done('PUT', '/api/params', { params: { BATT_LOW_VOLT: 30 }, force: true });
    await plugins.until(
      'the event',
      async () => told('heard'),
      (topics) => topics.includes('vehicle.battery_low'),
    );
    const { battery } = await plugins.done('GET', '/api/telemetry');
    expect(battery).to.include({ state: 'low' });
  });

  it('mcp.expose: without it nobody calls its tools', async () => {
    await plugins.done('DELETE', `/api/plugins/${ID}/perms/mcp.expose?force=1`);
    const { status } = await plugins.call('POST', `/api/plugins/${ID}/tools/heard/invoke`, {});
    expect(status).to.equal(403);
    await plugins.done('POST', `/api/plugins/${ID}/grant`, { permission_id: 'mcp.expose', force: true });
  });

  it('what it shows is gone when it ends', async () => {
    await grant('telemetry.extend');
    await ask('telemetry.extend', { values: { tilt: 1 } });
    await untilAdded((value) => value !== undefined);
    await plugins.done('POST', `/api/plugins/${ID}/disable`, { force: true });
    await untilAdded((value) => value === undefined);
  });

  it('a grant of an earlier version that is not offered any more is none', () => {
    const granted = { granted: true, granted_at: 1, revoked_at: null };
    expect([...grantedOf({ permissions: { 'msp.write': granted, 'mavlink.read': granted } })]).to.deep.equal([
      'mavlink.read',
    ]);
  });
});
