import { expect } from 'chai';
import { ardupilotmega, common, type MavLinkData } from 'node-mavlink';
import { attitude, globalPosition } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

async function met(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  await rig.meet();
  return rig;
}

const make = <T extends MavLinkData>(clazz: new () => T, fields: Record<string, unknown>): T =>
  Object.assign(new clazz(), fields);

const gpsRaw = (fields: Record<string, unknown>): MavLinkData =>
  make(common.GpsRawInt, { timeUsec: 1n, satellitesVisible: 9, eph: 100, epv: 100, ...fields });

const sysStatus = (voltageBattery: number): MavLinkData =>
  make(common.SysStatus, { voltageBattery, currentBattery: 500, batteryRemaining: 80 });

const ekfReport = (flags: number, variance = 0.1): MavLinkData =>
  make(ardupilotmega.EkfStatusReport, {
    flags,
    velocityVariance: variance,
    posHorizVariance: 0.2,
    posVertVariance: 0.3,
    compassVariance: 0.4,
    terrainAltVariance: 0,
    airspeedVariance: 0,
  });

const estimator = (flags: number, velRatio = 0.1): MavLinkData =>
  make(common.EstimatorStatus, {
    timeUsec: 1n,
    flags,
    velRatio,
    posHorizRatio: 0.2,
    posVertRatio: 0.3,
    magRatio: 0.4,
    haglRatio: NaN,
    tasRatio: NaN,
    posHorizAccuracy: 1,
    posVertAccuracy: 1,
  });

const GOOD = 1 | 2 | 4 | 8 | 16 | 32;

describe('telemetry', () => {
  it('has null for every value and every age before anything came', async () => {
    const rig = await met();
    const { telemetry } = rig.state();
    const leaves = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
    const { mav_type, autopilot, armed, mode, system_state, failsafe, last_heartbeat, last_update, ...rest } =
      telemetry;
    const { takeoff_mode: takeOffMode, ...prearm } = rest.prearm;
    expect(takeOffMode).to.equal('GUIDED');
    expect([mav_type, autopilot, armed, mode]).to.deep.equal([2, 3, false, 'STABILIZE']);
    expect([system_state, failsafe]).to.deep.equal(['standby', { active: false, reasons: [] }]);
    expect(last_update).to.equal(last_heartbeat);
    expect(new Set(leaves({ ...rest, prearm }))).to.deep.equal(new Set([null]));
    await rig.link.stop();
  });

  it('says how old each part is', async () => {
    const rig = await met();
    rig.attitude(100);
    rig.say(globalPosition(100, 48, 11));
    await rig.clock.advance(1500);
    rig.attitude(1600);
    const { ages } = rig.state().telemetry;
    expect(ages).to.deep.equal({
      position: 1.5,
      velocity: 1.5,
      attitude: 0,
      battery: null,
      gps: null,
      home: null,
      rc: null,
      servo_outputs: null,
      esc: null,
      vibration: null,
      wind: null,
      ekf: null,
      mission: null,
      landed_state: null,
      traffic: null,
      collision: null,
      fence: null,
    });
    // A life that ended has no ages.
    rig.say(attitude(5));
    await rig.clock.advance(500);
    rig.say(attitude(505));
    expect(rig.state().telemetry.ages).to.include({ position: null, attitude: 0 });
    await rig.link.stop();
  });

  it('takes the position of the GPS receiver while the estimate has none, and says so', async () => {
    const rig = await met();
    rig.say(globalPosition(100, 0, 0)); // ArduPilot before its filter has settled
    rig.say(gpsRaw({ fixType: 1, lat: 0, lon: 0, alt: 0 }));
    expect(rig.state().telemetry.sources.position).to.equal(null);
    rig.say(globalPosition(150, 0.000_04, -0.000_02)); // ArduPlane, which reckons on from there
    expect(rig.state().telemetry.position).to.include({ lat: null, lon: null, alt_msl: null });
    rig.say(gpsRaw({ fixType: 3, lat: 481_000_000, lon: 115_000_000, alt: 510_000 }));
    const raw = rig.state().telemetry;
    expect(raw.position).to.include({ lat: 48.1, lon: 11.5, alt_msl: 510, alt_rel: 12, heading: 90 });
    expect(raw.sources.position).to.equal('GPS_RAW_INT');
    rig.say(globalPosition(300, 0, 0)); // still nothing better
    expect(rig.state().telemetry.position.lat).to.equal(48.1);
    rig.say(globalPosition(400, 48.2, 11.6));
    rig.say(gpsRaw({ fixType: 3, lat: 481_000_000, lon: 115_000_000, alt: 510_000 }));
    const estimated = rig.state().telemetry;
    expect(estimated.position).to.include({ lat: 48.2, alt_msl: 500 });
    expect(estimated.sources.position).to.equal('GLOBAL_POSITION_INT');
    // The estimate stops: height above home and heading were its, and go with it.
    await rig.clock.advance(3500);
    rig.say(gpsRaw({ fixType: 3, lat: 481_000_000, lon: 115_000_000, alt: 510_000 }));
    const late = rig.state().telemetry;
    expect(late.position).to.deep.equal({
      lat: 48.1,
      lon: 11.5,
      alt_msl: 510,
      alt_rel: null,
      heading: null,
      state: 'ok',
    });
    rig.say(gpsRaw({ fixType: 0, lat: 0, lon: 0, alt: 0 }));
    expect(rig.state().telemetry.position.lat).to.equal(null);
    expect(rig.state().telemetry.sources.position).to.equal(null);
    await rig.link.stop();
  });

  it('says the wind as the vehicle estimates it, and none where a vehicle says 0 without an estimate', async () => {
    const rig = await met();
    const wind = (direction: number, speed: number): MavLinkData =>
      make(ardupilotmega.Wind, { direction, speed, speedZ: 0 });
    const cov = (windX: number, windY: number): MavLinkData =>
      make(common.WindCov, { timeUsec: 1n, windX, windY });
    const cases: readonly (readonly [MavLinkData, { speed: number; direction: number } | null])[] = [
      [wind(-90, 4), { speed: 4, direction: 270 }],
      [wind(-180, 0), null], // ArduCopter without drag coefficients
      [wind(12.5, 7.5), { speed: 7.5, direction: 12.5 }],
      [wind(NaN, 3), null],
      [cov(0, 3), { speed: 3, direction: 270 }],
      [cov(NaN, NaN), null],
      [cov(-2, 0), { speed: 2, direction: 0 }],
    ];
    for (const [message, expected] of cases) {
      rig.say(message);
      const { wind: told, ages } = rig.state().telemetry;
      expect(told).to.deep.equal(expected);
      expect(ages.wind).to.equal(0);
    }
    await rig.link.stop();
  });

  it('takes the battery of SYS_STATUS, and of BATTERY_STATUS where that has none', async () => {
    const rig = await met();
    const pack = make(common.BatteryStatus, {
      id: 0,
      temperature: 0x7fff,
      voltages: [16_200, ...Array<number>(9).fill(65_535)],
      currentBattery: 1250,
      batteryRemaining: 55,
    });
    rig.say(pack);
    expect(rig.state().telemetry.battery).to.include({ voltage: 16.2, current: 12.5, remaining: 55 });
    expect(rig.state().telemetry.sources.battery).to.equal('BATTERY_STATUS');
    rig.say(sysStatus(12_600));
    rig.say(pack);
    expect(rig.state().telemetry.battery).to.include({ voltage: 12.6, current: 5, remaining: 80 });
    expect(rig.state().telemetry.sources.battery).to.equal('SYS_STATUS');
    // Over 65 V the rest stands in the next place.
    await rig.clock.advance(3500);
    Object.assign(pack, { voltages: [65_534, 4466, ...Array<number>(8).fill(65_535)] });
    rig.say(pack);
    expect(rig.state().telemetry.battery).to.include({ voltage: 70, cell_voltages: null });
    // Another battery is not the one that flies.
    Object.assign(pack, { id: 1, voltages: [5000, ...Array<number>(9).fill(65_535)] });
    rig.say(pack);
    expect(rig.state().telemetry.battery.voltage).to.equal(70);
    rig.say(sysStatus(65_535));
    expect(rig.state().telemetry.battery.voltage).to.equal(70);
    await rig.link.stop();
  });

  it('has the estimator of ArduPilot and of PX4 in one shape', async () => {
    const rig = await met();
    rig.say(ekfReport(GOOD));
    const ardupilot = rig.state().telemetry.ekf;
    expect(ardupilot).to.include({ source: 'EKF_STATUS_REPORT', ok: true, flags: GOOD });
    expect(ardupilot.variances.velocity).to.be.closeTo(0.1, 1e-6);
    expect(ardupilot.variances.compass).to.be.closeTo(0.4, 1e-6);
    for (const [flags, variance] of [
      [GOOD & ~1, 0.1], // no attitude
      [GOOD & ~2, 0.1],
      [GOOD & ~32, 0.1],
      [GOOD & ~(8 | 16), 0.1], // no position of either kind
      [GOOD | 128, 0.1], // holds a constant position
      [GOOD | 1024, 0.1], // not initialised
      [GOOD | 32_768, 0.1], // its GPS glitches
      [GOOD, 0.9],
    ] as const) {
      rig.say(ekfReport(flags, variance));
      expect(rig.state().telemetry.ekf.ok, `${flags} ${variance}`).to.equal(false);
    }
    rig.say(ekfReport(GOOD & ~16)); // by optical flow
    expect(rig.state().telemetry.ekf.ok).to.equal(true);
    await rig.link.stop();

    const px4 = await met({ autopilot: 12 });
    px4.say(estimator(GOOD));
    const { ekf } = px4.state().telemetry;
    expect(ekf).to.include({ source: 'ESTIMATOR_STATUS', ok: true });
    expect(ekf.variances).to.include({ terrain: null, airspeed: null });
    px4.say(estimator(GOOD, 0.9));
    expect(px4.state().telemetry.ekf.ok).to.equal(true);
    px4.say(estimator(GOOD, 1.1));
    expect(px4.state().telemetry.ekf.ok).to.equal(false);
    // At rest on the ground, with its position: as real ones say it.
    px4.say(estimator(1023));
    expect(px4.state().telemetry.ekf.ok).to.equal(true);
    px4.say(estimator(1 | 4 | 32 | 128));
    expect(px4.state().telemetry.ekf.ok).to.equal(false);
    px4.say(estimator(GOOD | 2048));
    expect(px4.state().telemetry.ekf.ok).to.equal(false);
    expect(px4.commands(511).map(({ fields }) => fields['_param1']))
      .to.include(230)
      .and.not.include(193);
    await px4.link.stop();
  });

  it('says whether it stands or flies, and where it is in its mission', async () => {
    const rig = await met();
    const landed = (landedState: number): MavLinkData =>
      make(common.ExtendedSysState, { vtolState: 0, landedState });
    for (const [state, name] of [
      [1, 'on_ground'],
      [2, 'in_air'],
      [3, 'takeoff'],
      [4, 'landing'],
      [0, null],
      [77, null],
    ] as const) {
      rig.say(landed(state));
      expect(rig.state().telemetry.landed_state).to.equal(name);
    }
    const mission = (fields: Record<string, unknown>): MavLinkData =>
      make(common.MissionCurrent, { total: 0, missionState: 0, missionMode: 0, ...fields });
    rig.say(mission({ seq: 3 })); // an old firmware without the extensions; item 0 is its home
    expect(rig.state().telemetry.mission).to.deep.equal({
      current: 3,
      reached: null,
      total: null,
      state: null,
    });
    rig.say(mission({ seq: 3, total: 4, missionState: 3 }));
    rig.say(make(common.MissionItemReached, { seq: 2 }));
    expect(rig.state().telemetry.mission).to.deep.equal({
      current: 3,
      reached: 2,
      total: 4,
      state: 'active',
    });
    rig.say(mission({ seq: 0, total: 65_535, missionState: 1 }));
    expect(rig.state().telemetry.mission).to.include({ current: null, total: 0, state: 'none' });
    await rig.link.stop();
  });

  it('that had no answer on a bad line is asked for again', async () => {
    const rig = new Rig({ ackStreams: false, version: null });
    const lost = new Set([33, 193]);
    rig.onSent = ({ id, fields }) => {
      const message = Number(fields['_param1']);
      if (id !== 76 || fields['command'] !== 511 || lost.has(message)) return;
      rig.say(make(common.CommandAck, { command: 511, result: 0, targetSystem: 1, targetComponent: 191 }));
    };
    await rig.meet();
    for (let second = 0; second < 10; second++) {
      rig.attitude(1000 * second + 1000);
      await rig.live(1000);
    }
    lost.clear();
    rig.sent.length = 0;
    for (let second = 10; second < 20; second++) {
      rig.attitude(1000 * second + 1000);
      await rig.live(1000);
    }
    const asked = rig.commands(511).map(({ fields }) => fields['_param1']);
    expect(asked).to.include.members([33, 193]).and.not.include(30);
    // And the version, which has no ack either.
    expect(rig.commands(512).some(({ fields }) => fields['_param1'] === 148)).to.equal(true);
    await rig.link.stop();
  });
});
