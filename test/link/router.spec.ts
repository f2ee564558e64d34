import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import type { Target } from '../../front/link/encode.ts';
import { Addresses, targetOf } from '../../front/link/router/addresses.ts';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import { LoopGuard } from '../../front/link/router/loop-guard.ts';
import { type FrameSink, Router, type RouterPort } from '../../front/link/router/router.ts';
import { WireGuard, type WirePolicy } from '../../front/link/router/wire-guard.ts';
import { type Frame, frameAt } from '../../shared/mavlink/frame.ts';
import { FakeClock } from './fake-clock.ts';

import { attitude, commandAck, encodeAs, heartbeat, mixedMessages, rawV2 } from './mavlink-samples.ts';

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
  autopilot: { target: Target | null };
} {
  const toSource: string[] = [];
  const model: number[] = [];
  const problems: string[] = [];
  const accept = { source: true, model: true };
  const autopilot: { target: Target | null } = { target: null };
  const clock = new FakeClock();
  const router = new Router({
    clock,
    guard: new WireGuard(() => true),
    loops: new LoopGuard(clock),
    seal: (frame) => frame.bytes(),
    autopilot: () => autopilot.target,
    refusal: () => [],
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
  return { router, toSource, model, problems, fromVehicle, accept, autopilot };
}

const hex = (frames: readonly Buffer[]): string[] => frames.map((frame) => frame.toString('hex'));

describe('the target of a frame', () => {
  const setMode = Object.assign(new common.SetMode(), { targetSystem: 7, baseMode: 1, customMode: 6 });
  const list = Object.assign(new common.ParamRequestList(), { targetSystem: 7, targetComponent: 5 });
  for (const wire of ['v1', 'v2'] as const)
    it(`${wire}: is a component where the message names one, else all of the system`, () => {
      expect(targetOf(frameAt(encodeAs(setMode, wire)))).to.deep.equal({ system: 7, component: 0 });
      expect(targetOf(frameAt(encodeAs(list, wire)))).to.deep.equal({ system: 7, component: 5 });
    });
});

describe('who was heard on a connection', () => {
  const from = (system: number): Frame => frameAt(encodeAs(heartbeat(), 'v2', 0, system, 1));
  const has = (addresses: Addresses, system: number): boolean => addresses.has({ system, component: 1 });

  it('are the 64 newest, by system and component', () => {
    const addresses = new Addresses();
    expect([addresses.any, addresses.hasSender(from(1))]).to.deep.equal([false, false]);
    for (let system = 1; system <= 64; system++) addresses.learn(from(system));
    expect([addresses.any, addresses.hasSender(from(1))]).to.deep.equal([true, true]);
    addresses.learn(from(1)); // it is new again
    addresses.learn(from(65));
    const gone = Array.from({ length: 65 }, (_, index) => index + 1).filter((id) => !has(addresses, id));
    expect(gone).to.deep.equal([2]);
    expect(addresses.has({ system: 1, component: 2 })).to.equal(false);
    expect(addresses.has({ system: 1, component: 0 })).to.equal(true);
    expect(addresses.has({ system: 2, component: 0 })).to.equal(false);
    expect(addresses.has({ system: 0, component: 9 }), 'everybody').to.equal(true);
  });
});

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

  it('passes frames of an endpoint to the vehicle and to the other endpoints: not back, and not to the model', () => {
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
    expect(sinks.map(({ got }) => got)).to.deep.equal([[], toSource]);
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

  describe('by address', () => {
    const commandTo = (system: number, component: number): common.CommandLong => {
      const params = { _param1: 0, _param2: 0, _param3: 0, _param4: 0, _param5: 0, _param6: 0, _param7: 0 };
      const fields = { command: 512, confirmation: 0, targetSystem: system, targetComponent: component };
      return Object.assign(new common.CommandLong(), fields, params);
    };
    const ack = (system: number, component: number): MavLinkData => commandAck(512, 0, system, component);

    /** Vehicle 1/1 with a gimbal 1/154, a camera 1/100, two ground stations 255/190 and 254/190, and who only listens. */
    function network(): {
      readonly say: (who: string, message: MavLinkData) => Record<string, number>;
      readonly port: (who: string) => RouterPort;
    } {
      const { router, fromVehicle, toSource, autopilot } = setup();
      autopilot.target = { system: 1, component: 1 };
      const sinks = new Map<string, MemorySink>();
      const ports = new Map<string, RouterPort>();
      const addresses: Readonly<Record<string, readonly [number, number]>> = {
        vehicle: [1, 1],
        gimbal: [1, 154],
        camera: [1, 100],
        qgc: [255, 190],
        mavproxy: [254, 190],
        forger: [1, 1],
        reader: [3, 3],
      };
      for (const who of ['camera', 'qgc', 'mavproxy', 'listener', 'forger', 'reader']) {
        const sink = new MemorySink();
        sinks.set(who, sink);
        ports.set(who, router.attach(who, sink, { ...OPEN, mayWrite: who !== 'reader' }));
      }
      let seq = 0;
      const say = (who: string, message: MavLinkData): Record<string, number> => {
        const before = new Map([...sinks].map(([name, { got }]) => [name, got.length]));
        const vehicleBefore = toSource.length;
        const bytes = encodeAs(message, 'v2', seq++ & 0xff, ...(addresses[who] ?? [9, 9]));
        const port = ports.get(who);
        if (port === undefined) fromVehicle.push(bytes);
        else new FrameStream(new FakeClock(), (frame) => port.receive(frame)).push(bytes);
        const heard = [...sinks].flatMap(([name, { got }]) =>
          got.length > (before.get(name) ?? 0) ? [[name, got.length - (before.get(name) ?? 0)] as const] : [],
        );
        const up = toSource.length - vehicleBefore;
        return Object.fromEntries(up === 0 ? heard : [...heard, ['vehicle', up]]);
      };
      for (const who of ['vehicle', 'gimbal', 'camera', 'qgc', 'mavproxy']) say(who, heartbeat());
      return {
        say,
        port: (who) => ports.get(who) ?? expect.fail(),
      };
    }

    it('what is for everybody goes to everybody else', () => {
      const { say } = network();
      expect(say('vehicle', attitude(1))).to.deep.equal({
        camera: 1,
        qgc: 1,
        mavproxy: 1,
        listener: 1,
        forger: 1,
        reader: 1,
      });
      expect(say('camera', heartbeat()))
        .to.include({ qgc: 1, mavproxy: 1, vehicle: 1 })
        .and.not.have.property('camera');
    });

    it('what is for one goes where that one was heard, and an answer back', () => {
      const { say } = network();
      expect(say('qgc', commandTo(1, 100))).to.deep.equal({ camera: 1 });
      expect(say('camera', ack(255, 190))).to.deep.equal({ qgc: 1 });
      expect(say('qgc', commandTo(1, 1))).to.deep.equal({ vehicle: 1 });
      expect(say('qgc', commandTo(1, 154))).to.deep.equal({ vehicle: 1 });
      expect(say('qgc', commandTo(1, 0))).to.deep.equal({ camera: 1, vehicle: 1 });
      expect(say('qgc', commandTo(254, 190))).to.deep.equal({ mavproxy: 1 });
      expect(say('qgc', commandTo(7, 7)), 'nobody knows it').to.deep.equal({ vehicle: 1 });
      // Of the vehicle's answers others see nothing, but for those who never said a word.
      expect(say('vehicle', ack(255, 190))).to.deep.equal({ qgc: 1, listener: 1, forger: 1, reader: 1 });
    });

    it('nobody speaks in the name of the autopilot, and whoever only reads says nothing to anybody', () => {
      const { say, port } = network();
      expect(say('forger', heartbeat({ armed: false }))).to.deep.equal({});
      expect(port('forger').counters).to.include({ rxLooped: 1 });
      expect(say('reader', heartbeat())).to.deep.equal({});
      expect(port('reader').counters).to.include({ rxRefused: 1 });
    });

    it('a station of the same name elsewhere does not get the words of the other, the vehicle does', () => {
      const { say } = network();
      expect(say('gimbal', heartbeat())).to.include({ qgc: 1 });
      // The autopilot passes on what it hears by radio: the same 255/190.
      expect(say('qgc', heartbeat({ type: 6 }))).to.include({ vehicle: 1, mavproxy: 1 });
    });
  });
});
