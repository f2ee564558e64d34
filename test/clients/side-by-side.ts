import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

/** One call of a client, as its driver tells it (drivers/report.py). */
export interface Said {
  readonly call: string;
  /** `ok`, or the client's own word. */
  readonly outcome: string;
  /** What it got. */
  readonly detail: unknown;
  readonly ms: number | null;
}

export type Firmware = 'ardupilot' | 'px4';
export type Transport = 'tcp' | 'udp';

/** What a call ends with; a pair is for ArduPilot and PX4. */
export type Outcome = string | readonly [ardupilot: string, px4: string];
export interface Expected {
  /** `ok` where it is absent. */
  readonly straight?: Outcome;
  /** Where the node makes a difference: refused by the armed guard, at once. */
  readonly node?: Outcome;
  /** ... though the client does not understand that at once. */
  readonly late?: true;
  /** Only the node answers to it, or what it answers differs: it holds another value, or has a camera. */
  readonly only?: 'node';
}

export interface Client {
  /** Program in `drivers/`, without its ending. */
  readonly driver: string;
  /** The Python modules that it needs. */
  readonly needs: readonly string[];
  /** Seconds that it may take. */
  readonly limit: number;
}

const DRIVERS = join(import.meta.dirname, 'drivers');
/** ms; below every client's own resending. */
export const AT_ONCE = 900;

/** The first Python on the PATH that has the modules, undefined where none has. */
export async function pythonWith(modules: readonly string[]): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const python = join(folder, 'python3');
    const there = await access(python).then(
      () => true,
      () => false,
    );
    if (!there) continue;
    const probe = `import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, ${JSON.stringify(modules)})))`;
    const [code] = (await once(execFile(python, ['-c', probe]), 'exit')) as [number];
    if (code === 0) return python;
  }
  return undefined;
}

/** Does all that users of the client do, at an address. @returns its calls in order */
export async function drive(
  python: string,
  { driver, limit }: Client,
  transport: Transport,
  address: string,
  ...args: readonly string[]
): Promise<readonly Said[]> {
  // In a group of its own, which ends with it: MAVSDK now and then leaves its server behind.
  const child = spawn(
    python,
    ['-B', '-W', 'ignore', join(DRIVERS, `${driver}.py`), transport, address, ...args],
    {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const { pid } = child;
  if (pid === undefined) throw new Error(`${python} does not start`);
  const end = (): void => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // nobody is left
    }
  };
  const said: Said[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exit = once(child, 'exit') as Promise<[number | null]>;
  void exit.then(end);
  const timer = setTimeout(end, limit * 1000);
  for await (const line of createInterface(child.stdout)) said.push(JSON.parse(line) as Said);
  const [code] = await exit;
  clearTimeout(timer);
  const last = said.at(-1)?.call ?? 'nothing';
  if (code !== 0) throw new Error(`${driver} ended (${code}) after "${last}": ${stderr.slice(-3000)}`);
  return said;
}

const CAMERA =
  'video:\n  source: test\n  radio: ""\n  hero: {width: 320, height: 180, fps: 5, bitrate_kbps: 200}\n';
// Logs slowly enough that no datagram is lost: a PX4 serves the newest request alone, so that MAVProxy fills a gap a second.
const SIM = ['--speedup', '20', '--param-rate', '4000', '--log-rate', '100000'] as const;

/** The same client at the vehicle itself, and at an endpoint of a node before such a vehicle, both at the same time. */
export async function sideBySide(
  python: string,
  client: Client,
  firmware: Firmware,
  transport: Transport,
  ...args: readonly string[]
): Promise<Run> {
  const ask = (port: number, ...more: readonly string[]): Promise<readonly Said[]> =>
    drive(python, client, transport, `127.0.0.1:${port}`, firmware, ...args, ...more);
  const [straight, node] = await Promise.all([
    atVehicle(firmware, transport, ask),
    atNode(firmware, transport, (port) => ask(port, 'camera')),
  ]);
  return { straight, node };
}

type Ask = (port: number) => Promise<readonly Said[]>;

async function atVehicle(firmware: Firmware, transport: Transport, ask: Ask): Promise<readonly Said[]> {
  const port = await freePort();
  const link = transport === 'udp' ? ['--udp-in', `127.0.0.1:${port}`] : ['--port', `${port}`];
  await using sim = await SimProcess.start('--firmware', firmware, ...SIM, ...link);
  const said = await ask(port);
  expect(sim.child.exitCode).to.equal(null);
  return said;
}

async function atNode(firmware: Firmware, transport: Transport, ask: Ask): Promise<readonly Said[]> {
  await using sim = await SimProcess.start('--firmware', firmware, ...SIM);
  const port = await freePort();
  const node = await TestNode.start({
    pairing: { key: KEY },
    simulated: false,
    config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: ['${transport}:127.0.0.1:${port}']\n${CAMERA}`,
  });
  try {
    await node.knowsArmed();
    return await ask(port);
  } finally {
    await node.stop();
  }
}

function of(outcome: Outcome, firmware: Firmware): string {
  if (typeof outcome === 'string') return outcome;
  return outcome[firmware === 'ardupilot' ? 0 : 1];
}

export interface Run {
  readonly straight: readonly Said[];
  readonly node: readonly Said[];
}

/** Each call ends as the table says (`ok` where it has no line), with the same answer on both ways. What the node refuses, it refuses at once. */
export function expectAlike(firmware: Firmware, run: Run, table: Readonly<Record<string, Expected>>): void {
  const wrong: string[] = [];
  const direct = new Map(run.straight.map((said) => [said.call, said]));
  for (const { call, outcome, detail, ms } of run.node) {
    const { straight = 'ok', node, late, only } = table[call] ?? {};
    const wanted = of(node ?? straight, firmware);
    if (outcome !== wanted) wrong.push(`${call}: ${outcome} through the node, not ${wanted}`);
    if (node !== undefined && late !== true && (ms ?? 0) > AT_ONCE)
      wrong.push(`${call}: refused after ${ms} ms`);
    if (only === 'node') continue;
    const same = direct.get(call);
    if (same?.outcome !== of(straight, firmware)) wrong.push(`${call}: ${same?.outcome} straight`);
    const answers = [same?.detail, detail].map((answer) => JSON.stringify(answer));
    if (!READ.test(call) && answers[0] !== answers[1])
      wrong.push(`${call}: ${answers.join(', through the node ')}`);
  }
  const heard = new Set(run.node.map(({ call }) => call));
  for (const { call } of run.straight) if (!heard.has(call)) wrong.push(`${call}: not through the node`);
  expect(wrong, wrong.join('\n')).to.deep.equal([]);
}

/** What the guard refused to write is as before, and what the vehicle alone took is not. */
export function expectUnchanged({ straight, node }: Run): void {
  const before = node.find(({ call }) => call === 'read it before arming')?.detail;
  expect(before).to.be.a('number');
  for (const { call, detail } of node) if (READ.test(call)) expect(detail, call).to.equal(before);
  for (const { call, detail } of straight) if (READ.test(call)) expect(detail, call).not.to.equal(before);
}

/** How a driver calls the reading back of a guarded write. */
const READ = /^read it (.*after arming|in the air)$/;
