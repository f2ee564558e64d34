import { join } from 'node:path';
import { MavLinkPacketParser, MavLinkPacketSplitter } from 'node-mavlink';
import { Router } from '../../front/link/router.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { encodeAs, mixedMessages } from '../link/mavlink-samples.ts';
import { median } from './result.ts';

const FRAMES = 40_000;
const CHUNK = 512;
const ROUNDS = 7;

/** Frames a second of our framing against node-mavlink's over the same bytes; `ratio` is ours over theirs. */
export interface FramingResult {
  readonly name: string;
  readonly unit: 'frames/s';
  readonly ours: number;
  readonly theirs: number;
  readonly ratio: number;
}

function chunksOf(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) chunks.push(bytes.subarray(at, at + CHUNK));
  return chunks;
}

function framesPerSecond(started: number): number {
  return FRAMES / ((performance.now() - started) / 1000);
}

/** Framing alone: each frame is seen in place. */
function ours(chunks: readonly Buffer[]): number {
  let seen = 0;
  const framer = new Framer((frame) => {
    seen += frame.id >= 0 ? 1 : 0;
  });
  const started = performance.now();
  for (const chunk of chunks) framer.push(chunk, 0);
  const rate = framesPerSecond(started);
  if (seen !== FRAMES) throw new Error(`${seen} of ${FRAMES} frames`);
  return rate;
}

/** Framing and routing: each frame is copied once and handed to two ground stations and the vehicle model. */
function oursRouted(chunks: readonly Buffer[]): number {
  let sent = 0;
  const router = new Router({
    toSource: () => true,
    onVehicleFrame: () => undefined,
    onProblem: (sentence) => {
      throw new Error(sentence);
    },
  });
  const sink = {
    queuedBytes: 0,
    send: (bytes: Buffer) => {
      sent += bytes.length > 0 ? 1 : 0;
    },
  };
  router.attach('one', sink);
  router.attach('two', sink);
  const framer = new Framer((frame) => router.fromSource(frame));
  const started = performance.now();
  for (const chunk of chunks) framer.push(chunk, 0);
  const rate = framesPerSecond(started);
  if (sent !== 2 * FRAMES) throw new Error(`${sent} of ${2 * FRAMES} frames`);
  return rate;
}

async function theirs(chunks: readonly Buffer[]): Promise<number> {
  const splitter = new MavLinkPacketSplitter();
  const parser = splitter.pipe(new MavLinkPacketParser());
  let seen = 0;
  parser.on('data', () => seen++);
  const ended = new Promise((resolve) => {
    parser.once('end', resolve);
  });
  const started = performance.now();
  for (const chunk of chunks) {
    if (!splitter.write(chunk)) {
      await new Promise((resolve) => {
        splitter.once('drain', resolve);
      });
    }
  }
  splitter.end();
  await ended;
  const rate = framesPerSecond(started);
  if (seen !== FRAMES) throw new Error(`${seen} of ${FRAMES} frames`);
  return rate;
}

/** Medians over several rounds after one to warm up, interleaved, so that noise hits all alike. */
export async function benchFraming(): Promise<readonly FramingResult[]> {
  const frames = mixedMessages(FRAMES).map((message, index) => encodeAs(message, 'v2', index & 0xff));
  const chunks = chunksOf(Buffer.concat(frames));
  const rates = { framed: [] as number[], routed: [] as number[], theirs: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    const framed = ours(chunks);
    const routed = oursRouted(chunks);
    const other = await theirs(chunks);
    if (round === 0) continue;
    rates.framed.push(framed);
    rates.routed.push(routed);
    rates.theirs.push(other);
  }
  const reference = median(rates.theirs);
  const result = (name: string, values: readonly number[]): FramingResult => {
    const rate = median(values);
    return { name, unit: 'frames/s', ours: rate, theirs: reference, ratio: rate / reference };
  };
  return [result('framing', rates.framed), result('framing and routing to two endpoints', rates.routed)];
}

if (process.argv[1] === join(import.meta.dirname, 'framing.ts')) {
  for (const { name, ours: rate, theirs: reference, ratio } of await benchFraming()) {
    const each = (1e6 / rate).toFixed(2);
    process.stdout.write(
      `${name}: ${Math.round(rate)} frames/s (${each} us a frame), node-mavlink ${Math.round(reference)}, ratio ${ratio.toFixed(1)}\n`,
    );
  }
}
