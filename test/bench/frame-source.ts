/** A vehicle for the bench: `frame-source.ts PORT RATE SECONDS OWN` sends frames of 77 bytes to a UDP port of this machine, from one. */
import { createSocket } from 'node:dgram';
import { hrtime } from 'node:process';
import { encodeAs, heartbeat, rawV2 } from '../link/mavlink-samples.ts';

const [port = 0, rate = 0, seconds = 0, own = 0] = process.argv.slice(2).map(Number);
/** HIL_SENSOR: no part of the node decodes it. */
const ID = 107;
const CRC_EXTRA = 108;
const PAYLOAD = 65;

const socket = createSocket('udp4');
socket.bind(own, '127.0.0.1');
const payload = Buffer.alloc(PAYLOAD, 1);

/** Number of the frame at 0, when it was sent (monotonic ns of the machine) at 8. */
function send(index: number): void {
  payload.writeDoubleLE(index, 0);
  payload.writeBigUInt64LE(hrtime.bigint(), 8);
  socket.send(rawV2({ id: ID, payload, extra: CRC_EXTRA, seq: index & 0xff }), port, '127.0.0.1');
}

const total = rate * seconds;
const started = performance.now();
const beat = (): void => socket.send(encodeAs(heartbeat(), 'v2', 0), port, '127.0.0.1');
const beats = setInterval(beat, 500);
beat();
let sent = 0;
const tick = setInterval(() => {
  const due = Math.min(total, Math.floor(((performance.now() - started) * rate) / 1000));
  while (sent < due) send(sent++);
  if (sent < total) return;
  clearInterval(tick);
  clearInterval(beats);
  process.send?.({ sent });
}, 1);
process.on('disconnect', () => process.exit(0));
