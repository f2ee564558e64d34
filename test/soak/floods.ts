import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { common } from 'node-mavlink';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { ask } from './ask.ts';
import { GCS, groundPort } from './load.ts';
import type { Rig } from './rig.ts';

const ANSWER_MS = 5000;
const BURSTS = 50;
const WRONG = { 'x-svc-key': `svc_${'0'.repeat(43)}` } as const;

/** As many frames as fit: parts of logs that nobody asked for, vehicles that are none, and what is no frame. */
export async function floodOfFrames(rig: Rig): Promise<number> {
  const socket = connect(groundPort(rig), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined).resume(); // the node cuts off what is too much
  const log = Object.assign(new common.LogData(), { id: 1, ofs: 0, count: 90, data: Array(90).fill(7) });
  const frames = Array.from({ length: 400 }, (_, seq) =>
    seq % 2 === 0
      ? encodeAs(log, 'v2', seq & 0xff, GCS.system, GCS.component)
      : encodeAs(heartbeat(), 'v2', seq & 0xff, 3 + (seq % 250)),
  );
  return whileLooking(rig, async () => {
    socket.write(Buffer.concat([...frames, randomBytes(4096)]));
  }).finally(() => socket.destroy());
}

/** Somebody guesses keys. */
export async function floodOfKeys(rig: Rig): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 10 });
  return whileLooking(rig, async () => {
    const guesses = Array.from({ length: 40 }, async () =>
      ask(`${rig.node.url}/api/status`, { headers: WRONG, agent }),
    );
    for (const { status } of await Promise.all(guesses))
      rig.invariants.floods.check(status !== 200, () => `a wrong key got ${status}`);
  }).finally(() => agent.destroy());
}

/** Ten bursts a second, and a look at the node between them. */
async function whileLooking(rig: Rig, burst: () => Promise<void>): Promise<number> {
  const { floods } = rig.invariants;
  for (let number = 0; number < BURSTS * rig.options.pace && !rig.signal.aborted; number++) {
    const pause = rig.pause(100);
    await burst();
    const at = performance.now();
    const { status } = await ask(`${rig.node.url}/api/status`, {});
    const ms = performance.now() - at;
    floods.worst('longest answer ms', ms);
    floods.check(
      status === 200 && ms <= ANSWER_MS,
      () => `/api/status: ${status} after ${Math.round(ms)} ms`,
    );
    await pause;
  }
  return performance.now();
}
