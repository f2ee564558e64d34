import { join } from 'node:path';
import { MavLinkPacketParser, MavLinkPacketSplitter } from 'node-mavlink';
import { systemClock } from '../../front/link/clock.ts';
import { LoopGuard } from '../../front/link/router/loop-guard.ts';
import { Router } from '../../front/link/router/router.ts';
import { WireGuard } from '../../front/link/router/wire-guard.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { encodeAs, mixedMessages } from '../link/mavlink-samples.ts';
import { median, type Result } from './result.ts';

const FRAMES = 40_000;
const CHUNK = 512;
const ROUNDS = 7;

/** At least this many times the frames a second of node-mavlink. */
const GOAL = 4;

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
  const clock = systemClock();
  const router = new Router({
    clock,
    guard: new WireGuard(() => true),
    loops: new LoopGuard(clock),
    seal: (frame) => frame.bytes(),
    autopilot: () => null,
    refusal: () => [],
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
  const policy = { mayWrite: true, force: false, serialControl: false };
  router.attach('one', sink, policy);
  router.attach('two', sink, policy);
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
export async function benchFraming(): Promise<readonly Result[]> {
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
  const ratio = (name: string, values: readonly number[]): Result => {
    const rate = median(values);
    const each = (1000 / (rate / 1e6)).toFixed(0);
    const note = `${Math.round(rate)} frames/s, ${each} ns each; node-mavlink ${Math.round(reference)} frames/s`;
    return { name, value: rate / reference, unit: 'x', goal: GOAL, higher: true, note };
  };
  return [
    ratio('against node-mavlink', rates.framed),
    ratio('with routing to two endpoints, against node-mavlink', rates.routed),
    { name: 'framing and routing, CPU per frame', value: 1e6 / median(rates.routed), unit: 'us', goal: 5 },
  ];
}

if (process.argv[1] === join(import.meta.dirname, 'framing.ts')) {
  for (const { name, value, note } of await benchFraming()) {
    process.stdout.write(`${name}: ratio ${value.toFixed(1)} (${note ?? ''})\n`);
  }
}
