import { expect } from 'chai';
import { common, type MavLinkData, minimal } from 'node-mavlink';
import { RetryTime } from '../../front/link/missions/retry-time.ts';
import { OldProtocol } from '../../front/link/sources/old-protocol.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { commandAck, encodeAs, heartbeat } from './mavlink-samples.ts';
import { Rig, read } from './rig.ts';

const IN_PROGRESS = 5;
const ACCEPTED = 0;
const CALIBRATION = 401;

const make = <T extends MavLinkData>(clazz: new () => T, fields: Record<string, unknown>): T =>
  Object.assign(new clazz(), fields);

const latency = (fields: Record<string, unknown>): MavLinkData =>
  make(common.HighLatency2, {
    timestamp: 5,
    type: 2,
    autopilot: 12,
    customMode: 0x0404,
    latitude: 473_977_420,
    longitude: 85_455_940,
    altitude: 510,
    heading: 45,
    groundspeed: 25,
    airspeed: 0,
    battery: 76,
    wpNum: 3,
    ...fields,
  });

describe('links with little', () => {
  it('HIGH_LATENCY2 stands for heartbeat and telemetry; it never says that the vehicle is disarmed', async () => {
    const rig = new Rig({ autopilot: 12, version: null, ackStreams: false });
    rig.link.start();
    rig.say(latency({}));
    await rig.clock.advance(5000);
    rig.say(latency({}));
    await rig.clock.advance(10_000);
    const state = rig.state();
    expect(state).to.include({ mavlink_alive: true, heard: true, heartbeat_age_s: null, link_age_s: 10 });
    expect(state).to.include({ armed: 'unknown', guard: 'unknown', guard_any: 'unknown', system_id: 1 });
    expect(state.telemetry).to.include({ mode: 'AUTO.MISSION', armed: null, system_state: null });
    expect(state.telemetry.position).to.deep.equal({
      lat: 47.397742,
      lon: 8.545594,
      alt_msl: 510,
      alt_rel: null,
      heading: 90,
      state: 'ok',
    });
    expect(state.telemetry.battery.remaining).to.equal(76);
    expect(state.telemetry.velocity.groundspeed).to.equal(5);
    expect(state.telemetry.sources).to.deep.equal({ position: 'HIGH_LATENCY2', battery: 'HIGH_LATENCY2' });
    await rig.clock.advance(3000); // two and a half intervals are over
    expect(rig.state().mavlink_alive).to.equal(false);
    await rig.link.stop();
  });

  it("ArduPilot's HIGH_LATENCY2 says whether it is armed", async () => {
    const rig = new Rig();
    rig.link.start();
    rig.say(latency({ autopilot: 3, customMode: 4, custom0: -119 })); // 137: armed, custom mode
    await rig.clock.advance(20);
    expect(rig.state()).to.include({ armed: true });
    expect(rig.state().telemetry).to.include({ mode: 'GUIDED', armed: true });
    await rig.link.stop();
  });

  it('a vehicle that understands version 1 alone is spoken to in it, and one that begins with it is not', async () => {
    const clock = new FakeClock();
    const frames = (bytes: Buffer | null): { version: number; fields: object }[] => {
      const out: { version: number; fields: object }[] = [];
      const framer = new Framer((frame) => out.push({ version: frame.version, fields: read(frame) }));
      framer.push(bytes ?? Buffer.alloc(0), 0);
      return out;
    };
    const hears = (old: OldProtocol, bytes: Buffer): void => {
      new Framer((frame) => old.onFrame(frame)).push(bytes, 0);
    };
    const order = make(common.CommandLong, { command: 22, confirmation: 1, _param7: 10 });
    const old = new OldProtocol(clock, () => 1);
    old.opened();
    hears(old, encodeAs(heartbeat(), 'v1'));
    expect(frames(old.translated(encodeAs(order, 'v2')))[0]?.version).to.equal(2);
    await clock.advance(4000);
    hears(old, encodeAs(heartbeat(), 'v1'));
    const [first] = frames(old.translated(encodeAs(order, 'v2')));
    expect(first).to.deep.include({ version: 1 });
    expect(first?.fields).to.include({ command: 22, confirmation: 1, _param7: 10 });
    expect(old.translated(encodeAs(make(common.SetupSigning, {}), 'v2'))?.[0] ?? null).to.equal(null);
    hears(old, encodeAs(heartbeat(), 'v2'));
    expect(old.isOld).to.equal(false);

    const px4 = new OldProtocol(clock, () => 1); // it has answered what was said in version 2
    hears(px4, encodeAs(heartbeat(), 'v1'));
    hears(px4, encodeAs(commandAck(512, 0), 'v1'));
    await clock.advance(10_000);
    hears(px4, encodeAs(heartbeat(), 'v1'));
    expect(px4.isOld).to.equal(false);
  });

  it('IN_PROGRESS is followed as long as it comes, and no longer', async () => {
    const rig = await Rig.met();
    const running = rig.calls.command({ cmd: 'setHome', args: [] });
    await settle();
    for (let second = 0; second < 40; second += 5) {
      rig.say(commandAck(179, IN_PROGRESS));
      await rig.live(5000);
    }
    rig.say(commandAck(179, ACCEPTED));
    await rig.live(500);
    expect((await running).status).to.equal('accepted');
    const silent = rig.calls.command({ cmd: 'runPrearmChecks', args: [] });
    await settle();
    rig.say(commandAck(CALIBRATION, IN_PROGRESS));
    await rig.live(12_000);
    expect((await silent).ack.result_name).to.equal('IN_PROGRESS');
    await rig.link.stop();
  });

  it('a round trip that is longer than the first wait is learned', () => {
    const time = new RetryTime();
    const waits: number[] = [];
    // 3.2 s: what is asked before that is asked too early.
    for (let passed = 0; passed < 3200; passed += time.wait, time.late(1)) waits.push(time.wait);
    expect(waits).to.deep.equal([500, 1000, 2000]);
    expect(time.wait).to.be.at.least(3200); // the next question is asked once
    time.seen(3200);
    expect(time.roundTrip).to.equal(3200);
    for (let count = 0; count < 60; count++) time.seen(40);
    const known = time.wait;
    expect(known).to.be.below(1000);
    for (const tries of [1, 2, 3]) time.late(tries); // lost, as it seems
    expect(time.wait).to.equal(known);
    time.late(4);
    expect(time.wait).to.equal(2 * known);
  });

  it('a change of the mode has one time, however late it is told, and who had it changed', async () => {
    const rig = await Rig.met();
    const beat = (customMode: number, systemStatus = 4): void =>
      rig.say(make(minimal.Heartbeat, { type: 2, autopilot: 3, baseMode: 129, customMode, systemStatus }));
    beat(4);
    await rig.clock.advance(6000);
    beat(5);
    const change = rig.state().mode_changed;
    expect(change).to.include({ from: 'GUIDED', to: 'LOITER', by: 'vehicle' });
    for (let count = 0; count < 50; count++) {
      await rig.clock.advance(37.3);
      expect(rig.state().mode_changed?.at).to.equal(change?.at);
    }
    rig.say(make(common.StatusText, { severity: 2, text: 'Radio Failsafe' }));
    beat(6, 5);
    expect(rig.state().mode_changed).to.include({ from: 'LOITER', to: 'RTL', by: 'failsafe' });
    await rig.clock.advance(6000);
    const running = rig.calls.command({ cmd: 'mode', args: ['GUIDED'] });
    await settle();
    rig.say(commandAck(176, ACCEPTED));
    beat(4);
    await rig.clock.advance(100);
    await running;
    expect(rig.state().mode_changed).to.include({ to: 'GUIDED', by: 'node' });
    await rig.link.stop();
  });

  it('a refused take-off says that the vehicle is disarmed, a command in a failsafe that one acts', async () => {
    const rig = await Rig.met();
    rig.onSent = ({ fields }) => {
      if (fields['command'] === 22 || fields['command'] === 176) rig.say(commandAck(fields['command'], 4));
    };
    expect((await rig.command('takeoff', [10])).ack.hint).to.match(/disarmed.*arm it first/);
    const critical = make(minimal.Heartbeat, {
      type: 2,
      autopilot: 3,
      baseMode: 129,
      customMode: 9,
      systemStatus: 5,
    });
    rig.say(critical);
    rig.say(make(common.StatusText, { severity: 2, text: 'EKF Failsafe: changed to LAND Mode' }));
    const running = rig.calls.command({ cmd: 'mode', args: ['BRAKE'] });
    for (let count = 0; count < 20; count++) await rig.clock.advance(50);
    expect((await running).ack.hint).to.equal(
      'A failsafe of the vehicle acts (its position): it stays in LAND until that is over.',
    );
    await rig.link.stop();
  });
});
