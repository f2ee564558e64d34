import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { commandAck, encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import type { Result } from './result.ts';

const COMMANDS = 1000;
const COMMAND_LONG = 76;
const MANUAL_CONTROL = 69;
const STICKS = 500;
const STICK_EVERY_MS = 25;
const NAV_LAND = 21;

/**
 * An HTTP command to the wire, and the vehicle's ack to the HTTP answer; a stick from its WebSocket to the wire. The vehicle and the client
 * are this process.
 */
export async function commandLatency(): Promise<readonly Result[]> {
  const wire = { at: 0, acked: 0 };
  let onStick = (_x: number): void => undefined;
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    let seq = 0;
    const say = (frame: Parameters<typeof encodeAs>[0]): void => {
      socket.write(encodeAs(frame, 'v2', seq++ & 0xff));
    };
    const beats = setInterval(() => say(heartbeat()), 200);
    socket.on('close', () => clearInterval(beats));
    socket.on('error', () => undefined); // the node resets it when it stops
    socket.on('data', (bytes: Buffer) => {
      // Whole frames: the node writes each in one call. COMMAND_LONG cut short by v2 still holds its command.
      for (let at = 0; at + 12 <= bytes.length; at += (bytes[at + 1] ?? 0) + 12) {
        if (bytes[at + 7] === MANUAL_CONTROL) onStick(bytes.readInt16LE(at + 10));
        if (bytes[at + 7] !== COMMAND_LONG || bytes.readUInt16LE(at + 10 + 28) !== NAV_LAND) continue;
        wire.at = performance.now();
        say(commandAck(NAV_LAND, 0, 1));
        wire.acked = performance.now();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const node = await TestNode.start({
    simulated: false,
    pairing: { key: KEY },
    config: `mavlink:\n  source: tcp:127.0.0.1:${(server.address() as AddressInfo).port}\n  endpoints: []\n`,
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const land = async (): Promise<number> =>
    new Promise((resolve, reject) => {
      const call = request(
        `${node.url}/api/command`,
        { agent, method: 'POST', headers: { 'content-type': 'application/json', 'x-svc-key': KEY } },
        (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
        },
      );
      call.on('error', reject);
      call.end('{"cmd":"land"}');
    });
  try {
    while ((await land()) !== 200);
    const overhead: number[] = [];
    const parts = { wire: [] as number[], answer: [] as number[] };
    for (let count = 0; count < COMMANDS; count++) {
      const started = performance.now();
      if ((await land()) !== 200) throw new Error('a command was not answered');
      const ended = performance.now();
      parts.wire.push(wire.at - started);
      parts.answer.push(ended - wire.acked);
      overhead.push(wire.at - started + ended - wire.acked);
    }
    const sticks = await stickLatencies(node, (heard) => {
      onStick = heard;
    });
    const at = (values: readonly number[], share: number): number =>
      values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
    return [
      { name: 'HTTP command to wire, p50', value: at(parts.wire, 0.5), unit: 'ms' },
      { name: 'ack to HTTP answer, p50', value: at(parts.answer, 0.5), unit: 'ms' },
      { name: 'command overhead both ways, p50', value: at(overhead, 0.5), unit: 'ms' },
      { name: 'command overhead both ways, p99', value: at(overhead, 0.99), unit: 'ms', goal: 3 },
      { name: 'stick from WebSocket to wire, p50', value: at(sticks, 0.5), unit: 'ms' },
      { name: 'stick from WebSocket to wire, p99', value: at(sticks, 0.99), unit: 'ms', goal: 20 },
    ];
  } finally {
    agent.destroy();
    await node.stop();
    server.close();
  }
}

/** @param listen gets what is told the x of each MANUAL_CONTROL on the wire */
async function stickLatencies(
  node: TestNode,
  listen: (heard: (x: number) => void) => void,
): Promise<readonly number[]> {
  const sentAt = new Map<number, number>();
  const took: number[] = [];
  listen((x) => {
    const at = sentAt.get(x);
    if (at !== undefined) took.push(performance.now() - at);
    sentAt.delete(x);
  });
  const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/manual/ws`, {
    headers: { 'x-svc-key': KEY },
  });
  await once(socket, 'open');
  for (let x = 1; x <= STICKS; x++) {
    // At rest at first, as whoever takes over has to be; then each with an x of its own.
    sentAt.set(x, performance.now());
    socket.send(JSON.stringify({ type: 'manual', x, y: 0, z: 500, r: 0 }));
    await delay(STICK_EVERY_MS);
  }
  socket.terminate();
  if (took.length < STICKS * 0.9) throw new Error(`only ${took.length} of ${STICKS} sticks came`);
  return took;
}
