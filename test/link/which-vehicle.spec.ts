import { expect } from 'chai';
import { Choice, type KeptVehicle } from '../../front/link/vehicle/choice.ts';
import { decodeHeartbeat } from '../../shared/mavlink/decode.ts';
import { frameAt } from '../../shared/mavlink/frame.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { FakeClock } from './fake-clock.ts';
import { encodeAs, heartbeat } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

const ARDUPILOT = 3;
const PX4 = 12;
const GENERIC = 0;
const COPTER = 2;
const ARM = 400;

/** A rig whose line is open, and nobody has spoken. */
function opened(options: RigOptions = {}): Rig {
  const rig = new Rig(options);
  rig.link.start();
  return rig;
}

interface Speaker {
  readonly system: number;
  readonly component?: number;
  readonly autopilot?: number;
  readonly type?: number;
  readonly armed?: boolean;
}

function speak(rig: Rig, who: Speaker): void {
  const { system, component = 1, autopilot = ARDUPILOT, type = COPTER, armed = false } = who;
  rig.say(heartbeat({ armed, autopilot, type }), system, component);
}

/** Time passes while these speak every half a second. */
async function pass(rig: Rig, ms: number, ...who: readonly Speaker[]): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    for (const each of who) speak(rig, each);
    await rig.clock.advance(Math.min(500, left));
  }
}

const target = (rig: Rig): unknown => {
  const { system_id: system, component_id: component } = rig.state();
  return [system, component];
};
const problems = (rig: Rig): string[] => rig.state().problems.map(({ code }) => code);

/** The rule alone, and a clock. `armed`: systems by their last word. */
function ruled(options: { system?: number; former?: KeptVehicle } = {}) {
  const clock = new FakeClock();
  const armed = new Set<number>();
  const { system = null, former = null } = options;
  const choice = new Choice({ clock, system, former, lastWord: (each) => armed.has(each) });
  const hears = ({ system: from, component = 1, autopilot = ARDUPILOT, type = COPTER }: Speaker): boolean => {
    const frame = frameAt(encodeAs(heartbeat({ autopilot, type }), 'v2', 0, from, component));
    const takes = choice.takes(from, component, decodeHeartbeat(new Payload().load(frame)));
    if (takes) choice.heard();
    return takes;
  };
  return { clock, armed, choice, hears };
}

describe('the rule by which a vehicle is chosen', () => {
  const POOR = { system: 4, component: 9 };
  const GOOD = { system: 1, component: 1 };
  const FORMER = { ...POOR, autopilot: ARDUPILOT, type: COPTER, armed: false };

  it('a better one takes its place up to 3 s after it was taken, unless somebody has commanded it', () => {
    for (const [ms, commanded, takes] of [
      [3000, false, true],
      [3001, false, false],
      [100, true, false],
    ] as const) {
      const { clock, choice, hears } = ruled();
      choice.commanded(); // nobody is there yet
      expect(hears(POOR)).to.equal(true);
      if (commanded) choice.commanded();
      clock.stall(ms);
      hears(POOR);
      expect(hears(GOOD), `${ms} ms`).to.equal(takes);
      expect(choice.chosen?.system).to.equal(takes ? 1 : 4);
    }
  });

  it('one that names its firmware is better than one that does not, whatever its component; no worse one takes a place', () => {
    const { clock, choice, hears } = ruled();
    const nameless = { system: 3, autopilot: GENERIC };
    hears(nameless);
    clock.stall(4999);
    expect(hears(nameless)).to.equal(false);
    clock.stall(1);
    expect(hears(nameless)).to.equal(true);
    clock.stall(100);
    expect(hears(POOR)).to.equal(true);
    expect(hears(nameless)).to.equal(false);
    expect(choice.chosen?.system).to.equal(4);
  });

  it('one of its system with another component is not it', () => {
    const { clock, choice, hears } = ruled();
    hears(GOOD);
    clock.stall(1000);
    expect(hears({ system: 1, component: 9 })).to.equal(false);
    expect(choice.chosen).to.include(GOOD);
  });

  it('one that fell silent is gone after 30 s; a nameless one waits 5 s longer than whoever names itself', () => {
    const { clock, armed, hears } = ruled();
    hears(GOOD);
    armed.add(1);
    clock.stall(40_000);
    expect(hears({ system: 2 }), 'armed by its last word').to.equal(false);
    armed.clear();
    expect(hears({ system: 3, autopilot: GENERIC }), 'another names itself').to.equal(false);
    clock.stall(5000);
    expect(hears({ system: 3, autopilot: GENERIC })).to.equal(true);
    clock.stall(29_999);
    expect(hears({ system: 2 })).to.equal(false);
    clock.stall(1);
    expect(hears({ system: 2 })).to.equal(true);
  });

  it('that of the process before stays, as it is no accident; but not another one than the configuration names', () => {
    const { clock, choice, hears } = ruled({ former: FORMER });
    expect(choice.chosen).to.include(POOR);
    expect(hears(GOOD)).to.equal(false);
    clock.stall(30_000);
    expect(hears(GOOD)).to.equal(true);
    expect(ruled({ former: FORMER, system: 4 }).choice.chosen).to.include(POOR);
    expect(ruled({ former: FORMER, system: 5 }).choice.chosen).to.equal(null);
  });
});

describe('which vehicle', () => {
  const strangers: readonly (readonly [string, Speaker])[] = [
    ['a ground station', { system: 255, component: 190, autopilot: 8, type: 6 }],
    ['a script that says nothing of itself', { system: 255, component: 190, autopilot: GENERIC, type: 0 }],
    ['a gimbal of the vehicle', { system: 1, component: 154, autopilot: GENERIC, type: 0 }],
    ['a gimbal that says what it is', { system: 1, component: 154, autopilot: 8, type: 26 }],
    ['a camera', { system: 1, component: 100, autopilot: 8, type: 30 }],
    ['a companion computer', { system: 1, component: 191, autopilot: 8, type: 18 }],
    ['a companion computer that calls itself a copter', { system: 1, component: 1, autopilot: 8, type: 2 }],
    ['an ADS-B receiver', { system: 1, component: 156, autopilot: GENERIC, type: 27 }],
  ];
  for (const [name, stranger] of strangers)
    it(`${name} that speaks first is nobody`, async () => {
      const rig = opened();
      await pass(rig, 8000, stranger);
      expect(target(rig)).to.deep.equal([null, null]);
      await pass(rig, 1000, stranger, { system: 7 });
      expect(target(rig)).to.deep.equal([7, 1]);
      expect(rig.state()).to.deep.include({
        armed: false,
        guard: false,
        guard_any: false,
        other_vehicles: [],
      });
      await rig.link.stop();
    });

  it('the first autopilot, whose commands go to it alone; another one is a problem that is told, and never a change of mind', async () => {
    const rig = opened();
    await pass(rig, 2000, { system: 2 });
    await pass(rig, 40_000, { system: 1 }, { system: 2 });
    expect(target(rig)).to.deep.equal([2, 1]);
    expect(rig.state().other_vehicles).to.deep.equal([1]);
    expect(problems(rig)).to.deep.equal(['other_vehicle', 'no_telemetry']);
    rig.calls.command({ cmd: 'arm', args: [] }).catch(() => undefined);
    await rig.clock.advance(10);
    expect(rig.commands(ARM).map(({ fields }) => fields['targetSystem'])).to.deep.equal([2]);
    await pass(rig, 31_000, { system: 2 });
    expect(problems(rig), 'it has left').to.deep.equal(['no_telemetry']);
    await rig.link.stop();
  });

  it('another one takes its place when it was disarmed by its last word and silent for 30 s, and that is told', async () => {
    const rig = opened();
    await pass(rig, 5000, { system: 1 }, { system: 2 });
    rig.attitude(1000);
    await pass(rig, 29_000, { system: 2 });
    expect(target(rig)).to.deep.equal([1, 1]);
    await pass(rig, 2000, { system: 2 });
    expect(target(rig)).to.deep.equal([2, 1]);
    expect(rig.state().vehicle_changed).to.include({ from: 1, to: 2 });
    expect(problems(rig)).to.include('vehicle_changed');
    expect(rig.state().guard_any, 'who fell silent may hear us').to.equal('unknown');
    await pass(rig, 11 * 60_000, { system: 2 });
    expect(problems(rig)).to.not.include('vehicle_changed');
    await rig.link.stop();
  });

  it('never when it was armed by its last word, or anything else of it is heard', async () => {
    for (const fate of ['armed', 'heard'] as const) {
      const rig = opened();
      await pass(rig, 5000, { system: 1, armed: fate === 'armed' }, { system: 2 });
      for (let second = 0; second < 90; second++) {
        if (fate === 'heard') rig.attitude(1000 + second * 1000);
        await pass(rig, 1000, { system: 2 });
      }
      expect(target(rig), fate).to.deep.equal([1, 1]);
      await rig.link.stop();
    }
  });

  it('in the first 3 s a better one takes its place, unless somebody has commanded or it is armed', async () => {
    const poor = { system: 4, component: 9 };
    const good = { system: 1, component: 1 };
    const early = opened();
    await pass(early, 2000, poor);
    await pass(early, 500, poor, good);
    expect(target(early)).to.deep.equal([1, 1]);
    await early.link.stop();

    const late = opened();
    await pass(late, 4000, poor);
    await pass(late, 5000, poor, good);
    expect(target(late), 'after 3 s').to.deep.equal([4, 9]);
    await late.link.stop();

    const commanded = opened();
    await pass(commanded, 500, poor);
    commanded.calls.command({ cmd: 'arm', args: [] }).catch(() => undefined);
    await pass(commanded, 2000, poor, good);
    expect(target(commanded), 'commanded').to.deep.equal([4, 9]);
    await commanded.link.stop();

    for (const armed of [poor, good]) {
      const rig = opened();
      await pass(rig, 500, { ...poor, armed: armed === poor });
      await pass(rig, 2000, { ...poor, armed: armed === poor }, { ...good, armed: armed === good });
      expect(target(rig), 'armed').to.deep.equal([4, 9]);
      await rig.link.stop();
    }
  });

  it('an autopilot that does not name its firmware is taken after 5 s with nothing better', async () => {
    const generic = { system: 3, autopilot: GENERIC };
    const alone = opened();
    await pass(alone, 4500, generic);
    expect(target(alone)).to.deep.equal([null, null]);
    await pass(alone, 1500, generic);
    expect(target(alone)).to.deep.equal([3, 1]);
    await alone.link.stop();
    const beside = opened();
    await pass(beside, 3000, generic);
    await pass(beside, 9000, generic, { system: 1, autopilot: PX4 });
    expect(target(beside)).to.deep.equal([1, 1]);
    await beside.link.stop();
  });

  it('the system of the configuration, and no other, however long it is away', async () => {
    const rig = opened({ chosen: { system: 5 } });
    await pass(rig, 60_000, { system: 1 });
    expect(target(rig)).to.deep.equal([null, null]);
    await pass(rig, 1000, { system: 1 }, { system: 5 });
    await pass(rig, 60_000, { system: 1 });
    expect(target(rig)).to.deep.equal([5, 1]);
    await rig.link.stop();
  });

  it('a restart keeps the choice, and what is known of an armed one', async () => {
    const kept: KeptVehicle[] = [];
    const first = opened({ chosen: { onVehicle: (vehicle) => kept.push(vehicle) } });
    await pass(first, 4000, { system: 2, armed: true });
    await first.link.stop();
    const [formerVehicle] = kept.slice(-1);
    expect(formerVehicle).to.deep.equal({
      system: 2,
      component: 1,
      autopilot: ARDUPILOT,
      type: COPTER,
      armed: true,
    });
    if (formerVehicle === undefined) return;
    const second = opened({ chosen: { formerVehicle } });
    await pass(second, 60_000, { system: 1 });
    expect(target(second), 'armed by its last word').to.deep.equal([null, null]);
    await pass(second, 1000, { system: 1 }, { system: 2 });
    expect(target(second)).to.deep.equal([2, 1]);
    await second.link.stop();
    const third = opened({ chosen: { formerVehicle: { ...formerVehicle, armed: false } } });
    await pass(third, 29_000, { system: 1 });
    expect(target(third)).to.deep.equal([null, null]);
    await pass(third, 2000, { system: 1 });
    expect(target(third)).to.deep.equal([1, 1]);
    await third.link.stop();
  });

  it('lists everybody who has sent a heartbeat', async () => {
    const rig = opened();
    await pass(rig, 1000, { system: 1, armed: true }, { system: 255, component: 190, autopilot: 8, type: 6 });
    expect(rig.calls.systems()).to.deep.equal([
      { system: 1, component: 1, type: 2, autopilot: 3, vehicle: true, armed: true, last_heard_s: 0.5 },
      { system: 255, component: 190, type: 6, autopilot: 8, vehicle: false, armed: null, last_heard_s: 0.5 },
    ]);
    for (let system = 1; system < 255; system++) speak(rig, { system });
    expect(rig.calls.systems()).to.have.length(64);
    await rig.link.stop();
  });
});
