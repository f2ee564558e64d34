import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { common, minimal } from 'node-mavlink';
import { bootTime } from '../../shared/boot-clock.ts';
import { operatorFiles } from '../../shared/operator/operator-files.ts';
import { ensureOperatorKey } from '../../shared/operator/operator-key.ts';
import { pendingCall, signCall } from '../../shared/operator/signed-confirm.ts';
import { SimClient } from '../sim/sim-client.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { connectStdio, newClient } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { armable } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import type { Result } from './result.ts';

/**
 * Ten usual wishes, each by one AI client at one simulated copter: ours with a person who signs at a terminal, and the servers in
 * `SVC_BENCH_PEERS`, the `bin` of a Python environment with `mavlink-mcp` and `ardupilot-mcp`. `SVC_BENCH_VEHICLE` is another
 * vehicle than the demo's (tcp:127.0.0.1:5760: ArduCopter's simulator), `SVC_BENCH_LOG` a log for the server that reads files alone.
 * A peer reaches the vehicle by the node's endpoint for ground stations; whether a job is right says the vehicle's own telemetry
 * there, and no answer.
 */

type Json = Readonly<Record<string, unknown>>;
type Step = readonly [tool: string, args?: (by: Job) => Json];

const M_PER_DEGREE = 111_320;
const SETTLED_MS = 90_000;
const CALL_MS = 240_000;
const SIDE_M = 40;
const RTL = 20;
const ARM = 400;
const SET_MODE = 176;
const GUIDED = 4;
const LOW_VOLTAGE = 'Battery 1 below minimum arming voltage';
const KEYED = { 'x-svc-key': KEY };

interface Place {
  readonly north: number;
  readonly east: number;
  readonly up: number;
}

/** What is seen of the vehicle by nobody's leave. */
class Observer {
  readonly client: SimClient;
  readonly track: Place[] = [];
  lat = Number.NaN;
  lon = Number.NaN;
  armed = false;
  battery = Number.NaN;
  #origin: { readonly lat: number; readonly lon: number } | null = null;
  #seen = 0;

  constructor(client: SimClient) {
    this.client = client;
    client.standAsStation();
  }

  static async at(port: number): Promise<Observer> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const observer = new Observer(new SimClient(socket, 253));
    for (const id of [minimal.Heartbeat, common.GlobalPositionInt, common.SysStatus])
      observer.client.order(511, id.MSG_ID, 200_000);
    await observer.until(() => Number.isFinite(observer.lat), SETTLED_MS);
    return observer;
  }

  begin(): void {
    this.look();
    this.#origin = { lat: this.lat, lon: this.lon };
    this.track.length = 0;
  }

  look(): void {
    const { packets } = this.client;
    for (; this.#seen < packets.length; this.#seen++) {
      const packet = packets[this.#seen];
      if (packet === undefined || packet.header.compid !== 1) continue;
      const { payload, protocol, header } = packet;
      if (header.msgid === minimal.Heartbeat.MSG_ID)
        this.armed = (protocol.data(payload, minimal.Heartbeat).baseMode & 128) !== 0;
      if (header.msgid === common.SysStatus.MSG_ID)
        this.battery = protocol.data(payload, common.SysStatus).batteryRemaining;
      if (header.msgid !== common.GlobalPositionInt.MSG_ID) continue;
      const { lat, lon, relativeAlt } = protocol.data(payload, common.GlobalPositionInt);
      if (Math.abs(lat) < 100_000) continue;
      [this.lat, this.lon] = [lat / 1e7, lon / 1e7];
      const { lat: lat0, lon: lon0 } = this.#origin ?? this;
      const east = (this.lon - lon0) * M_PER_DEGREE * Math.cos((lat0 * Math.PI) / 180);
      this.track.push({ north: (this.lat - lat0) * M_PER_DEGREE, east, up: relativeAlt / 1000 });
    }
  }

  async until(fits: () => boolean, ms: number): Promise<boolean> {
    for (const end = performance.now() + ms; performance.now() < end; await wait(100)) {
      this.look();
      if (fits()) return true;
    }
    return false;
  }

  /** Whatever a job left in the air comes down. */
  async down(): Promise<void> {
    this.look();
    if (this.armed) this.client.order(RTL);
    await this.until(() => !this.armed, SETTLED_MS);
  }

  near(north: number, east: number, within: number): boolean {
    return this.track.some((at) => Math.hypot(at.north - north, at.east - east) <= within && at.up > 3);
  }

  get highest(): number {
    return Math.max(...this.track.map(({ up }) => up));
  }

  async param(name: string, value?: number): Promise<number> {
    const target = { targetSystem: this.client.target, targetComponent: 1, paramId: name };
    const told = this.client.next(common.ParamValue, ({ paramId }) => paramId === name);
    if (value === undefined) this.client.send(common.ParamRequestRead, { ...target, paramIndex: -1 });
    else {
      const paramType = common.MavParamType.REAL32;
      this.client.send(common.ParamSet, { ...target, paramValue: value, paramType });
    }
    return (await told).paramValue;
  }
}

/** What a judge knows: the vehicle, what was asked of it, and what a model read. */
interface Job {
  readonly seen: Observer;
  readonly before: { readonly lat: number; readonly lon: number; readonly returnHeight: number };
  /** Structured answers so far, the newest last. */
  readonly answers: Json[];
  text: string;
  pictures: number;
}

interface Wish {
  readonly name: string;
  readonly ours: readonly Step[];
  readonly peers: Readonly<Record<string, readonly Step[]>>;
  readonly prepare?: (vehicle: Vehicle) => Promise<void>;
  readonly isRight: (job: Job) => boolean | Promise<boolean>;
  readonly tidy?: (vehicle: Vehicle) => Promise<void>;
}

interface Vehicle {
  readonly seen: Observer;
  readonly sim: SimProcess | null;
}

const landed = ({ seen }: Job): boolean => !seen.armed;
const last = ({ seen }: Job): Place => seen.track.at(-1) ?? { north: 0, east: 0, up: 0 };
const corner = ({ before }: Job, north: number, east: number): Json => ({
  lat: before.lat + north / M_PER_DEGREE,
  lon: before.lon + east / (M_PER_DEGREE * Math.cos((before.lat * Math.PI) / 180)),
});
const field = (job: Job): readonly Json[] =>
  [
    [0, 0],
    [SIDE_M, 0],
    [SIDE_M, SIDE_M],
    [0, SIDE_M],
  ].map(([north = 0, east = 0]) => corner(job, north, east));
const newest = ({ answers }: Job): Json => answers.at(-1) ?? {};
const flown = (...steps: readonly Json[]): readonly Step[] => [
  ['flight_plan', () => ({ steps })],
  ['flight_run', (job) => ({ code: newest(job)['code'] })],
];
const move = (direction: string, metres: number): Step => ['move', () => ({ direction, distance_m: metres })];
const takeoff = (metres: number): Step => ['takeoff', () => ({ altitude_m: metres })];
const logFile = (): string => process.env['SVC_BENCH_LOG'] ?? '';

const WISHES: readonly Wish[] = [
  {
    name: 'is it ready to fly',
    ours: [['flight_check']],
    peers: { 'mavlink-mcp': [['check_armable']] },
    isRight: ({ text }) => /can_arm: true|^ready/im.test(text),
  },
  {
    name: 'take off to 10 m and come back',
    ours: flown({ do: 'takeoff', altitude_m: 10 }, { do: 'return' }),
    peers: { 'mavlink-mcp': [takeoff(10), ['rtl']] },
    isRight: (job) => Math.abs(job.seen.highest - 10) < 6 && landed(job),
  },
  {
    name: '50 m north at 20 m and land',
    ours: flown({ do: 'takeoff', altitude_m: 20 }, { do: 'move', north_m: 50 }, { do: 'land' }),
    peers: { 'mavlink-mcp': [takeoff(20), move('north', 50), ['land']] },
    isRight: (job) =>
      Math.hypot(last(job).north - 50, last(job).east) < 5 && job.seen.highest > 18 && landed(job),
  },
  {
    name: 'a square of 20 m',
    ours: flown(
      { do: 'takeoff', altitude_m: 10 },
      { do: 'move', north_m: 20 },
      { do: 'move', east_m: 20 },
      { do: 'move', north_m: -20 },
      { do: 'move', east_m: -20 },
      { do: 'land' },
    ),
    peers: {
      'mavlink-mcp': [
        takeoff(10),
        move('north', 20),
        move('east', 20),
        move('south', 20),
        move('west', 20),
        ['land'],
      ],
    },
    isRight: (job) =>
      [[20, 0] as const, [20, 20] as const, [0, 20] as const, [0, 0] as const].every(([north, east]) =>
        job.seen.near(north, east, 4),
      ) && landed(job),
  },
  {
    name: 'a survey of a field of 40 m',
    ours: [
      ['mission_build', (job) => ({ kind: 'survey', corners: field(job), altitude_m: 15, spacing_m: 15 })],
      ['mission_upload', (job) => ({ document: newest(job)['document'] })],
      ['mission_start', () => ({ wait: true, timeout_s: 200 })],
    ],
    peers: {},
    isRight: (job) =>
      [[0, 0] as const, [SIDE_M, 0] as const, [SIDE_M, SIDE_M] as const, [0, SIDE_M] as const].every(
        ([north, east]) => job.seen.near(north, east, 15),
      ) && landed(job),
  },
  {
    name: 'RTL_ALT to 20 m, and what was it',
    ours: [
      ['params_get', () => ({ name: 'RTL_ALT' })],
      ['params_set', () => ({ name: 'RTL_ALT', value: 2000 })],
    ],
    peers: {
      'mavlink-mcp': [
        ['get_param', () => ({ name: 'RTL_ALT' })],
        ['set_param', () => ({ name: 'RTL_ALT', value: 2000 })],
      ],
    },
    isRight: async ({ seen, before, text }) =>
      (await seen.param('RTL_ALT')) === 2000 && text.includes(String(before.returnHeight)),
    tidy: async ({ seen }) => void (await seen.param('RTL_ALT', 1500)),
  },
  {
    name: 'why will it not arm',
    ours: [['flight_check']],
    peers: { 'mavlink-mcp': [['check_armable']] },
    prepare: async ({ seen, sim }) => {
      seen.client.order(SET_MODE, 1, GUIDED); // or the mode is what speaks against it
      if (sim !== null) await sim.fault({ armRefuse: LOW_VOLTAGE });
      else await seen.param('BATT_ARM_VOLT', 50);
      const told = seen.client.text('minimum arming voltage', SETTLED_MS);
      seen.client.order(ARM, 1);
      await told;
    },
    isRight: ({ text }) => /below minimum arming voltage/i.test(text),
    tidy: async ({ seen, sim }) => {
      if (sim !== null) await sim.fault({ armRefuse: '' });
      else await seen.param('BATT_ARM_VOLT', 0);
    },
  },
  {
    name: 'a photo from here',
    ours: [['video_snapshot']],
    peers: { 'mavlink-mcp': [['capture_camera']] },
    isRight: ({ pictures }) => pictures > 0,
  },
  {
    name: "what is in the last flight's log",
    ours: [['flight_report']],
    peers: { 'ardupilot-mcp': [['analyze_log', () => ({ path: logFile() })]] },
    isRight: ({ text }) => /\d s\b|duration|flight/i.test(text) && !/^error|no such file/im.test(text),
  },
  {
    name: 'battery and position now',
    ours: [['telemetry_snapshot']],
    peers: { 'mavlink-mcp': [['get_status']] },
    isRight: ({ seen, text }) => {
      const figures = (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
      const says = (value: number, within: number): boolean =>
        figures.some((figure) => Math.abs(figure - value) <= within);
      return says(seen.lat, 1e-4) && says(seen.lon, 1e-4) && says(seen.battery, 1);
    },
  },
];

interface Done {
  readonly server: string;
  readonly job: string;
  readonly calls: number;
  readonly errors: number;
  readonly signatures: number;
  /** Of the texts that a model reads, and of the whole answers. */
  readonly read: number;
  readonly whole: number;
  readonly seconds: number;
  readonly verdict: 'right' | 'WRONG' | 'no tool';
}

/** Signs what waits; null where nobody signs. */
type Sign = (code: string) => Promise<void>;

async function carryOut(
  server: string,
  client: Client,
  wish: Wish,
  vehicle: Vehicle,
  sign: Sign | null,
): Promise<Done> {
  const steps = sign === null ? (wish.peers[server] ?? []) : wish.ours;
  const sum = { calls: 0, errors: 0, signatures: 0, read: 0, whole: 0 };
  if (steps.length === 0) return { server, job: wish.name, ...sum, seconds: 0, verdict: 'no tool' };
  const { seen } = vehicle;
  const returnHeight = await seen.param('RTL_ALT');
  await wish.prepare?.(vehicle);
  seen.begin();
  const before = { lat: seen.lat, lon: seen.lon, returnHeight };
  const job: Job = { seen, before, answers: [], text: '', pictures: 0 };
  const began = performance.now();
  const call = async (name: string, args: Json): Promise<void> => {
    const result = await client.callTool(
      { name, arguments: args },
      { timeout: CALL_MS, resetTimeoutOnProgress: true, onprogress: () => undefined },
    );
    const value = result.structuredContent as Json | undefined;
    const code = value?.['confirm_id'];
    const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    sum.calls++;
    sum.read += Buffer.byteLength(texts.join('\n'));
    sum.whole += Buffer.byteLength(JSON.stringify(result));
    job.text += `${texts.join('\n')}\n`;
    job.pictures += result.content.filter(({ type }) => type === 'image').length;
    if (sign !== null && typeof code === 'string' && args['confirm_id'] === undefined) {
      sum.signatures++;
      await sign(code);
      await call(name, { ...args, confirm_id: code });
      return;
    }
    if (result.isError === true || /^(?:error|failed|blocked|not ready)/.test(texts[0] ?? '')) sum.errors++;
    if (value !== undefined) job.answers.push(value);
  };
  for (const [tool, args] of steps) await call(tool, args?.(job) ?? {});
  const seconds = (performance.now() - began) / 1000;
  await wait(500); // the newest of the observer's
  seen.look();
  const verdict = (await wish.isRight(job)) ? 'right' : 'WRONG';
  if (verdict === 'WRONG')
    process.stderr.write(
      `${server}, ${wish.name} (${seen.track.length} places, ${seen.highest} m, armed ${seen.armed}): ${job.text.slice(0, 600)}\n`,
    );
  await wish.tidy?.(vehicle);
  await seen.down();
  return { server, job: wish.name, ...sum, seconds, verdict };
}

interface Stage extends Vehicle {
  readonly node: TestNode;
  /** Where MAVLink's other clients find the vehicle. */
  readonly address: string;
  readonly end: () => Promise<void>;
}

/** A vehicle on a node, and who looks at it. */
async function stage(): Promise<Stage> {
  const other = process.env['SVC_BENCH_VEHICLE'];
  const sim = other === undefined ? await SimProcess.start('--speedup', '2') : null;
  const source = other ?? `tcp:127.0.0.1:${sim?.port ?? 0}`;
  const port = await freePort();
  const address = `tcp:127.0.0.1:${port}`;
  const node = await TestNode.start({
    pairing: { key: KEY },
    simulated: false,
    config: `mcp:\n  token_accept_enabled: true\nmavlink:\n  source: ${source}\n  endpoints: ['${address}']\nvideo:\n  source: landscape\n  radio: ''\n`,
  });
  await armable(node, KEYED);
  const seen = await Observer.at(port);
  const end = async (): Promise<void> => {
    seen.client.close();
    await node.stop();
    await sim?.[Symbol.asyncDispose]();
  };
  return { node, address, seen, sim, end };
}

async function ofServer(server: string, client: Client, vehicle: Vehicle, sign: Sign | null) {
  const list = Buffer.byteLength(JSON.stringify((await client.listTools()).tools));
  const done: Done[] = [];
  for (const wish of WISHES) done.push(await carryOut(server, client, wish, vehicle, sign));
  return { list, done };
}

async function ours(): Promise<Awaited<ReturnType<typeof ofServer>>> {
  const vehicle = await stage();
  const { node } = vehicle;
  const home = await tempDir();
  try {
    const scopes = ['read', 'safe_write', 'admin', 'flight'];
    const { body } = await node.post('/api/mcp/tokens', { scopes, label: 'bench' }, KEYED);
    const files = operatorFiles({ SVC_OPERATOR_DIR: join(home, 'operator') });
    await ensureOperatorKey(files);
    const args = ['--target', 'agent', node.url, '--token', String(body['token']), '--flight-enforced'];
    const client = await connectStdio({ args: [...args, '--toolset', 'mission'], home, key: KEY });
    const sign: Sign = async (code) => {
      const call = pendingCall(files, code, bootTime());
      if (call !== null) await signCall(files, call, bootTime());
    };
    const result = await ofServer('svc', client, vehicle, sign);
    await client.close();
    return result;
  } finally {
    await vehicle.end();
    await removeDir(home);
  }
}

async function peer(name: string, program: string): Promise<Awaited<ReturnType<typeof ofServer>>> {
  const vehicle = await stage();
  const args = name === 'mavlink-mcp' ? ['--conn', vehicle.address, '--enable-actuation'] : [];
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/' };
  const client = newClient();
  try {
    await client.connect(new StdioClientTransport({ command: program, args, env, stderr: 'ignore' }));
    return await ofServer(name, client, vehicle, null);
  } finally {
    await client.close();
    await vehicle.end();
  }
}

export async function benchCopilot(): Promise<readonly Result[]> {
  const all = new Map([['svc', await ours()]]);
  for (const name of ['mavlink-mcp', 'ardupilot-mcp']) {
    const program = join(process.env['SVC_BENCH_PEERS'] ?? '/nonexistent', name);
    if (existsSync(program)) all.set(name, await peer(name, program));
  }
  const results: Result[] = [];
  for (const [server, { list }] of all)
    results.push({ name: `${server}: tools/list`, value: list, unit: 'bytes' });
  for (const [at, { name }] of WISHES.entries())
    for (const [server, { done }] of all) {
      const one = done[at];
      if (one === undefined) continue;
      const { calls, errors, signatures, read, whole, verdict } = one;
      const note =
        verdict === 'no tool'
          ? verdict
          : `${verdict}; ${calls} calls, ${signatures} signed, ${errors} errors, ${read} bytes read, ${whole} in all`;
      results.push({ name: `${name}: ${server}`, value: one.seconds, unit: 's', note, figures: one });
    }
  for (const [server, { done }] of all) {
    const right = done.filter(({ verdict }) => verdict === 'right').length;
    const read = done.reduce((sum, one) => sum + one.read, 0);
    results.push({
      name: `${server}: jobs that are right`,
      value: right,
      unit: 'of 10',
      note: `${read} bytes read`,
    });
  }
  return results;
}
