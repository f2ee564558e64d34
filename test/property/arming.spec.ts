import { expect } from 'chai';
import fc from 'fast-check';
import { common, type MavLinkData } from 'node-mavlink';
import { Arming } from '../../front/link/vehicle/arming.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { FakeClock } from '../link/fake-clock.ts';
import { commandAck, encodeAs, heartbeat } from '../link/mavlink-samples.ts';

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
  ['MISSION_START', 300, 0, [PX4]],
  ['DO_LAND_START', 189, 0, [PX4]],
  ['DO_MOTOR_TEST', 209, 1, [ARDUPILOT]],
  ['DO_AUX_FUNCTION ARMDISARM', 218, 153, [ARDUPILOT]],
  ['DO_AUX_FUNCTION, another', 218, 9, []],
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
