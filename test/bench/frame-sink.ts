/** A ground station for the bench: `frame-sink.ts [PORT]` counts what comes by UDP; with a port it speaks there first. */
import { createSocket } from 'node:dgram';
import { hrtime } from 'node:process';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';

const endpoint = Number(process.argv[2] ?? 0);
const ID = 107;
const FRAME = 77;

const socket = createSocket('udp4');
let latencies: number[] = [];
const seen = new Set<number>();

socket.on('message', (bytes) => {
  if (bytes.length !== FRAME || bytes[7] !== ID) return;
  seen.add(bytes.readDoubleLE(10));
  latencies.push(Number(hrtime.bigint() - bytes.readBigUInt64LE(18)) / 1000);
});
socket.bind(0, '127.0.0.1', () => {
  socket.setRecvBufferSize(4 * 1024 * 1024);
  if (endpoint > 0) {
    const beat = (): void =>
      socket.send(encodeAs(heartbeat({ type: 6, autopilot: 8 }), 'v2', 0, 255, 190), endpoint, '127.0.0.1');
    beat();
    setInterval(beat, 1000);
  }
  process.send?.({ port: socket.address().port });
});
process.on('message', () => {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  process.send?.({ received: seen.size, p50: at(0.5), p99: at(0.99) });
  latencies = [];
  seen.clear();
});
process.on('disconnect', () => process.exit(0));
