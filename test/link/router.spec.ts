import { expect } from 'chai';
import { FrameStream } from '../../front/link/frame-stream.ts';
import { LoopGuard } from '../../front/link/loop-guard.ts';
import { type FrameSink, Router } from '../../front/link/router.ts';
import { WireGuard, type WirePolicy } from '../../front/link/wire-guard.ts';
import { FakeClock } from './fake-clock.ts';

import { attitude, encodeAs, heartbeat, mixedMessages, rawV2 } from './mavlink-samples.ts';

const OPEN: WirePolicy = { mayWrite: true, force: false, serialControl: false };

/** An endpoint that keeps what it gets, and may stop reading. */
class MemorySink implements FrameSink {
  readonly got: string[] = [];
  queuedBytes = 0;
  reads = true;

  send(frame: Buffer): void {
    this.got.push(frame.toString('hex'));
    if (!this.reads) this.queuedBytes += frame.length;
  }
}

function setup(): {
  router: Router;
  toSource: string[];
  model: number[];
  problems: string[];
  fromVehicle: FrameStream;
  accept: { source: boolean; model: boolean };
} {
  const toSource: string[] = [];
  const model: number[] = [];
  const problems: string[] = [];
  const accept = { source: true, model: true };
  const clock = new FakeClock();
  const router = new Router({
    clock,
    guard: new WireGuard(() => false),
    loops: new LoopGuard(clock),
    refusal: () => null,
    toSource: (bytes) => {
      if (accept.source) toSource.push(bytes.toString('hex'));
      return accept.source;
    },
    onVehicleFrame: (frame) => {
      if (!accept.model) throw new Error('broken model');
      model.push(frame.id);
    },
    onProblem: (sentence) => problems.push(sentence),
  });
  const fromVehicle = new FrameStream(new FakeClock(), (frame) => router.fromSource(frame));
  return { router, toSource, model, problems, fromVehicle, accept };
}

const hex = (frames: readonly Buffer[]): string[] => frames.map((frame) => frame.toString('hex'));

describe('the router', () => {
  it('passes frames of the vehicle untouched to every endpoint and to the model', () => {
    const { router, model, fromVehicle, toSource } = setup();
    const sinks = [new MemorySink(), new MemorySink()];
    const ports = sinks.map((sink, index) => router.attach(`gcs ${index}`, sink, OPEN));
    const frames = [
      encodeAs(heartbeat(), 'v1'),
      encodeAs(attitude(1), 'signed'),
      rawV2({ id: 55_555, payload: Buffer.from('unknown') }),
      encodeAs(attitude(2), 'v2'),
    ];
    fromVehicle.push(Buffer.concat(frames));
    for (const sink of sinks) expect(sink.got).to.deep.equal(hex(frames));
    expect(model).to.deep.equal([0, 30, 55_555, 30]);
    expect(toSource).to.deep.equal([]);
    const bytes = Buffer.concat(frames).length;
    expect(ports[0]?.counters).to.deep.include({ txFrames: 4, txBytes: bytes, txDropped: 0, rxFrames: 0 });
  });

  it('passes frames of an endpoint to the vehicle only: not back, not to others, not to the model', () => {
    const { router, model, toSource, accept } = setup();
    const sinks = [new MemorySink(), new MemorySink()];
    const [port] = sinks.map((sink, index) => router.attach(`gcs ${index}`, sink, OPEN));
    const fromPeer = new FrameStream(new FakeClock(), (frame) => port?.receive(frame));
    const frames = [
      encodeAs(heartbeat({ armed: true }), 'v2', 0, 255, 190),
      rawV2({ id: 44_444, payload: Buffer.of(1) }),
    ];
    fromPeer.push(Buffer.concat([...frames, frames[0] ?? Buffer.alloc(0)]));
    expect(toSource).to.deep.equal(hex([...frames, frames[0] ?? Buffer.alloc(0)]));
    expect(model).to.deep.equal([]);
    expect(sinks.flatMap(({ got }) => got)).to.deep.equal([]);
    accept.source = false;
    fromPeer.push(frames[0] ?? Buffer.alloc(0));
    expect(port?.counters).to.deep.include({ rxFrames: 4, rxDropped: 1 });
    port?.detach();
    fromPeer.push(frames[0] ?? Buffer.alloc(0));
    expect(port?.counters.rxFrames).to.equal(4);
  });

  it('lets a slow endpoint lose its own frames, counted, and delays nobody', () => {
    const { router, fromVehicle } = setup();
    const slow = new MemorySink();
    const fast = new MemorySink();
    slow.reads = false;
    const slowPort = router.attach('slow', slow, OPEN);
    const fastPort = router.attach('fast', fast, OPEN);
    const frames = mixedMessages(5000).map((message, seq) => encodeAs(message, 'v2', seq & 0xff));
    for (const frame of frames) fromVehicle.push(frame);
    expect(fast.got.length).to.equal(5000);
    expect(fastPort.counters.txDropped).to.equal(0);
    expect(slow.queuedBytes).to.be.at.most(64 * 1024);
    expect(slowPort.counters.txDropped).to.equal(5000 - slow.got.length);
    expect(slowPort.counters.txDropped).to.be.above(1000);
    // It reads again: it gets what comes from now on.
    slow.queuedBytes = 0;
    fromVehicle.push(encodeAs(attitude(9), 'v2'));
    expect(slow.got.at(-1)).to.equal(encodeAs(attitude(9), 'v2').toString('hex'));
  });

  it('survives an endpoint and a model that fail, and says so once', () => {
    const { router, fromVehicle, problems, accept } = setup();
    const good = new MemorySink();
    const broken = router.attach(
      'broken',
      {
        queuedBytes: 0,
        send: () => {
          throw new Error('EPIPE');
        },
      },
      OPEN,
    );
    router.attach('good', good, OPEN);
    accept.model = false;
    for (let count = 0; count < 3; count++) fromVehicle.push(encodeAs(attitude(count), 'v2'));
    expect(good.got.length).to.equal(3);
    expect(broken.counters.txDropped).to.equal(3);
    expect(router.modelErrors).to.equal(3);
    expect(problems).to.deep.equal([
      'endpoint broken: EPIPE',
      'vehicle model failed on message 30: broken model',
    ]);
  });

  it('gives up a partial frame 50 ms after the last byte, by its own timer (J4)', async () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    const stream = new FrameStream(clock, (frame) => seen.push(frame.id));
    stream.push(Buffer.concat([Buffer.of(0xfd, 200, 0), encodeAs(heartbeat(), 'v2')]));
    await clock.advance(49);
    expect(seen).to.deep.equal([]);
    await clock.advance(2);
    expect(seen).to.deep.equal([0]);
    expect(clock.pending).to.equal(0);
    stream.push(Buffer.of(0xfd, 10));
    stream.reset();
    expect(clock.pending).to.equal(0);
    expect(stream.counters.garbageBytes).to.equal(5);
  });
});
