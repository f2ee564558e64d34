import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import type { RouterPort } from '../../front/link/router/router.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { encodeAs, heartbeat } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const PARAM_ERROR = 345;
const ACK = 77;

/** A ground station at an endpoint of the link, without an override. */
class Station {
  /** Message id, sender's system and component. */
  readonly got: (readonly [number, number, number])[] = [];
  readonly #port: RouterPort;
  readonly #stream: FrameStream;
  #seq = 0;

  constructor({ link, clock }: Rig) {
    const inbox = new FrameStream(clock, ({ id, system, component }) =>
      this.got.push([id, system, component]),
    );
    const sink = { queuedBytes: 0, send: (bytes: Buffer) => inbox.push(bytes) };
    const policy = { mayWrite: true, force: false, serialControl: false };
    this.#port = link.parts.router.attach('station', sink, policy);
    this.#stream = new FrameStream(clock, (frame: Frame) => this.#port.receive(frame));
  }

  say(message: MavLinkData): void {
    this.#stream.push(encodeAs(message, 'v2', this.#seq++ & 0xff, 255, 190));
  }

  set(system: number): void {
    const message = new common.ParamSet();
    Object.assign(message, {
      targetSystem: system,
      targetComponent: 0,
      paramId: 'P1',
      paramValue: 1,
      paramType: 9,
    });
    this.say(message);
  }

  reboot(system: number): void {
    this.command(system, 246, 1);
  }

  command(system: number, command: number, first: number): void {
    const message = new common.CommandLong();
    const rest = { _param2: 0, _param3: 0, _param4: 0, _param5: 0, _param6: 0, _param7: 0, confirmation: 0 };
    Object.assign(message, { targetSystem: system, targetComponent: 0, command, _param1: first, ...rest });
    this.say(message);
  }
}

/** PARAM_SETs and reboots that reached the vehicles. */
const dangerous = (rig: Rig): number =>
  rig.sent.filter(({ id, fields }) => id === 23 || (id === 76 && fields['command'] === 246)).length;

describe('a ground station that writes to everybody', () => {
  it('does not reach a vehicle that fell silent in the air, whatever the time, while the line up is open', async () => {
    const rig = new Rig();
    rig.armed = true;
    await rig.meet();
    await rig.live(2000);
    const station = new Station(rig);
    for (const ms of [1000, 2500, 9500, 600_000]) {
      await rig.clock.advance(ms);
      for (const target of [0, 1, 77]) {
        station.set(target);
        station.reboot(target);
      }
    }
    expect(dangerous(rig)).to.equal(0);
    rig.armed = false;
    await rig.live(500);
    station.set(0);
    expect(dangerous(rig)).to.equal(1);
    await rig.link.stop();
  });

  it('nor another vehicle of the line that flies or is silent; that one is the state before the link is cut', async () => {
    const rig = await Rig.met();
    await rig.live(5000);
    const station = new Station(rig);
    const other = (armed: boolean): void => rig.say(heartbeat({ armed }), 2);
    other(true);
    station.set(0);
    station.set(2);
    expect(dangerous(rig)).to.equal(0);
    expect(rig.state()).to.deep.include({ guard: false, guard_any: true });
    await rig.live(60_000);
    station.set(0);
    expect(dangerous(rig)).to.equal(0);
    expect(rig.state()).to.deep.include({ guard: false, guard_any: 'unknown' });
    station.set(1);
    expect(dangerous(rig), 'ours stands').to.equal(1);
    other(false);
    expect(rig.state()).to.deep.include({ guard: false, guard_any: false });
    station.set(0);
    expect(dangerous(rig)).to.equal(2);
    await rig.link.stop();
  });

  it('a refusal is answered in the name of whoever was addressed', async () => {
    const rig = await Rig.met();
    const station = new Station(rig);
    rig.say(heartbeat({ armed: true }), 2);
    await rig.clock.advance(10);
    const answers = (): unknown[] => station.got.filter(([id]) => id === PARAM_ERROR || id === ACK);
    station.set(2);
    station.reboot(2);
    expect(answers()).to.deep.equal([
      [PARAM_ERROR, 2, 1],
      [ACK, 2, 1],
    ]);
    station.got.length = 0;
    station.set(0);
    expect(answers()).to.deep.equal([[PARAM_ERROR, 1, 1]]);
    await rig.link.stop();
  });

  it('arms nobody while a kill is under way, in whatever form', async () => {
    const rig = await Rig.met({ autopilot: 12 });
    const station = new Station(rig);
    const killing = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] });
    await rig.clock.advance(10);
    const before = rig.sent.length;
    for (const [command, first] of [
      [400, 1],
      [400, 1.2],
      [400, 257],
      [300, 0],
      [189, 0],
    ] as const) {
      station.command(1, command, first);
      station.command(0, command, first);
    }
    expect(rig.sent.slice(before).map(({ fields }) => fields['command'])).to.deep.equal([]);
    station.command(1, 400, 0);
    expect(rig.sent.slice(before).map(({ fields }) => fields['command'])).to.deep.equal([400]);
    rig.armed = false;
    await rig.live(13_000);
    await killing;
    await rig.link.stop();
  });

  it('a command arms by the firmware of whom it is for; of everybody it is enough that it arms one', async () => {
    const MISSION_START = 300;
    const passes = async (target: number, others: readonly number[]): Promise<boolean> => {
      const rig = await Rig.met();
      for (const [index, autopilot] of others.entries()) rig.say(heartbeat({ autopilot }), index + 2);
      const station = new Station(rig);
      rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] }).catch(() => undefined);
      await rig.clock.advance(10);
      const before = rig.sent.length;
      station.command(target, MISSION_START, 0);
      await rig.link.stop();
      return rig.sent.length > before;
    };
    expect(await passes(1, [12]), 'ArduPilot').to.equal(true);
    expect(await passes(2, [12]), 'PX4').to.equal(false);
    expect(await passes(77, []), 'who knows').to.equal(false);
    expect(await passes(0, [12, 3]), 'PX4 among them').to.equal(false);
    expect(await passes(0, [3]), 'ArduPilot alone').to.equal(true);
  });
});
