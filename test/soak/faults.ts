import { once } from 'node:events';
import { open, unlink, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { within } from '../../shared/async/within.ts';
import { KEY } from '../support/edge.ts';
import type { RemoteHost } from '../support/netns.ts';
import { ask } from './ask.ts';
import { floodOfFrames, floodOfKeys } from './floods.ts';
import type { Disturbance, Rig } from './rig.ts';

export interface Fault {
  readonly name: string;
  readonly disturbs: Disturbance;
  /** A process is another one afterwards: not in the part of the run that looks for growth. */
  readonly restarts: boolean;
  /** Waits for the end of a flight: the simulated vehicle ends, or the log cannot be written. */
  readonly grounded: boolean;
  /** Longer than a short run has. */
  readonly long: boolean;
  /** The node is whole again so long after it, ms. */
  readonly boundMs: number;
  /** @returns from when on the node can become whole again, monotonic ms: a kill, the end of a full disk */
  make(): Promise<number>;
}

export interface Faults {
  readonly faults: readonly Fault[];
  readonly skipped: readonly { readonly name: string; readonly why: string }[];
}

export interface Tools {
  readonly remote: RemoteHost | null;
  /** Why there is none. */
  readonly noRemote: string | null;
  /** libfaketime reads the offset from here; null: the clocks cannot be stepped. */
  readonly clockFile: string | null;
  /** The node's own small disk; null: it is on the machine's. */
  readonly disk: string | null;
}

const NOTHING = { node: false, link: false, cable: false } as const;
const NODE = { node: true, link: false, cable: true } as const;
const ALL = { node: true, link: true, cable: true } as const;
const KILLED = ['svc-control', 'svc-link', 'svc-residual', 'svc-video'] as const;
const STOPPED = ['svc-control', 'svc-link', 'svc-residual', 'svc-video'] as const;
/** A parked process is tried after 30 s. */
const SUCCESSOR_MS = 60_000;
const CONNECTIONS = 300;
const SLOW_PATHS = ['/api/logs/stream', '/api/video/live.mp4', '/api/logs/export'] as const;
/** The largest write that still fits is this, then the disk is full. */
const FILL_BYTES = 1024 * 1024;

/** All that can be made on this machine. */
export function faultsOf(rig: Rig, tools: Tools): Faults {
  const plain = { restarts: false, grounded: false, long: false, boundMs: 15_000 } as const;
  const faults: Fault[] = [];
  const { pace } = rig.options;
  const skipped = [
    {
      name: 'a flood of mDNS questions',
      why: 'its node does not make itself known on the networks of this machine',
    },
  ];
  for (const name of KILLED) {
    const disturbs = name === 'svc-link' ? ALL : NODE;
    faults.push({
      ...plain,
      name: `kill -9 ${name}`,
      disturbs,
      restarts: true,
      boundMs: 30_000,
      make: async () => {
        const at = performance.now();
        await successor(rig.node.killAndAwaitSuccessor(name), name);
        return at;
      },
    });
  }
  faults.push({
    ...plain,
    name: 'kill -9 svc-sim',
    disturbs: ALL,
    restarts: true,
    grounded: true,
    boundMs: 30_000,
    make: async () => {
      const at = performance.now();
      await rig.options.vehicle.kill();
      return at;
    },
  });
  for (const name of STOPPED) {
    const disturbs = name === 'svc-link' ? ALL : NODE;
    faults.push({
      ...plain,
      name: `stop ${name} for ${4 * pace} s`,
      disturbs,
      make: async () => stop(rig, name, 4000 * pace),
    });
  }
  faults.push(
    {
      ...plain,
      name: 'stop svc-residual until it is killed',
      disturbs: NODE,
      restarts: true,
      grounded: true,
      long: true,
      boundMs: 45_000,
      make: async () => {
        const at = performance.now();
        const { pid, restarts } = rig.node.service('svc-residual');
        if (pid !== null) process.kill(pid, 'SIGSTOP');
        const killed = rig.node.until(() => rig.node.service('svc-residual').restarts > restarts);
        await successor(killed, 'svc-residual');
        return at;
      },
    },
    {
      ...plain,
      name: 'kill -9 the supervisor',
      disturbs: ALL,
      restarts: true,
      grounded: true,
      boundMs: 60_000,
      make: async () => {
        const at = performance.now();
        rig.node.supervisor.kill('SIGKILL');
        await rig.node.gone();
        await rig.resume();
        return at;
      },
    },
    { ...plain, name: 'clients that do not read', disturbs: NOTHING, make: async () => slowClients(rig) },
    { ...plain, name: `${CONNECTIONS} half requests`, disturbs: NOTHING, make: async () => flood(rig) },
    {
      ...plain,
      name: `${20_000 * pace} frames of a ground station in ${5 * pace} s`,
      disturbs: NOTHING,
      make: async () => floodOfFrames(rig),
    },
    {
      ...plain,
      name: `${2000 * pace} requests with a wrong key in ${5 * pace} s`,
      disturbs: NOTHING,
      make: async () => floodOfKeys(rig),
    },
  );
  const { remote, clockFile, disk } = tools;
  if (remote === null) skipped.push({ name: 'network cuts', why: tools.noRemote ?? 'no other host' });
  else {
    const cable = { ...NOTHING, cable: true } as const;
    faults.push(
      {
        ...plain,
        name: `cable out for ${8 * pace} s`,
        disturbs: cable,
        make: async () => {
          await remote.plug(false);
          await rig.pause(8000 * pace);
          await remote.plug(true);
          return performance.now();
        },
      },
      {
        ...plain,
        name: `30 % loss for ${10 * pace} s`,
        disturbs: cable,
        make: async () => {
          await remote.loseAll(30);
          await rig.pause(10_000 * pace);
          await remote.loseAll(0);
          return performance.now();
        },
      },
    );
  }
  if (clockFile === null)
    skipped.push({ name: 'clock steps', why: 'needs root and libfaketime; never in a steady run' });
  else
    faults.push({
      ...plain,
      name: 'clock an hour ahead, two minutes back, right again',
      disturbs: NODE,
      grounded: true,
      make: async () => {
        for (const seconds of [3600, -120, 0]) {
          await writeFile(clockFile, `${seconds < 0 ? '' : '+'}${seconds}\n`);
          await rig.pause(Math.max(2000, 5000 * pace)); // the file is read once a second
        }
        return performance.now();
      },
    });
  if (disk === null) skipped.push({ name: 'full disk', why: 'needs root, for a small disk of its own' });
  else
    faults.push({
      ...plain,
      name: `full disk for ${8 * pace} s`,
      disturbs: NODE,
      grounded: true,
      make: async () => fill(rig, disk),
    });
  return { faults, skipped };
}

async function successor(comes: Promise<void>, name: string): Promise<void> {
  await within(
    comes,
    SUCCESSOR_MS,
    () => new Error(`${name} has no successor after ${SUCCESSOR_MS / 1000} s`),
  );
}

/** A process that hangs, but not for so long that the supervisor kills it. */
async function stop(rig: Rig, name: string, ms: number): Promise<number> {
  const pid = rig.node.pid(name);
  process.kill(pid, 'SIGSTOP');
  await rig.pause(ms);
  process.kill(pid, 'SIGCONT');
  return performance.now();
}

async function fill(rig: Rig, disk: string): Promise<number> {
  const path = join(disk, 'filler');
  const file = await open(path, 'w');
  try {
    for (let bytes = FILL_BYTES; bytes >= 1; bytes >>= 4) {
      const piece = Buffer.alloc(bytes);
      while (await fits(file.write(piece).then(({ bytesWritten }) => bytesWritten === bytes)));
    }
    const until = performance.now() + 8000 * rig.options.pace;
    while (performance.now() < until) {
      const { status } = await ask(`${rig.node.url}/api/status`, {});
      rig.invariants.answers.check(status === 200, () => `GET /api/status with a full disk: ${status}`);
      await wait(500);
    }
  } finally {
    await file.close();
    await unlink(path);
  }
  return performance.now();
}

async function fits(written: Promise<boolean>): Promise<boolean> {
  return written.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOSPC') return false;
    throw error;
  });
}

/** They ask for streams and read nothing: everybody else must not notice. */
async function slowClients(rig: Rig): Promise<number> {
  const sockets = await Promise.all([...SLOW_PATHS, ...SLOW_PATHS].map(async () => opened(rig)));
  for (const [index, socket] of sockets.entries()) {
    socket.pause();
    const path = SLOW_PATHS[index % SLOW_PATHS.length] ?? '';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${rig.node.port}\r\nX-SVC-Key: ${KEY}\r\n\r\n`);
  }
  await rig.pause(15_000 * rig.options.pace);
  for (const socket of sockets) socket.destroy();
  return performance.now();
}

/** Connections that begin a request and do not end it. */
async function flood(rig: Rig): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, async () => opened(rig)));
  for (const socket of sockets) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  await rig.pause(5000 * rig.options.pace);
  for (const socket of sockets) socket.destroy();
  return performance.now();
}

async function opened(rig: Rig): Promise<Socket> {
  const socket = connect(rig.node.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined); // the node cuts off what is too slow
  return socket;
}
