import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CommandName } from '../../shared/flight/command-catalogue.ts';
import type { ParamsSnapshot } from '../../shared/rpc/link-answers.ts';
import { commandLong } from '../link/ground-station.ts';
import { LinkProcess } from '../link/link-process.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { SimFlight } from './sim-flight.ts';

const COPTER = ['--vehicle', 'copter'] as const;
const PLANE = ['--vehicle', 'plane'] as const;
const ROVER = ['--vehicle', 'rover'] as const;
const SUB = ['--vehicle', 'sub'] as const;
const PX4 = ['--firmware', 'px4'] as const;

const INT32 = 6;
/** Degrees of latitude, some 22 m. */
const NORTH = 0.0002;

/** Every parameter that svc-link has is the vehicle's, to the bit, and none is missing. */
async function expectSameParameters(flight: SimFlight): Promise<void> {
  const { params } = await flight.link.params();
  const theirs = await flight.parameters();
  expect(Object.keys(params).toSorted()).to.deep.equal([...theirs.keys()].toSorted());
  const px4 = theirs.has('MAV_SYS_ID');
  for (const [name, { type, bits }] of theirs) {
    const ours: ParamsSnapshot['params'][string] | undefined = params[name];
    expect(ours?.type, name).to.equal(type);
    const value = px4 && type === INT32 ? bits.readInt32LE() : bits.readFloatLE();
    expect(Math.fround(ours?.value ?? NaN), name).to.equal(Math.fround(value));
    if (px4 && type === INT32) expect(ours?.value, name).to.equal(value); // not rounded to a float
  }
}

async function refusal(flight: SimFlight, cmd: CommandName, ...args: (number | string)[]): Promise<string> {
  try {
    const { status } = await flight.link.command(cmd, ...args);
    throw new Error(`${cmd}: ${status}`);
  } catch (error) {
    expect(error).to.include({ code: 'E_BAD_REQUEST' });
    return error instanceof Error ? error.message : '';
  }
}

describe('flights over real processes', () => {
  it('a copter: arm, take-off, goto, stop, mission with a pause, return, kill', async () => {
    await using flight = await SimFlight.start(...COPTER);
    const place = await flight.ready();
    const { telemetry, ...state } = flight.link.state ?? expect.fail();
    expect(state).to.include({ firmware: 'ardupilot', firmware_version: '4.5.7', simulated: true });
    expect(telemetry).to.include({ mav_type: 2, mode: 'STABILIZE', landed_state: 'on_ground' });
    expect(telemetry.ekf).to.include({ source: 'EKF_STATUS_REPORT', ok: true });
    expect(telemetry.sources).to.deep.equal({ position: 'GLOBAL_POSITION_INT', battery: 'SYS_STATUS' });
    expect(telemetry.mission).to.include({ total: 4, reached: null });
    for (const [group, age] of Object.entries(telemetry.ages)) {
      if (age !== null) expect(age, group).to.be.within(0, 30);
    }
    await flight.accepted('setHome');
    await flight.accepted('arm');
    await flight.armed(true);
    await flight.accepted('takeoff', 10);
    await flight.until('flying', (s) => s.telemetry.landed_state === 'in_air');
    await flight.at(place, 10);
    await flight.accepted('goto', place.lat + NORTH, place.lon, 15);
    await flight.at({ ...place, lat: place.lat + NORTH }, 15);
    await flight.accepted('stop');
    await flight.inMode('BRAKE');
    await flight.pace(2); // the mission is short
    await flight.accepted('missionStart');
    await flight.until(
      'on its way',
      (s) => s.telemetry.mode === 'AUTO' && (s.telemetry.mission.current ?? 0) >= 3,
    );
    await flight.accepted('pauseMission');
    await flight.until('paused', (s) => s.telemetry.mission.state === 'paused');
    await flight.accepted('resumeMission');
    await flight.pace(20);
    await flight.until('reached', (s) => (s.telemetry.mission.reached ?? 0) >= 3);
    await flight.accepted('rtl');
    await flight.inMode('RTL');
    await flight.accepted('killSwitch', 'KILL');
    await flight.armed(false);
    await expectSameParameters(flight);
  });

  it('a plane: its own modes; the mission pauses by LOITER and goes on by AUTO', async () => {
    await using flight = await SimFlight.start(...PLANE);
    const place = await flight.ready();
    expect(flight.link.state?.telemetry).to.include({ mav_type: 1, mode: 'MANUAL' });
    await flight.accepted('mode', 'fbwa');
    await flight.inMode('FBWA');
    await flight.accepted('arm');
    await flight.armed(true);
    expect(await flight.link.command('takeoff', 30)).to.include({ status: 'accepted', mode: 'TAKEOFF' });
    await flight.inMode('TAKEOFF');
    await flight.at(place, 30);
    await flight.accepted('goto', place.lat + NORTH, place.lon, 40);
    await flight.inMode('GUIDED');
    await flight.at({ ...place, lat: place.lat + NORTH }, 40);
    await flight.accepted('missionStart');
    await flight.inMode('AUTO');
    await flight.accepted('pauseMission');
    await flight.inMode('LOITER');
    await flight.accepted('resumeMission');
    await flight.inMode('AUTO');
    // It has no landing in its mission, and says so.
    expect((await flight.link.command('land')).status).to.equal('rejected');
    await flight.accepted('stop');
    await flight.inMode('LOITER');
    await flight.accepted('rtl');
    await flight.inMode('RTL');
    await flight.accepted('killSwitch', 'KILL');
    await flight.armed(false);
  });

  it('a rover: drives, holds, returns; it does not take off, and has nothing to land', async () => {
    await using flight = await SimFlight.start(...ROVER);
    const place = await flight.ready();
    expect(flight.link.state?.telemetry).to.include({ mav_type: 10, mode: 'MANUAL' });
    expect(await refusal(flight, 'takeoff', 10)).to.equal('takeoff: a rover cannot take off.');
    expect(await refusal(flight, 'land')).to.include('on the ground already');
    await flight.accepted('arm');
    await flight.armed(true);
    await flight.accepted('goto', place.lat + NORTH, place.lon, 0);
    await flight.at({ ...place, lat: place.lat + NORTH });
    await flight.accepted('stop');
    await flight.inMode('HOLD');
    await flight.accepted('missionStart');
    await flight.inMode('AUTO');
    await flight.accepted('pauseMission');
    await flight.inMode('HOLD');
    await flight.accepted('resumeMission');
    await flight.inMode('AUTO');
    await flight.accepted('rtl');
    await flight.inMode('RTL');
    await flight.accepted('disarm');
    await flight.armed(false);
  });

  it('a submarine: holds, surfaces; it neither takes off nor returns', async () => {
    await using flight = await SimFlight.start(...SUB);
    const place = await flight.ready();
    expect(flight.link.state?.telemetry).to.include({ mav_type: 12, mode: 'STABILIZE' });
    expect(await refusal(flight, 'takeoff', 10)).to.equal('takeoff: a sub cannot take off.');
    expect(await refusal(flight, 'rtl')).to.include('no return mode');
    await flight.accepted('arm');
    await flight.armed(true);
    await flight.accepted('goto', place.lat + NORTH, place.lon, -3);
    await flight.at({ ...place, lat: place.lat + NORTH });
    await flight.accepted('stop');
    await flight.inMode('POSHOLD');
    await flight.accepted('missionStart');
    await flight.inMode('AUTO');
    await flight.accepted('pauseMission');
    await flight.inMode('POSHOLD');
    await flight.accepted('resumeMission');
    await flight.inMode('AUTO');
    await flight.accepted('land');
    await flight.inMode('SURFACE');
    await flight.accepted('disarm');
    await flight.armed(false);
  });

  it('PX4: heights above home though it wants them above the sea; pause and resume by mode', async () => {
    await using flight = await SimFlight.start(...PX4);
    const place = await flight.ready();
    const { telemetry, ...state } = flight.link.state ?? expect.fail();
    expect(state).to.include({ firmware: 'px4', firmware_version: '1.15.4' });
    expect(telemetry).to.include({ autopilot: 12, mode: 'AUTO.LOITER', landed_state: 'on_ground' });
    expect(telemetry.ekf).to.include({ source: 'ESTIMATOR_STATUS', ok: true });
    await flight.accepted('setHome');
    await flight.accepted('arm');
    await flight.armed(true);
    await flight.accepted('takeoff', 10);
    await flight.at(place, 10);
    await flight.inMode('AUTO.LOITER');
    await flight.accepted('goto', place.lat + NORTH, place.lon, 15);
    await flight.at({ ...place, lat: place.lat + NORTH }, 15);
    await flight.accepted('missionStart');
    await flight.inMode('AUTO.MISSION');
    await flight.accepted('pauseMission');
    await flight.inMode('AUTO.LOITER');
    await flight.accepted('resumeMission');
    await flight.inMode('AUTO.MISSION');
    await flight.accepted('stop');
    await flight.inMode('AUTO.LOITER');
    await flight.accepted('rtl');
    await flight.inMode('AUTO.RTL');
    await flight.accepted('killSwitch', 'KILL');
    await flight.armed(false);
    await expectSameParameters(flight);
  });

  for (const [name, args] of [
    ['ArduPilot', COPTER],
    ['PX4', PX4],
  ] as const) {
    it(`${name} with every fifth frame lost: parameters complete, commands answered`, async () => {
      await using flight = await SimFlight.start(...args, '--drop-frames', '0.2', '--seed', '7');
      const place = await flight.ready();
      expect(flight.link.state?.params).to.include({ timed_out: false });
      // Twenty times faster it would disarm again while the take-off is on its way.
      const delay = name === 'PX4' ? 'COM_DISARM_PRFLT' : 'DISARM_DELAY';
      await flight.link.calls.param_set({ name: delay, value: 0, force: false });
      expect((await flight.answered('arm')).status).to.equal('accepted');
      await flight.armed(true);
      await flight.airborne(10);
      await flight.at(place, 10);
      expect((await flight.answered('stop')).status).to.equal('accepted');
      expect((await flight.answered('rtl')).status).to.equal('accepted');
      await flight.inMode(name === 'PX4' ? 'AUTO.RTL' : 'RTL');
      expect(flight.link.state?.counters.rx_lost).to.be.above(10);
      await expectSameParameters(flight);
    });

    it(`${name} without SET_MESSAGE_INTERVAL: telemetry comes all the same`, async () => {
      await using flight = await SimFlight.start(...args, '--no-message-interval');
      // ArduPilot's groups have no HOME_POSITION and no EXTENDED_SYS_STATE; the first comes when asked for.
      const { telemetry } = await flight.until('told', ({ telemetry: { ages, ekf } }) => {
        const { position, velocity, attitude, battery, gps, rc, mission } = ages;
        return [position, velocity, attitude, battery, gps, rc, mission, ekf.source].every((v) => v !== null);
      });
      expect(telemetry.battery.voltage).to.be.above(10);
      expect((await flight.link.command('arm')).ack.observed).to.equal(true);
    });
  }

  it('an ack that PX4 sends twice is not the next answer', async () => {
    await using flight = await SimFlight.start(...PX4, '--double-ack');
    await flight.ready();
    for (let round = 0; round < 3; round++) {
      await flight.accepted('mode', 'AUTO.LOITER');
      // A mode that PX4 does not let anybody choose.
      const { ack } = await flight.link.command('mode', 'AUTO.READY');
      expect(ack.result_name).to.equal('TEMPORARILY_REJECTED');
      await flight.accepted('mode', 'POSCTL');
      await flight.inMode('POSCTL');
    }
  });

  it('the words of a vehicle that refuses are passed on, and nothing is tried instead', async () => {
    await using flight = await SimFlight.start(...COPTER, '--ack-result', '192=DENIED');
    const place = await flight.ready();
    const { status, ack } = await flight.link.command('goto', place.lat, place.lon, 10);
    expect([status, ack.result_name]).to.deep.equal(['rejected', 'DENIED']);
  });

  it('goto without DO_REPOSITION goes by a position target in GUIDED', async () => {
    await using flight = await SimFlight.start(...COPTER, '--ack-result', '192=UNSUPPORTED');
    const place = await flight.ready();
    await flight.accepted('arm');
    await flight.armed(true);
    await flight.accepted('takeoff', 10);
    await flight.at(place, 10);
    const { status } = await flight.link.command('goto', place.lat + NORTH, place.lon, 12);
    expect(status).to.equal('no_ack'); // a position target has none
    await flight.at({ ...place, lat: place.lat + NORTH }, 12);
  });

  it('a kill whose acks are lost is sent to its end over an arming that comes after it', async () => {
    await using flight = await SimFlight.start(...COPTER);
    const place = await flight.ready();
    await flight.accepted('arm');
    await flight.accepted('takeoff', 20);
    await flight.at(place, 20);
    await flight.sim.fault({ loseAcks: 1 });
    const kill = flight.link.command('killSwitch', 'KILL');
    await flight.armed(false);
    const arming = await flight.link.command('arm').catch((error: unknown) => error);
    expect(arming).to.include({ code: 'E_BUSY' });
    expect((await kill).status).to.equal('accepted'); // the second of its sends was answered
    expect(flight.link.state?.armed).to.equal(false);
  });

  it('acks that come 5 s late are not taken for those of the next command', async () => {
    await using flight = await SimFlight.start(...COPTER);
    const place = await flight.ready();
    await flight.accepted('arm');
    await flight.accepted('takeoff', 20);
    await flight.at(place, 20);
    await flight.sim.fault({ ackDelay: 5000 });
    expect((await flight.link.command('arm')).status).to.equal('no_ack');
    const { status, ack } = await flight.link.command('disarm'); // refused in the air
    expect([status, ack.result_name]).to.not.include('ACCEPTED');
    expect(flight.link.state?.armed).to.equal(true);
  });

  it('a mission that refuses to pause is stopped by mode, and the answer says by which', async () => {
    await using flight = await SimFlight.start(...COPTER);
    const place = await flight.ready();
    await flight.pace(1);
    await flight.accepted('mode', 'GUIDED');
    await flight.accepted('arm');
    await flight.accepted('missionStart');
    await flight.until('taking off', (s) => (s.telemetry.position.alt_rel ?? 0) > 1);
    // Still the take-off item.
    expect(await flight.link.command('pauseMission')).to.include({ status: 'accepted', mode: 'BRAKE' });
    await flight.inMode('BRAKE');
    await flight.sim.fault({ modeRefusals: [17] });
    await flight.accepted('resumeMission');
    await flight.inMode('AUTO');
    expect(await flight.link.command('pauseMission')).to.include({ status: 'accepted', mode: 'LOITER' });
    await flight.inMode('LOITER');
    await flight.at(place);
  });

  it('a reboot that closes the connection: nothing of the former life is shown', async () => {
    await using flight = await SimFlight.start(...COPTER);
    const place = await flight.ready();
    await flight.accepted('setHome');
    await flight.accepted('arm');
    await flight.accepted('takeoff', 10);
    await flight.at(place, 10);
    await flight.accepted('missionStart');
    await flight.until('reached', (s) => (s.telemetry.mission.reached ?? 0) >= 2);
    await flight.sim.fault({ reboot: true });
    const { telemetry } = await flight.until(
      'in its next life',
      (s) => s.counters.reconnects > 0 && s.telemetry.attitude.roll !== null && s.armed === false,
    );
    expect(telemetry.mission.reached).to.equal(null);
    await flight.until('on the ground', (s) => s.telemetry.landed_state === 'on_ground');
  });

  it('a ground station that switches positions off does not take them from the node', async () => {
    await using flight = await SimFlight.start(...COPTER);
    await flight.ready();
    const off = Object.assign(commandLong(511, 33), { targetSystem: 1, _param2: -1 });
    // Said again until it worked: the node may still be asking for its messages, and the last word counts.
    const saying = setInterval(() => void flight.tell(off), 1_000);
    await flight
      // After 3 s without them the receiver's own place is shown, so the age alone need not grow beyond that.
      .until('without positions', ({ telemetry: { sources } }) => sources.position === 'GPS_RAW_INT')
      .finally(() => clearInterval(saying));
    await flight.until(
      'with positions again',
      ({ telemetry: { sources } }) => sources.position === 'GLOBAL_POSITION_INT',
    );
  });

  it('tells of other aircraft, and of a fence that it has breached, which is logged with its fields', async () => {
    await using flight = await SimFlight.start(...COPTER, '--adsb', '40', '--mode', '4');
    await flight.ready();
    const { telemetry } = await flight.until(
      'with traffic',
      ({ telemetry: { traffic } }) => traffic?.vehicles.length === 32,
    );
    const [nearest, ...others] = telemetry.traffic?.vehicles ?? [];
    expect(nearest).to.include({ icao: '7C0001', callsign: 'SIM1', simulated: true });
    expect(nearest?.distance_m).to.be.closeTo(1000, 30);
    expect(others.every(({ distance_m: far }) => far !== null && far > 1000)).to.equal(true);
    expect(telemetry.fence, 'it is off').to.equal(null);
    for (const [name, value] of [
      ['FENCE_ALT_MAX', 15],
      ['FENCE_ENABLE', 1],
    ] as const)
      await flight.link.calls.param_set({ name, value, force: false });
    await flight.until('inside', ({ telemetry: { fence } }) => fence?.breached === false);
    await flight.pace(4); // the fence is told once a second
    await flight.accepted('arm');
    await flight.accepted('takeoff', 30);
    const { telemetry: outside } = await flight.until(
      'outside',
      ({ telemetry: { fence } }) => fence?.breached === true,
    );
    expect(outside.fence).to.include({ type: 'max_alt', count: 1 });
    await flight.inMode('RTL');
    await flight.until('inside again', ({ telemetry: { fence } }) => fence?.breached === false);
    while (!flight.link.stderr.includes('"event":"fence_breach_end"')) await flight.link.nextState();
    const events = flight.link.stderr
      .split('\n')
      .filter((line) => line.includes('"event":"fence_'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events.map(({ event, level, type }) => [event, level, type])).to.deep.equal([
      ['fence_breach', 'warn', 'max_alt'],
      ['fence_breach_end', 'info', null],
    ]);
  });

  for (const firmware of [COPTER, PX4])
    it(`a motor test runs that motor alone, for as long as was asked: ${firmware.join(' ')}`, async () => {
      await using flight = await SimFlight.start(...firmware, '--speedup', '1');
      await flight.ready();
      await flight.accepted('motorTest', 2, 30, 3);
      const { telemetry } = await flight.until(
        'running',
        ({ telemetry: { servo_outputs: us } }) => us?.[1] === 1300,
      );
      expect(telemetry.servo_outputs).to.deep.equal([1000, 1300, 1000, 1000]);
      await flight.until('told by its ESC', ({ telemetry: { esc } }) => esc?.[1]?.rpm === 2400);
      await flight.until('over', ({ telemetry: { servo_outputs: us } }) => us?.[1] === 1000);
      await flight.armed(false);
    });

  it('PX4: why it does not arm and does not disarm, in the words that its events have in its own metadata', async () => {
    await using flight = await SimFlight.start(...PX4, '--settle', '6000');
    await flight.until('there', ({ mavlink_alive }) => mavlink_alive);
    await flight.link.addStation();
    let reasons: readonly string[] = [];
    const denied = 'Arming denied: Resolve system health failures first';
    while (!reasons.includes('No valid position estimate') || reasons.at(-1) !== denied) {
      const { ack, status } = await flight.link.command('arm');
      expect(status).to.equal('rejected');
      reasons = ack.reasons ?? [];
    }
    const { telemetry } = await flight.until('told', ({ telemetry: { prearm } }) =>
      prearm.reasons.some(({ source, text }) => source === 'event' && text === 'No valid position estimate'),
    );
    expect(telemetry.prearm.can_arm).to.equal(false);
    await flight.until('ready to arm', ({ telemetry: { prearm } }) => prearm.can_arm === true);
    const place = await flight.ready();
    await flight.accepted('arm');
    await flight.accepted('takeoff', 10);
    await flight.at(place, 10);
    const { ack } = await flight.link.command('disarm');
    expect(ack.statustext).to.equal('Disarming denied: not landed');
    const notLanded = ({ text }: { text: string }): boolean => text === 'Disarming denied: not landed';
    await flight.until('told', ({ statustext }) => statustext.some(notLanded));
    await flight.link.nextState();
    expect(flight.link.state?.statustext.filter(notLanded), 'said twice, shown once').to.have.length(1);
  });

  it('PX4: parameters that it adds after boot are there, and it is known as simulated from the disk too', async () => {
    const state = await tempDir();
    await using sim = await SimProcess.start(...PX4, '--param-rate', '4000', '--late-params', '2');
    const start = async (): Promise<LinkProcess> =>
      LinkProcess.start(`tcp:127.0.0.1:${sim.port}`, undefined, { SVC_STATE_DIR: state });
    const first = await start();
    await first.addStation();
    const { params } = await first.until(({ params: { cached, priming } }) => cached > 0 && !priming);
    await sim.fault({ lateParams: 0 });
    await first.calls.param_set({ name: 'MIS_TAKEOFF_ALT', value: 3, force: false }); // its answer tells the new count
    const later = await first.until(({ params: { cached } }) => cached > params.cached);
    expect(later.params.cached).to.equal(params.cached + 2);
    const text = await first
      .command('land')
      .then(async () => first.until(({ statustext }) => statustext.length > 0));
    for (const { text: line } of text.statustext) expect(line).to.not.match(/\s$/);
    while ((await readdir(join(state, 'params')).catch(() => [])).length === 0) await first.nextState();
    await first.stop();
    const second = await start();
    const { simulated_evidence: evidence } = await second.until(({ simulated }) => simulated);
    expect(evidence[0]).to.match(/^parameter SIM_/);
    await second.stop();
    await removeDir(state);
  });

  it('IN_PROGRESS is waited out', async () => {
    await using flight = await SimFlight.start(...COPTER, '--in-progress', '--ack-delay', '2000');
    await flight.until('there', ({ mavlink_alive }) => mavlink_alive);
    const began = performance.now();
    await flight.accepted('mode', 'GUIDED');
    expect(performance.now() - began).to.be.within(1900, 30_000);
  });
});
