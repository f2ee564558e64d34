/** A ground station for the bench: `frame-sink.ts [PORT [tcp]]` counts what comes by UDP or TCP; with a port it speaks there first. */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { hrtime } from 'node:process';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';

const endpoint = Number(process.argv[2] ?? 0);
const overTcp = process.argv[3] === 'tcp';
const ID = 107;
const BEAT = encodeAs(heartbeat({ type: 6, autopilot: 8 }), 'v2', 0, 255, 190);

let latencies: number[] = [];
const seen = new Set<number>();

function look({ id, buffer, payloadStart }: Frame): void {
  if (id !== ID) return;
  seen.add(buffer.readDoubleLE(payloadStart));
  latencies.push(Number(hrtime.bigint() - buffer.readBigUInt64LE(payloadStart + 8)) / 1000);
}
const framer = new Framer(look);
const take = (bytes: Buffer): void => framer.push(bytes, performance.now());

function speak(send: () => void, port: number): void {
  if (endpoint > 0) {
    send();
    setInterval(send, 1000);
  }
  process.send?.({ port });
}

if (overTcp) {
  const socket = connect(endpoint, '127.0.0.1');
  socket.setNoDelay(true);
  socket.on('data', take);
  socket.on('connect', () => speak(() => socket.write(BEAT), socket.localPort ?? 0));
} else {
  const socket = createSocket('udp4');
  socket.on('message', take);
  socket.bind(0, '127.0.0.1', () => {
    socket.setRecvBufferSize(4 * 1024 * 1024);
    speak(() => socket.send(BEAT, endpoint, '127.0.0.1'), socket.address().port);
  });
}
process.on('message', () => {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  process.send?.({ received: seen.size, p50: at(0.5), p99: at(0.99) });
  latencies = [];
  seen.clear();
});
process.on('disconnect', () => process.exit(0));
