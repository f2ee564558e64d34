import { expect } from 'chai';
import { ardupilotmega, common, type MavLinkData, minimal } from 'node-mavlink';
import { globalPosition } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

async function met(autopilot = 3): Promise<Rig> {
  const rig = new Rig({ autopilot });
  await rig.meet();
  return rig;
}

const make = <T extends MavLinkData>(clazz: new () => T, fields: Record<string, unknown>): T =>
  Object.assign(new clazz(), fields);

const INT32_MOST = 0x7fffffff;
const UINT16_MOST = 0xffff;

const cells = (mv: number): number[] => [mv, ...Array<number>(9).fill(UINT16_MOST)];
const pack = (id: number, mv: number, chargeState: number, remaining: number): MavLinkData =>
  make(common.BatteryStatus, {
    id,
    chargeState,
    temperature: 0x7fff,
    voltages: cells(mv),
    currentBattery: 300,
    currentConsumed: 100,
    batteryRemaining: remaining,
    batteryFunction: 1,
  });
const noMonitor = (voltageBattery: number): MavLinkData =>
  make(common.SysStatus, { voltageBattery, currentBattery: -1, batteryRemaining: -1 });

const ekf = (flags: number): MavLinkData =>
  make(ardupilotmega.EkfStatusReport, {
    flags,
    velocityVariance: 0.1,
    posHorizVariance: 0.1,
    posVertVariance: 0.1,
    compassVariance: 0.1,
  });
const gps = (fixType: number): MavLinkData =>
  make(common.GpsRawInt, {
    timeUsec: 1n,
    fixType,
    lat: 480_100_000,
    lon: 110_000_000,
    alt: 500_000,
    satellitesVisible: 12,
  });
const GOOD = 1 | 2 | 4 | 8 | 16 | 32;
const STANDS = 1 | 2 | 4 | 32 | 128;

describe('values that say nothing', () => {
  it('are null in every field, and no place', async () => {
    const rig = await met();
    const says = {
      position: make(common.GlobalPositionInt, {
        timeBootMs: 5,
        lat: INT32_MOST,
        lon: INT32_MOST,
        alt: INT32_MOST,
        relativeAlt: -INT32_MOST - 1,
        vx: 0x7fff,
        vy: -0x8000,
        vz: 0,
        hdg: 36_000,
      }),
      attitude: make(common.Attitude, { timeBootMs: 5, roll: NaN, pitch: Infinity, yaw: 7.5 }),
      gps: make(common.GpsRawInt, {
        timeUsec: 1n,
        fixType: 6,
        lat: 473_977_420,
        lon: 85_455_940,
        alt: INT32_MOST,
        eph: 9999,
        epv: UINT16_MOST,
        satellitesVisible: 255,
      }),
      home: make(common.HomePosition, { latitude: 0, longitude: 0, altitude: 0 }),
      status: make(common.SysStatus, {
        voltageBattery: UINT16_MOST,
        currentBattery: 0x7fff,
        batteryRemaining: 127,
      }),
      hud: make(common.VfrHud, { airspeed: NaN, groundspeed: NaN, climb: NaN, throttle: 65_436 }),
      item: make(common.MissionCurrent, { seq: UINT16_MOST, total: UINT16_MOST, missionState: 0 }),
      traffic: make(common.AdsbVehicle, {
        ICAOAddress: 0xabcdef,
        lat: INT32_MOST,
        lon: 0,
        altitude: INT32_MOST,
        heading: UINT16_MOST,
        horVelocity: UINT16_MOST,
        verVelocity: -0x8000,
        callsign: 'X',
        flags: 0xffff,
        squawk: UINT16_MOST,
      }),
    };
    for (const message of Object.values(says)) rig.say(message);
    const { telemetry } = rig.state();
    expect(telemetry.position).to.deep.equal({
      lat: 47.397742, // of the receiver
      lon: 8.545594,
      alt_msl: null,
      alt_rel: null,
      heading: null,
      state: 'ok',
    });
    expect(telemetry.velocity).to.include({ vx: null, vy: null, vz: 0, airspeed: null, groundspeed: null });
    expect(telemetry.attitude).to.include({ roll_deg: null, pitch_deg: null, yaw_deg: null, yaw: null });
    expect(telemetry.gps).to.deep.equal({ fix_type: 6, satellites: null, eph: null, epv: null });
    expect(telemetry.home).to.deep.equal({ lat: null, lon: null, alt_msl: null });
    expect(telemetry.battery).to.include({ voltage: null, current: null, remaining: null });
    expect(telemetry.throttle).to.equal(-100); // reverse thrust
    expect(telemetry.mission.current).to.equal(null);
    const [other] = telemetry.traffic?.vehicles ?? [];
    expect(other).to.include({
      lat: null,
      lon: null,
      alt_m: null,
      alt_type: null,
      heading_deg: null,
      speed_mps: null,
      climb_mps: null,
      squawk: null,
    });
    const channels = Object.fromEntries(
      Array.from({ length: 18 }, (_, at) => [`chan${at + 1}Raw`, UINT16_MOST]),
    );
    rig.say(make(common.RcChannels, { timeBootMs: 5, chancount: 255, ...channels, rssi: 255 }));
    expect(rig.state().telemetry.rc).to.deep.equal({ channels: null, rssi: null });
    rig.say(make(common.RcChannels, { timeBootMs: 5, chancount: 8, ...channels, chan3Raw: 1500, rssi: 9 }));
    expect(rig.state().telemetry.rc).to.deep.equal({ channels: [null, null, 1500], rssi: 9 });
    await rig.link.stop();
  });

  it('lists every battery, and the worst is the state of all', async () => {
    const rig = await met();
    rig.say(noMonitor(0)); // ArduPilot without a monitor
    expect(rig.state().telemetry.battery.voltage).to.equal(null);
    rig.say(pack(1, 18_100, 3, 4)); // there is no 0
    expect(rig.state().telemetry.battery).to.include({ voltage: 18.1, remaining: 4, state: 'critical' });
    rig.say(pack(0, 24_000, 1, 90));
    const { battery, batteries } = rig.state().telemetry;
    expect(battery).to.include({ voltage: 24, remaining: 90, state: 'critical' });
    expect(
      batteries?.map(({ id, state, voltage_v, function: use }) => [id, state, voltage_v, use]),
    ).to.deep.equal([
      [0, 'ok', 24, 'all'],
      [1, 'critical', 18.1, 'all'],
    ]);
    // It was taken out.
    await rig.clock.advance(31_000);
    rig.say(pack(0, 24_000, 1, 90));
    expect(rig.state().telemetry.battery.state).to.equal('ok');
    await rig.link.stop();
  });

  it('counts a battery of another component, by which PX4 lands', async () => {
    const rig = await met(12);
    rig.say(pack(0, 16_000, 1, 100));
    const smart = new common.BatteryStatus();
    Object.assign(smart, { voltages: cells(13_000), batteryRemaining: 4, temperature: 0x7fff });
    rig.say(smart, rig.system, 180);
    const { battery, batteries } = rig.state().telemetry;
    expect(battery).to.include({ remaining: 100, state: 'emergency' });
    expect(batteries?.map(({ remaining_percent: left }) => left)).to.deep.equal([100, 4]);
    await rig.link.stop();
  });

  it('says when the vehicle has lost its place, and reckons nothing from it', async () => {
    const rig = await met();
    const at = async (ms: number, flags: number, fix: number): Promise<unknown> => {
      await rig.clock.advance(100);
      rig.say(ekf(flags));
      rig.say(gps(fix));
      rig.say(globalPosition(ms, 48, 11));
      return rig.state().telemetry.position.state;
    };
    rig.say(globalPosition(5, 0, 0));
    expect(rig.state().telemetry.position.state).to.equal('lost');
    expect(await at(100, GOOD, 3)).to.equal('ok');
    expect(await at(200, GOOD, 1)).to.equal('estimated'); // the filter goes on by itself
    expect(await at(300, STANDS, 1)).to.equal('lost'); // ArduCopter without GPS: the place stands still
    expect(rig.state().telemetry.position).to.include({ lat: 48, lon: 11 });
    // The receiver is better than a filter that stands still.
    await at(400, STANDS, 3);
    rig.say(gps(3));
    expect(rig.state().telemetry.position.state).to.equal('ok');
    expect(rig.state().telemetry.position.lat).to.equal(48.01);
    await rig.link.stop();
  });

  it('says that a failsafe acts, and why', async () => {
    const rig = await met();
    const beat = (systemStatus: number): void =>
      rig.say(
        make(minimal.Heartbeat, { type: 2, autopilot: 3, baseMode: 128 | 1, customMode: 9, systemStatus }),
      );
    beat(4);
    expect(rig.state().telemetry).to.deep.include({
      system_state: 'active',
      failsafe: { active: false, reasons: [] },
    });
    rig.say(make(common.StatusText, { severity: 4, text: 'GCS Failsafe - Continuing Landing' }));
    rig.say(make(common.StatusText, { severity: 2, text: 'EKF Failsafe: changed to LAND Mode' }));
    beat(5);
    expect(rig.state().telemetry).to.deep.include({
      system_state: 'critical',
      failsafe: { active: true, reasons: ['estimator', 'station'] },
    });
    rig.say(make(common.StatusText, { severity: 4, text: 'GCS Failsafe Cleared' }));
    expect(rig.state().telemetry.failsafe.reasons).to.deep.equal(['estimator']);
    await rig.clock.advance(6000);
    beat(4);
    expect(rig.state().telemetry.failsafe).to.deep.equal({ active: false, reasons: [] });
    // A battery that is low only warns, unless the vehicle acts and there is nothing else.
    rig.say(make(common.BatteryStatus, { voltages: [11_000], chargeState: 2 }));
    expect(rig.state().telemetry.failsafe).to.deep.equal({ active: false, reasons: [] });
    beat(5);
    expect(rig.state().telemetry.failsafe).to.deep.equal({ active: true, reasons: ['battery'] });
    await rig.link.stop();
  });

  it('says failsafes of ArduCopter that its state does not show or that are two in one, until they are over', async () => {
    const rig = await met();
    const beat = (systemStatus: number, baseMode = 128 | 1): void =>
      rig.say(make(minimal.Heartbeat, { type: 2, autopilot: 3, baseMode, customMode: 9, systemStatus }));
    const says = (text: string): void => rig.say(make(common.StatusText, { severity: 2, text }));
    const failsafe = (): unknown => rig.state().telemetry.failsafe;
    const none = { active: false, reasons: [] };
    beat(4);
    says('Vibration compensation ON');
    await rig.clock.advance(20_000);
    beat(4);
    expect(failsafe()).to.deep.equal({ active: true, reasons: ['vibration'] });
    says('Vibration compensation OFF');
    beat(4);
    expect(failsafe()).to.deep.equal(none);
    says('Potential Thrust Loss (2)');
    await rig.clock.advance(9000);
    beat(4);
    expect(failsafe()).to.deep.equal({ active: true, reasons: ['motor'] });
    await rig.clock.advance(9000);
    beat(4);
    expect(failsafe()).to.deep.equal(none);
    says('Radio + Battery Failsafe - Continuing Landing');
    beat(5);
    expect(failsafe()).to.deep.equal({ active: true, reasons: ['battery', 'radio'] });
    // On the ground, too, it goes on as long as its state says so.
    beat(5, 1);
    expect(failsafe()).to.deep.equal({ active: true, reasons: ['battery', 'radio'] });
    beat(3, 1);
    expect(failsafe()).to.deep.equal(none);
    beat(4);
    says('Crash: Disarming: AngErr=175>30, Accel=0.1<3.0');
    beat(4);
    for (const ms of [1000, 60_000]) {
      await rig.clock.advance(ms);
      beat(3, 1);
      expect(failsafe()).to.deep.equal({ active: true, reasons: ['crash'] });
    }
    beat(4);
    expect(failsafe()).to.deep.equal(none);
    await rig.link.stop();
  });

  it('joins the parts of a text before it reads their characters', async () => {
    const rig = await met();
    const whole = Buffer.from(`${'x'.repeat(49)}ü, Höhe`);
    for (const [chunkSeq, from] of [0, 50].entries())
      rig.say(
        make(common.StatusText, {
          severity: 6,
          id: 7,
          chunkSeq,
          text: whole.subarray(from, from + 50).toString('latin1'),
        }),
      );
    expect(rig.state().statustext.at(-1)?.text).to.equal(whole.toString());
    await rig.link.stop();
  });
});
