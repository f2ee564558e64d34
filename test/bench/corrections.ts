import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { rtcm } from '../link/rtcm-samples.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import type { Result } from './result.ts';

const GPS_RTCM_DATA = 233;
const FRAMES = 300;
/** Three fragments of GPS_RTCM_DATA. */
const SIZE = 480;
const EVERY_MS = 20;

/** What the node adds to corrections: from the base station's socket to the vehicle's. Both are this process. */
export async function correctionsLatency(): Promise<readonly Result[]> {
  const { server: base, met: rover } = await listen();
  const { server: vehicle, met: link } = await listen();
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  const node = await TestNode.start({
    simulated: false,
    pairing: { key: KEY },
    config: `mavlink:\n  source: tcp:127.0.0.1:${portOf(vehicle)}\n  endpoints: []\nsecurity:\n  near_hosts: [127.0.0.1]\nrtk:\n  source: tcp:127.0.0.1:${portOf(base)}\n`,
  });
  const line = await link;
  const beats = setInterval(() => line.write(encodeAs(heartbeat(), 'v2', 0)), 200);
  try {
    const out = await rover;
    const took: number[] = [];
    let sentAt = 0;
    let left = 0;
    line.on('data', (bytes: Buffer) => {
      // Whole frames: the node writes each in one call.
      for (let at = 0; at + 12 <= bytes.length; at += (bytes[at + 1] ?? 0) + 12)
        if (bytes.readUIntLE(at + 7, 3) === GPS_RTCM_DATA && --left === 0)
          took.push(performance.now() - sentAt);
    });
    await askAgain(
      'the vehicle is met',
      async () => (await node.json('/api/status', { headers: { 'x-svc-key': KEY } })).body['fc_connected'],
      (met) => met === true,
    );
    for (let count = 0; count < FRAMES; count++) {
      left = 3;
      sentAt = performance.now();
      out.write(rtcm(1077, SIZE));
      await delay(EVERY_MS);
    }
    if (took.length < FRAMES * 0.9) throw new Error(`only ${took.length} of ${FRAMES} corrections came`);
    const sorted = took.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    return [
      { name: 'corrections from base to vehicle, p50', value: at(0.5), unit: 'ms' },
      { name: 'corrections from base to vehicle, p99', value: at(0.99), unit: 'ms', goal: 50 },
    ];
  } finally {
    clearInterval(beats);
    await node.stop();
    base.close();
    vehicle.close();
  }
}

async function listen(): Promise<{ readonly server: Server; readonly met: Promise<Socket> }> {
  const server = createServer();
  const met = new Promise<Socket>((resolve) => {
    server.on('connection', (socket) => {
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // the node resets it when it stops
      socket.resume();
      resolve(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, met };
}
