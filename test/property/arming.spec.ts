import { expect } from 'chai';
import fc from 'fast-check';
import { common, type MavLinkData } from 'node-mavlink';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import { WireGuard } from '../../front/link/router/wire-guard.ts';
import { type ArmedMemory, Arming } from '../../front/link/vehicle/arming.ts';
import { Guard } from '../../front/link/vehicle/guard.ts';
import type { Armed } from '../../shared/flight/armed.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { FakeClock } from '../link/fake-clock.ts';
import { attitude, commandAck, encodeAs, heartbeat, rawV2 } from '../link/mavlink-samples.ts';

const ARM_DISARM = 400;
const ACCEPTED = 0;
const FAILED = 4;
const STEP_MS = 50;

function commandTo(system: number, command: number, first: number): Buffer {
  const message = new common.CommandLong();
  const rest = { confirmation: 0, _param2: 0, _param3: 0, _param4: 0, _param5: 0, _param6: 0, _param7: 0 };
  Object.assign(message, { targetSystem: system, targetComponent: 1, command, _param1: first, ...rest });
  return encodeAs(message, 'v2', 0, 255, 190);
}

const ARDUPILOT = 3;
const PX4 = 12;
/** MAV_CMD, its first parameter, and the firmware on which it arms. */
const ARMS: readonly (readonly [string, number, number, readonly number[]])[] = [
  ['COMPONENT_ARM_DISARM 1', ARM_DISARM, 1, [ARDUPILOT, PX4]],
  ['COMPONENT_ARM_DISARM 0', ARM_DISARM, 0, []],
  ['COMPONENT_ARM_DISARM 1.2', ARM_DISARM, 1.2, [ARDUPILOT, PX4]],
  ['COMPONENT_ARM_DISARM 257', ARM_DISARM, 257, [ARDUPILOT, PX4]],
  ['COMPONENT_ARM_DISARM 1025', ARM_DISARM, 1025, [ARDUPILOT, PX4]],
  ['COMPONENT_ARM_DISARM -255', ARM_DISARM, -255, [ARDUPILOT, PX4]],
  ['COMPONENT_ARM_DISARM NaN', ARM_DISARM, Number.NaN, [ARDUPILOT, PX4]],
  ['MISSION_START', 300, 0, [PX4]],
  ['DO_LAND_START', 189, 0, [PX4]],
  ['DO_MOTOR_TEST', 209, 1, [ARDUPILOT]],
  ['DO_AUX_FUNCTION ARMDISARM', 218, 153, [ARDUPILOT]],
  ['DO_AUX_FUNCTION ARMDISARM with a fraction', 218, 153.9, [ARDUPILOT]],
  ['DO_AUX_FUNCTION, no number of one', 218, 65_689, [ARDUPILOT]],
  ['DO_AUX_FUNCTION, another', 218, 9, []],
  ['DO_AUX_FUNCTION, the smallest number of one', 218, 0, []],
  ['DO_AUX_FUNCTION, the largest number of one', 218, 1000, []],
  ['DO_AUX_FUNCTION, a negative number', 218, -1, [ARDUPILOT]],
  ['SOLO_BTN_FLY_HOLD', 42_002, 0, [ARDUPILOT]],
  ['NAV_TAKEOFF', 22, 0, []],
];

/** What somebody sends to a vehicle, or what happens to it. */
type Deed = 'arm' | 'disarm' | 'write' | 'stick-disarm' | 'reboot' | 'ready' | 'not-ready';

/** A vehicle that does what it is told in order, some time after, and says so some time after that. */
class Model {
  armed = false;
  ready = true;
  /** Writes that reached it while it was armed by a command. */
  broken = 0;
  readonly #system: number;
  readonly #delays: { readonly to: number; readonly from: number };
  #inbox: { at: number; deed: Deed }[] = [];
  #outbox: { at: number; message: MavLinkData }[] = [];

  constructor(system: number, delays: { readonly to: number; readonly from: number }) {
    this.#system = system;
    this.#delays = delays;
  }

  tell(deed: Deed, now: number): void {
    this.#inbox.push({ at: now + this.#delays.to, deed });
  }

  beat(now: number): void {
    this.#say(heartbeat({ armed: this.armed }), now);
  }

  /** @param loses whether the answer to a command is lost */
  step(now: number, loses: boolean): Buffer[] {
    for (const { deed } of this.#due('inbox', now)) this.#do(deed, now, loses);
    return this.#due('outbox', now).map(({ message }) => encodeAs(message, 'v2', 0, this.#system, 1));
  }

  #do(deed: Deed, now: number, loses: boolean): void {
    const answer = (result: number): void => {
      if (!loses) this.#say(commandAck(ARM_DISARM, result, 255, 190), now);
    };
    switch (deed) {
      case 'arm':
        this.armed ||= this.ready;
        answer(this.armed ? ACCEPTED : FAILED);
        break;
      case 'disarm':
        this.armed = false;
        answer(ACCEPTED);
        break;
      case 'write':
        if (this.armed) this.broken++;
        break;
      case 'reboot':
      case 'stick-disarm':
        this.armed = false;
        break;
      case 'ready':
      case 'not-ready':
        this.ready = deed === 'ready';
    }
  }

  #say(message: MavLinkData, now: number): void {
    this.#outbox.push({ at: now + this.#delays.from, message });
  }

  #due(box: 'inbox', now: number): { deed: Deed }[];
  #due(box: 'outbox', now: number): { message: MavLinkData }[];
  #due(box: 'inbox' | 'outbox', now: number): unknown[] {
    if (box === 'inbox') {
      const due = this.#inbox.filter(({ at }) => at <= now);
      this.#inbox = this.#inbox.filter(({ at }) => at > now);
      return due;
    }
    const due = this.#outbox.filter(({ at }) => at <= now);
    this.#outbox = this.#outbox.filter(({ at }) => at > now);
    return due;
  }
}

const deed = fc.record({
  /** ms after the one before. */
  after: fc.integer({ min: 0, max: 3000 }),
  system: fc.constantFrom(1, 2),
  deed: fc.constantFrom<Deed>(
    'arm',
    'arm',
    'disarm',
    'write',
    'write',
    'stick-disarm',
    'reboot',
    'ready',
    'not-ready',
  ),
  lost: fc.boolean(),
});
const scene = fc.record({
  deeds: fc.array(deed, { minLength: 1, maxLength: 30 }),
  to: fc.integer({ min: 0, max: 1500 }),
  from: fc.integer({ min: 0, max: 1500 }),
  beatMs: fc.constantFrom(200, 1000),
});

describe('the armed guard', () => {
  for (const [name, command, first, firmwares] of ARMS) {
    for (const autopilot of [ARDUPILOT, PX4]) {
      const arms = firmwares.includes(autopilot);
      it(`${name} ${arms ? 'counts as an arming' : 'arms nobody'} on ${autopilot === PX4 ? 'PX4' : 'ArduPilot'}`, () => {
        const arming = new Arming({ clock: new FakeClock(), wasArmed: false, onChange: () => undefined });
        const framer = new Framer((frame) => arming.onFrame(frame));
        arming.opened();
        framer.push(encodeAs(heartbeat({ armed: false, autopilot }), 'v2', 0, 1, 1), 0);
        expect(arming.of(1)).to.equal(false);
        const undo = arming.leaving(commandTo(1, command, first));
        expect(arming.of(1)).to.equal(arms);
        undo();
        expect(arming.of(1), 'it did not leave').to.equal(false);
      });
    }
  }

  it('never lets a write through that reaches a vehicle armed by a command, whatever is refused, lost or late; and opens again', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async ({ deeds, to, from, beatMs }) => {
        const clock = new FakeClock();
        const arming = new Arming({ clock, wasArmed: false, onChange: () => undefined });
        const framer = new Framer((frame) => arming.onFrame(frame));
        const vehicles = new Map([1, 2].map((system) => [system, new Model(system, { to, from })]));
        arming.opened();
        let loses = false;
        let beatAt = clock.now();
        const run = (ms: number): void => {
          for (
            const end = clock.now() + ms;
            clock.now() < end;
            clock.stall(Math.min(STEP_MS, end - clock.now()))
          ) {
            if (clock.now() >= beatAt) {
              beatAt += beatMs;
              for (const vehicle of vehicles.values()) vehicle.beat(clock.now());
            }
            for (const vehicle of vehicles.values())
              for (const bytes of vehicle.step(clock.now(), loses)) framer.push(bytes, clock.now());
          }
        };
        run(5000);
        for (const { after, system, deed: what, lost } of deeds) {
          run(after);
          loses = lost;
          const vehicle = vehicles.get(system);
          // The stick of a pilot and a reboot are no frames; what they change is read from heartbeats.
          if (what === 'arm' || what === 'disarm')
            arming.leaving(commandTo(system, ARM_DISARM, what === 'arm' ? 1 : 0));
          if (what !== 'write' || arming.of(system) === false) vehicle?.tell(what, clock.now());
        }
        run(to + from);
        expect([...vehicles.values()].map(({ broken }) => broken)).to.deep.equal([0, 0]);
        for (const vehicle of vehicles.values()) vehicle.tell('stick-disarm', clock.now());
        run(to + from + 12_000);
        expect([arming.of(1), arming.of(2), arming.of(0)]).to.deep.equal([false, false, false]);
      }),
      { numRuns: 300 },
    );
  });
});

const FRESH_MS = 3000;
const OPENED_MS = 5000;
const AWAITED_MS = 600_000;
const NEVER_HEARD = 77;
const TARGETS = [0, 1, 2, NEVER_HEARD] as const;

/** What the guard stands before on the wire: message id, where target_system stands (-1: the message names none), bytes before it. */
const GUARDED: readonly (readonly [string, number, number, (payload: Buffer) => void])[] = [
  ['PARAM_SET', 23, 4, () => undefined],
  ['LOG_ERASE', 121, 0, () => undefined],
  ['SETUP_SIGNING', 256, 8, () => undefined],
  ['SERIAL_CONTROL', 126, 79, () => undefined],
  ['FTP write', 110, 1, (payload) => payload.writeUInt8(7, 6)],
  ...[75, 76].flatMap((id) =>
    [241, 245, 246, 42_424].map(
      (command) =>
        [
          `command ${command} in message ${id}`,
          id,
          30,
          (payload: Buffer) => {
            payload.writeUInt16LE(command, 28);
          },
        ] as const,
    ),
  ),
];

function guardedFrame([, id, at, fill]: (typeof GUARDED)[number], system: number): Frame {
  const payload = Buffer.alloc(255);
  fill(payload);
  payload.writeUInt8(system, at);
  const got: Frame[] = [];
  const stream = new FrameStream(new FakeClock(), (each) => got.push(each));
  stream.push(rawV2({ id, payload, extra: crcExtraOf(id) ?? 0, system: 255, component: 190 }));
  const [first] = got;
  if (first === undefined) throw new Error(`message ${id} is no frame`);
  return first;
}

type Happening =
  | { readonly what: 'beat'; readonly system: 1 | 2; readonly armed: boolean }
  | { readonly what: 'silence'; readonly ms: number }
  | { readonly what: 'open' | 'restart' };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('beat' as const),
      system: fc.constantFrom(1, 2),
      armed: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('silence' as const),
      ms: fc.oneof(
        fc.integer({ min: 0, max: 6000 }),
        fc.constantFrom(10_001, 13_000, 40_000, 590_000, 3_600_000),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('open' as const, 'restart' as const) }) },
);

describe('the armed guard on a frame to everybody, or to who was never heard', () => {
  it('asks all that were heard since the source was opened, however long they are silent, for every guarded frame', () => {
    fc.assert(
      fc.property(fc.array(happening, { minLength: 1, maxLength: 25 }), (happenings) => {
        const clock = new FakeClock();
        let memory: ArmedMemory = { armed: false, systems: [] };
        const begin = (): Arming =>
          new Arming({
            clock,
            wasArmed: memory.armed,
            armedSystems: memory.systems,
            onMemory: (kept) => (memory = kept),
            onChange: () => undefined,
          });
        let arming = begin();
        arming.opened();
        let openedAt = clock.now();
        /** By system, since the source was opened. */
        const heard = new Map<number, { at: number; armed: boolean }>();
        /** Armed by their last word before the source was opened, and silent since: until when they are waited for. */
        const waited = new Map<number, number>();
        for (const each of happenings) {
          const now = clock.now();
          switch (each.what) {
            case 'beat': {
              const framer = new Framer((frame) => arming.onFrame(frame));
              framer.push(encodeAs(heartbeat({ armed: each.armed }), 'v2', 0, each.system, 1), now);
              heard.set(each.system, { at: now, armed: each.armed });
              waited.delete(each.system);
              break;
            }
            case 'silence':
              clock.stall(each.ms);
              break;
            case 'restart':
              // The supervisor tells the next process which were armed when this one ended.
              for (const [system, { armed }] of heard) if (armed) waited.set(system, 0);
              for (const system of waited.keys()) waited.set(system, now + AWAITED_MS);
              arming = begin();
              arming.opened();
              heard.clear();
              openedAt = now;
              break;
            case 'open':
              for (const [system, { at, armed }] of heard) if (armed) waited.set(system, at + AWAITED_MS);
              arming.opened();
              heard.clear();
              openedAt = now;
          }
        }
        const now = clock.now();
        const states = [...heard.values()].map(({ at, armed }) => (now - at > FRESH_MS ? 'unknown' : armed));
        const isWaited = (system: number): boolean => (waited.get(system) ?? -Infinity) >= now;
        const nobody = heard.size === 0 && now - openedAt < OPENED_MS;
        const all = states.every((state) => state === false) && !isWaited(1) && !isWaited(2) && !nobody;
        const guard = new Guard(arming);
        const wire = new WireGuard((system) => guard.mayChange('frame', system, false));
        const policy = { mayWrite: true, force: false, serialControl: true };
        expect(arming.worst === false, 'all of them').to.equal(all);
        for (const target of TARGETS) {
          const known = heard.get(target);
          const one = known !== undefined ? !known.armed && now - known.at <= FRESH_MS : all;
          const may = isWaited(target) ? false : one;
          for (const kind of GUARDED) {
            const answer = wire.judge(guardedFrame(kind, target), policy, true);
            expect(answer, `${kind[0]} to ${target}`).to.equal(may ? null : 'armed');
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  /** With what the process before knew, and a source that has just been opened. */
  function opened(before: { wasArmed?: boolean; armedSystems?: readonly number[] } = {}) {
    const clock = new FakeClock();
    const arming = new Arming({ clock, wasArmed: false, ...before, onChange: () => undefined });
    const framer = new Framer((frame) => arming.onFrame(frame));
    const hears = (message: MavLinkData, system = 1): void =>
      framer.push(encodeAs(message, 'v2', 0, system, 1), clock.now());
    arming.opened();
    return { clock, arming, hears };
  }

  it('a process that knows only that one was armed waits for a heartbeat, however long; a list without that says nothing', () => {
    const some = opened({ wasArmed: true });
    some.clock.stall(3_600_000);
    expect([some.arming.worst, some.arming.of(1), some.arming.of(null)]).to.deep.equal([
      'unknown',
      'unknown',
      'unknown',
    ]);
    some.hears(heartbeat());
    expect(some.arming.worst).to.equal(false);
    const none = opened({ armedSystems: [1] });
    none.clock.stall(OPENED_MS);
    expect([none.arming.of(1), none.arming.lastWord(1)]).to.deep.equal([false, false]);
  });

  it('one that says HIGH_LATENCY alone is there and unknown, until a heartbeat says more', () => {
    for (const message of [new common.HighLatency(), new common.HighLatency2()]) {
      const { arming, hears } = opened({ wasArmed: true });
      hears(message);
      expect([arming.worst, arming.of(1)]).to.deep.equal(['unknown', 'unknown']);
      hears(heartbeat({ armed: false }));
      hears(message);
      expect([arming.worst, arming.of(1)]).to.deep.equal([false, false]);
      const { arming: other, hears: told } = opened();
      told(heartbeat({ armed: false }));
      told(message, 2);
      expect([other.worst, other.of(1), other.of(2)]).to.deep.equal(['unknown', false, 'unknown']);
    }
  });

  it('one that was armed is waited for for ten minutes from its last heartbeat, however often the source is opened', () => {
    const { clock, arming, hears } = opened();
    hears(heartbeat({ armed: true }));
    clock.stall(9 * 60_000);
    arming.opened();
    clock.stall(30_000);
    arming.opened();
    clock.stall(30_000);
    expect([arming.of(1), arming.worst]).to.deep.equal(['unknown', 'unknown']);
    clock.stall(1);
    expect([arming.of(1), arming.worst]).to.deep.equal([false, false]);
  });

  it('one whose arming was under way as the source was opened is waited for, also once it was refused; nobody that never said anything', () => {
    const { clock, arming, hears } = opened();
    hears(heartbeat());
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    arming.leaving(commandTo(NEVER_HEARD, ARM_DISARM, 1));
    arming.opened();
    arming.opened();
    hears(commandAck(ARM_DISARM, FAILED, 255, 190));
    expect(arming.of(1)).to.equal('unknown');
    clock.stall(AWAITED_MS);
    expect(arming.of(1)).to.equal('unknown');
    clock.stall(1);
    expect([arming.of(1), arming.of(NEVER_HEARD), arming.worst]).to.deep.equal([false, false, false]);
    const stranger = opened();
    stranger.arming.leaving(commandTo(NEVER_HEARD, ARM_DISARM, 1));
    stranger.arming.opened();
    stranger.clock.stall(9000);
    expect(stranger.arming.worst).to.equal(false);
  });

  it('an arming to everybody counts for each; another command that is not answered does not lengthen it', () => {
    const { arming, hears } = opened();
    for (const system of [1, 2]) hears(heartbeat(), system);
    arming.leaving(commandTo(0, ARM_DISARM, 1));
    expect([arming.of(1), arming.of(2)]).to.deep.equal([true, true]);
    arming.leaving(commandTo(1, 511, 30));
    hears(commandAck(ARM_DISARM, FAILED, 255, 190));
    expect([arming.of(1), arming.of(2)]).to.deep.equal([false, true]);
  });

  it('an arming that was refused is over; one that was accepted when a heartbeat says so that was sent after it', () => {
    const { clock, arming, hears } = opened();
    const ack = (result: number): void => hears(commandAck(ARM_DISARM, result, 255, 190));
    hears(heartbeat());
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    hears(attitude(ARM_DISARM)); // whose first bytes are those of an answer
    ack(FAILED);
    expect(arming.of(1), 'refused').to.equal(false);
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    ack(ACCEPTED);
    clock.stall(299);
    hears(heartbeat());
    expect(arming.of(1), 'it may be on its way').to.equal(true);
    clock.stall(1);
    hears(heartbeat());
    expect(arming.of(1)).to.equal(false);
    // Of two that are owed one refusal says nothing, nor does one after an acceptance, nor one of another command.
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    arming.leaving(commandTo(1, ARM_DISARM, 0));
    ack(FAILED);
    expect(arming.of(1), 'one of two').to.equal(true);
    ack(FAILED);
    expect(arming.of(1), 'both').to.equal(false);
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    arming.leaving(commandTo(1, ARM_DISARM, 0));
    ack(ACCEPTED);
    ack(FAILED);
    expect(arming.of(1), 'which of them?').to.equal(true);
    clock.stall(300);
    hears(heartbeat());
    expect(arming.of(1)).to.equal(false);
    const px4 = opened();
    px4.hears(heartbeat({ autopilot: PX4 }));
    px4.arming.leaving(commandTo(1, ARM_DISARM, 1));
    px4.arming.leaving(commandTo(1, 300, 0));
    px4.hears(commandAck(ARM_DISARM, FAILED, 255, 190));
    expect(px4.arming.of(1), 'the mission arms too').to.equal(true);
  });

  it('an answer is waited for for 8 s, from the newest send or IN_PROGRESS on; silence ends nothing', () => {
    const IN_PROGRESS = 5;
    const { clock, arming, hears } = opened();
    hears(heartbeat());
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    clock.stall(8000);
    hears(heartbeat());
    expect(arming.of(1)).to.equal(true);
    clock.stall(1);
    hears(heartbeat());
    expect(arming.of(1)).to.equal(false);
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    clock.stall(7000);
    hears(commandAck(ARM_DISARM, IN_PROGRESS, 255, 190));
    clock.stall(8000);
    hears(heartbeat());
    expect(arming.of(1), 'in progress').to.equal(true);
    clock.stall(1);
    hears(heartbeat());
    expect(arming.of(1)).to.equal(false);
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    clock.stall(20_000);
    expect(arming.of(1), 'no heartbeat').to.equal(true);
    // What was asked longer ago is owed no more: one refusal is enough.
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    hears(commandAck(ARM_DISARM, FAILED, 255, 190));
    expect(arming.of(1)).to.equal('unknown');
    hears(heartbeat());
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    clock.stall(8000);
    arming.leaving(commandTo(1, ARM_DISARM, 1));
    hears(commandAck(ARM_DISARM, FAILED, 255, 190));
    expect(arming.of(1), 'the first may be answered yet').to.equal(true);
  });

  it('whoever was never heard is not armed, nor is one whose frame only looks like a command', () => {
    const { clock, arming, hears } = opened();
    clock.stall(OPENED_MS - 1);
    expect(arming.worst, 'just opened').to.equal('unknown');
    clock.stall(1);
    expect(arming.worst).to.equal(false);
    arming.leaving(commandTo(NEVER_HEARD, ARM_DISARM, 0));
    hears(commandAck(ARM_DISARM, FAILED, 255, 190), 55);
    expect([arming.of(NEVER_HEARD), arming.lastWord(NEVER_HEARD), arming.worst]).to.deep.equal([
      false,
      false,
      false,
    ]);
    hears(heartbeat({ armed: true, type: 6, autopilot: 8 }), 255);
    expect(arming.worst, 'a ground station').to.equal(false);
    hears(heartbeat());
    const item = Object.assign(new common.MissionItemInt(), { targetSystem: 1, seq: ARM_DISARM, param1: 1 });
    arming.leaving(encodeAs(item, 'v2', 0, 255, 190));
    expect(arming.of(1), 'an item whose number is that of a command').to.equal(false);
    clock.stall(FRESH_MS);
    expect(arming.of(1)).to.equal(false);
    clock.stall(1);
    expect(arming.of(1)).to.equal('unknown');
  });

  it('of two components the one that was heard first counts, until the main one of an autopilot speaks', () => {
    const clock = new FakeClock();
    const arming = new Arming({ clock, wasArmed: false, onChange: () => undefined });
    const framer = new Framer((frame) => arming.onFrame(frame));
    const beats = (component: number, armed: boolean): void =>
      framer.push(encodeAs(heartbeat({ armed }), 'v2', 0, 1, component), 0);
    arming.opened();
    beats(9, true);
    beats(10, false);
    expect(arming.of(1)).to.equal(true);
    beats(9, false);
    expect(arming.of(1)).to.equal(false);
    beats(9, true);
    beats(1, false);
    expect(arming.of(1)).to.equal(false);
    beats(9, true);
    expect(arming.of(1)).to.equal(false);
  });

  it('tells each change at once, and what is to be remembered once for each', () => {
    let changes = 0;
    const kept: ArmedMemory[] = [];
    const clock = new FakeClock();
    const arming = new Arming({
      clock,
      wasArmed: false,
      onMemory: (memory) => kept.push(memory),
      onChange: () => changes++,
    });
    const framer = new Framer((frame) => arming.onFrame(frame));
    const hears = (message: MavLinkData): void => framer.push(encodeAs(message, 'v2', 0, 1, 1), 0);
    const changed = (work: () => void): boolean => {
      const before = changes;
      work();
      return changes > before;
    };
    arming.opened();
    expect(changed(() => hears(heartbeat()))).to.equal(true);
    hears(heartbeat());
    expect(kept).to.deep.equal([{ armed: false, systems: [] }]);
    expect(changed(() => arming.leaving(commandTo(1, ARM_DISARM, 1)))).to.equal(true);
    expect(
      changed(() => arming.leaving(commandTo(1, ARM_DISARM, 0))),
      'armed before',
    ).to.equal(false);
    expect(changed(() => hears(commandAck(ARM_DISARM, FAILED, 255, 190)))).to.equal(true);
    const undo = arming.leaving(commandTo(1, ARM_DISARM, 1));
    undo();
    expect(changed(() => hears(commandAck(ARM_DISARM, FAILED, 255, 190)))).to.equal(true);
    const last = arming.leaving(commandTo(1, ARM_DISARM, 1));
    expect(changed(last), 'it did not leave').to.equal(true);
    expect(kept).to.deep.equal([
      { armed: false, systems: [] },
      { armed: true, systems: [1] },
      { armed: false, systems: [] },
      { armed: true, systems: [1] },
      { armed: false, systems: [] },
    ]);
  });

  it('what was allowed ends when the vehicle is known to be armed, and not in a gap; what the firmware refuses nobody forces', () => {
    const guardOf = (armed: Armed): Guard => new Guard({ of: () => armed, worst: armed });
    for (const [armed, may, ends] of [
      [true, false, true],
      ['unknown', false, false],
      [false, true, false],
    ] as const) {
      const guard = guardOf(armed);
      expect([
        guard.mayChange('frame', 1, false),
        guard.mustEnd(1),
        guard.state(1),
        guard.worst,
      ]).to.deep.equal([may, ends, armed, armed]);
      expect(guard.mayChange('frame', 1, true)).to.equal(true);
      for (const action of ['log_fetch', 'reboot', 'motor_test'] as const)
        expect(guard.mayChange(action, 1, true), action).to.equal(may);
    }
  });

  it('a gimbal or a script of the same system that calls itself an autopilot disarms nobody', () => {
    const arming = new Arming({ clock: new FakeClock(), wasArmed: false, onChange: () => undefined });
    const framer = new Framer((frame) => arming.onFrame(frame));
    arming.opened();
    framer.push(encodeAs(heartbeat({ armed: true }), 'v2', 0, 1, 1), 0);
    framer.push(encodeAs(heartbeat({ armed: false, autopilot: 0, type: 0 }), 'v2', 0, 1, 154), 0);
    framer.push(encodeAs(heartbeat({ armed: false }), 'v2', 0, 1, 100), 0);
    expect([arming.of(1), arming.of(0)]).to.deep.equal([true, true]);
  });
});
