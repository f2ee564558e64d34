import { expect } from 'chai';
import fc from 'fast-check';
import { common } from 'node-mavlink';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import {
  attitude,
  encodeAs,
  globalPosition,
  heartbeat,
  paramValue,
  rawV2,
  statusText,
} from './mavlink-samples.ts';
import { Rig } from './rig.ts';

describe('the vehicle', () => {
  it('is unknown, dead and not armed before anything was heard', async () => {
    const rig = new Rig();
    rig.link.start();
    await rig.clock.advance(10_000);
    const state = rig.state();
    expect(state).to.include({
      heard: false,
      mavlink_alive: false,
      armed: false,
      heartbeat_age_s: null,
      system_id: null,
      firmware: null,
      simulated: false,
      transport_open: true,
      fc_port: 'memory',
    });
    expect(state.telemetry.position.lat).to.equal(null);
    expect(state.telemetry.battery.voltage).to.equal(null);
    await rig.link.stop();
  });

  it('is named by the first autopilot heartbeat, whatever its system id', async () => {
    const rig = new Rig({ system: 42, customMode: 5 });
    await rig.meet();
    const { system_id, component_id, firmware, heard, mavlink_alive, armed, telemetry } = rig.state();
    expect({ system_id, component_id, firmware, heard, mavlink_alive, armed }).to.deep.equal({
      system_id: 42,
      component_id: 1,
      firmware: 'ardupilot',
      heard: true,
      mavlink_alive: true,
      armed: false,
    });
    expect(telemetry).to.include({ mode: 'LOITER', mav_type: 2, autopilot: 3, armed: false });
    await rig.clock.advance(1000);
    const own = rig.sent.filter(({ id }) => id === 0).at(-1);
    expect(own).to.include({ system: 42, component: 191 });
    expect(own?.fields).to.include({ type: 18, autopilot: 8 });
    await rig.link.stop();
  });

  it('is not a ground station, gimbal or onboard computer, and not changed by another system', async () => {
    const rig = new Rig({ system: 7 });
    rig.link.start();
    rig.say(heartbeat({ type: 6, autopilot: 8, armed: true }), 255, 190);
    rig.say(heartbeat({ type: 26, autopilot: 8, armed: true }), 7, 154);
    rig.say(heartbeat({ type: 18, autopilot: 8, armed: true }), 7, 191);
    rig.say(heartbeat({ type: 18, autopilot: 3, armed: true }), 7, 191);
    expect(rig.state().heard).to.equal(false);
    rig.beat();
    rig.say(heartbeat({ armed: true }), 8, 1);
    rig.say(attitude(5), 8, 1);
    expect(rig.state()).to.include({ system_id: 7, armed: false });
    expect(rig.state().telemetry.attitude.roll).to.equal(null);
    await rig.link.stop();
  });

  it('is alive for 3 s after a heartbeat, then its armed state is unknown; clients are told at once', async () => {
    const rig = new Rig();
    rig.armed = true;
    await rig.meet();
    rig.attitude(10);
    expect(rig.state().armed).to.equal(true);
    await rig.clock.advance(2980);
    expect(rig.state()).to.include({ mavlink_alive: true, armed: true, heartbeat_age_s: 3 });
    rig.states.length = 0;
    await rig.clock.advance(150);
    expect(rig.state()).to.include({ mavlink_alive: false, armed: 'unknown', heard: true });
    expect(rig.states.some(({ armed }) => armed === 'unknown')).to.equal(true);
    // What was last received stays; who shows it decides.
    expect(rig.state().telemetry.attitude.roll).to.be.closeTo(0.1, 1e-6);
    rig.armed = false;
    rig.beat();
    expect(rig.states.at(-1)).to.include({ mavlink_alive: true, armed: false });
    await rig.link.stop();
  });

  it('may be replaced by another one after 30 s of silence, not before; nothing of the old one remains', async () => {
    const rig = new Rig({ system: 1 });
    await rig.meet();
    rig.attitude(10);
    rig.say(paramValue('SIM_SPEEDUP', 1, 0, 1));
    expect(rig.state().simulated_evidence).to.deep.equal(['parameter SIM_SPEEDUP']);
    await rig.clock.advance(29_000);
    rig.say(heartbeat({ armed: true }), 2);
    expect(rig.state()).to.include({ system_id: 1, armed: 'unknown' });
    await rig.clock.advance(1500);
    rig.say(heartbeat({ armed: true }), 2);
    const state = rig.state();
    expect(state).to.include({ system_id: 2, armed: true, simulated: false });
    expect(state.telemetry.attitude.roll).to.equal(null);
    expect(state.params).to.include({ cached: 0, priming: true });
    await rig.link.stop();
  });

  it('reports units of the API, and null for what MAVLink calls unknown', async () => {
    const rig = new Rig();
    await rig.meet();
    rig.say(globalPosition(100, 48.1, 11.5));
    const hidden = new common.SysStatus();
    Object.assign(hidden, { voltageBattery: 65_535, currentBattery: -1, batteryRemaining: -1 });
    rig.say(hidden);
    const gps = new common.GpsRawInt();
    Object.assign(gps, { fixType: 3, satellitesVisible: 255, eph: 65_535, epv: 120 });
    rig.say(gps);
    const battery = new common.BatteryStatus();
    Object.assign(battery, {
      temperature: 2550,
      voltages: [4100, 4050, ...Array(8).fill(65_535)],
      id: 0,
      currentBattery: 1250,
      batteryRemaining: -1,
    });
    rig.say(battery);
    rig.say(attitude(100, NaN, 0.5, 1));
    const { telemetry } = rig.state();
    expect(telemetry.position).to.deep.equal({
      lat: 48.1,
      lon: 11.5,
      alt_msl: 500,
      alt_rel: 12,
      heading: 90,
      state: 'ok',
    });
    expect(telemetry.velocity).to.include({ vx: 1, vy: -0.5, vz: 0, airspeed: null });
    expect(telemetry.battery).to.deep.equal({
      voltage: 8.15, // SYS_STATUS has none
      current: 12.5,
      remaining: null,
      temperature: 25.5,
      cell_voltages: [4.1, 4.05],
      state: null,
    });
    expect(telemetry.gps).to.deep.equal({ fix_type: 3, satellites: null, eph: null, epv: 1.2 });
    expect(telemetry.attitude).to.include({
      roll_deg: null,
      pitch_deg: 28.65,
      yaw_deg: 57.3,
      roll: null,
      pitch: 0.5,
    });
    // ArduPilot without a position sends 0,0; without a cell monitor, the whole pack as the first cell.
    rig.say(globalPosition(300, 0, 0));
    Object.assign(battery, { voltages: [16_200, ...Array(9).fill(65_535)] });
    rig.say(battery);
    expect(rig.state().telemetry.position).to.include({ lat: null, lon: null, alt_msl: null });
    expect(rig.state().telemetry.battery.cell_voltages).to.equal(null);
    await rig.link.stop();
  });

  it('that rebooted is asked for streams and parameters again, and its old telemetry is gone', async () => {
    const rig = new Rig();
    await rig.meet();
    for (const boot of [58_800, 60_000]) {
      rig.attitude(boot);
      rig.say(globalPosition(boot, 48.1, 11.5));
      await rig.clock.advance(1200);
    }
    rig.attitude(59_500); // overtaken, no reboot
    expect(rig.state().telemetry.position.lat).to.equal(48.1);
    rig.sent.length = 0;
    rig.attitude(200);
    await rig.clock.advance(10);
    expect(rig.commands(511).length, 'one message alone is not believed').to.equal(0);
    rig.say(globalPosition(210, 0, 0));
    await rig.clock.advance(10);
    expect(rig.commands(511).length).to.equal(19);
    expect(rig.sent.filter(({ id }) => id === 21).length).to.equal(1);
    rig.attitude(220);
    expect(rig.state().telemetry.position.lat).to.equal(null);
    expect(rig.state().telemetry.attitude.roll).to.not.equal(null);
    await rig.link.stop();
  });

  it('that rebooted while the connection was closed has no telemetry of its former life', async () => {
    const rig = new Rig();
    await rig.meet();
    const full = (bootMs: number): void => {
      rig.attitude(bootMs);
      rig.say(Object.assign(new common.SystemTime(), { timeUnixUsec: 0n, timeBootMs: bootMs }));
      rig.say(globalPosition(bootMs, 48.1, 11.5));
      rig.say(Object.assign(new common.MissionItemReached(), { seq: 3 }));
      rig.say(Object.assign(new common.ExtendedSysState(), { vtolState: 0, landedState: 2 }));
    };
    const former = (): unknown[] => {
      const { position, mission, landed_state: landed, attitude: turned } = rig.state().telemetry;
      return [position.lat, mission.reached, landed, turned.roll !== null];
    };
    const again = async (away: number, bootMs: number): Promise<void> => {
      rig.transport.drop();
      await rig.clock.advance(away);
      rig.transport.connect();
      rig.beat();
      expect(former(), 'before it has told').to.deep.equal([null, null, null, false]);
      rig.attitude(bootMs);
      rig.say(Object.assign(new common.SystemTime(), { timeUnixUsec: 0n, timeBootMs: bootMs }));
      rig.attitude(bootMs + 1);
      await rig.clock.advance(10);
    };
    full(60_000);
    await again(5000, 65_200); // the line broke, the vehicle went on
    expect(former()).to.deep.equal([48.1, 3, 'in_air', true]);
    rig.sent.length = 0;
    await again(5000, 2500);
    expect(former()).to.deep.equal([null, null, null, true]);
    expect(rig.commands(512).length, 'who it is now').to.be.greaterThan(1);
    full(3000);
    // It has been up for longer than it was when it was last heard.
    await again(60_000, 40_000);
    expect(former()).to.deep.equal([null, null, null, true]);
    await rig.link.stop();
  });

  it('that rebooted during a silence of 10 s, on a line that knows no connections, too', async () => {
    const rig = new Rig();
    await rig.meet();
    rig.say(globalPosition(5000, 48.1, 11.5));
    await rig.clock.advance(30_000);
    rig.beat();
    rig.attitude(20_000);
    expect(rig.state().telemetry.position.lat).to.equal(null);
    await rig.link.stop();
  });

  it('is asked again after a new connection, and when telemetry stops while heartbeats come', async () => {
    const rig = new Rig();
    await rig.meet();
    expect(rig.commands(511).map(({ fields }) => fields['_param1'])).to.deep.equal([
      30, 33, 74, 24, 1, 65, 36, 241, 147, 245, 42, 0, 242, 246, 193, 162, 164, 168, 11_030,
    ]);
    expect(rig.commands(511)[0]?.fields).to.include({
      _param2: 100_000,
      targetSystem: 1,
      targetComponent: 1,
    });
    rig.transport.drop();
    expect(rig.states.at(-1)).to.include({ transport_open: false, fc_port: null });
    rig.transport.connect();
    rig.sent.length = 0;
    rig.beat();
    await rig.clock.advance(10);
    expect(rig.commands(511).length).to.equal(19);
    rig.attitude(5);
    rig.sent.length = 0;
    await rig.live(4500);
    expect(rig.commands(511).length).to.equal(0);
    await rig.live(1000);
    expect(rig.commands(511).length).to.equal(19);
    await rig.link.stop();
  });

  it('one message that a ground station switched off is asked for again, and one that never comes ever more rarely', async () => {
    const rig = new Rig();
    await rig.meet();
    let boot = 1000;
    const tell = async (ms: number, position: boolean): Promise<void> => {
      for (let left = ms; left > 0; left -= 500) {
        rig.attitude((boot += 500));
        if (position) rig.say(globalPosition(boot, 48.1, 11.5));
        await rig.live(500);
      }
    };
    await tell(20_000, true);
    rig.sent.length = 0;
    await tell(8000, false); // SET_MESSAGE_INTERVAL 33, -1
    const asked = (): unknown[] => rig.commands(511).map(({ fields }) => fields['_param1']);
    expect(asked()).to.include(33).and.not.include(30);
    await tell(10_000, true);
    rig.sent.length = 0;
    await tell(60_000, true);
    // VFR_HUD never came: it is asked for now and then, what comes is not.
    expect(asked()).to.not.include(33).and.not.include(30);
    expect(asked().filter((id) => id === 74)).to.have.length.within(1, 2);
    await rig.link.stop();
  });

  it('without SET_MESSAGE_INTERVAL is asked by stream groups', async () => {
    const rig = new Rig({ ackStreams: false });
    await rig.meet();
    await rig.live(3700);
    const groups = rig.sent.filter(({ id }) => id === 66).map(({ fields }) => fields['reqStreamId']);
    expect(groups).to.deep.equal([10, 6, 11, 2, 3, 12]);
    expect(rig.commands(511).length).to.equal(3);
    await rig.link.stop();
  });

  it('speaks in texts: parts are put together, the newest ten are kept, others of the system count', async () => {
    const rig = new Rig();
    await rig.meet();
    const long = 'PreArm: a sentence that is much longer than the fifty characters of one message';
    rig.say(statusText(2, long.slice(0, 50), 9, 0));
    rig.say(statusText(2, long.slice(50), 9, 1));
    rig.say(statusText(6, 'of a companion'), 1, 191);
    rig.say(statusText(6, 'of another vehicle'), 3);
    expect(rig.state().statustext.map(({ text }) => text)).to.deep.equal([long, 'of a companion']);
    rig.say(statusText(4, 'x'.repeat(50), 10, 0)); // its rest is lost
    await rig.clock.advance(1200);
    expect(rig.state().statustext.at(-1)).to.include({ severity: 4, text: 'x'.repeat(50) });
    for (let count = 0; count < 20; count++) rig.say(statusText(6, `line ${count}`));
    const texts = rig.state().statustext.map(({ text }) => text);
    expect(texts).to.deep.equal(Array.from({ length: 10 }, (_, index) => `line ${index + 10}`));
    expect(rig.logged.filter((line) => line.startsWith('vehicle: line')).length).to.equal(9);
    expect(rig.logged).to.not.include('vehicle: line 19');
    await rig.link.stop();
  });

  it('counts lost frames of the autopilot, garbage and bad checksums, and survives them', async () => {
    const rig = new Rig({ version: null });
    await rig.meet();
    const bad = encodeAs(attitude(1), 'v2', 5);
    bad.writeUInt8(bad.readUInt8(14) ^ 1, 14);
    rig.transport.deliver(Buffer.concat([Buffer.from('garbage'), bad]));
    rig.transport.deliver(encodeAs(attitude(1), 'v2', 10));
    const { counters } = rig.state();
    expect(counters).to.include({ rx_bad_crc: 1, rx_frames: 21, rx_lost: 0 });
    expect(counters.rx_garbage_bytes).to.equal(7 + bad.length);
    rig.transport.deliver(encodeAs(attitude(2), 'v2', 14));
    expect(rig.state().counters.rx_lost).to.equal(3);
    await rig.link.stop();
  });

  it('may put any bytes into any message (J3): nothing throws, and every value is a number or null', async () => {
    const rig = new Rig();
    await rig.meet();
    const ids = Object.values(MSG).filter((id) => id !== MSG.HEARTBEAT);
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 255 }),
      fc.constantFrom(0x00, 0x7f, 0x80, 0xff).map((fill) => new Uint8Array(60).fill(fill)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...ids), payload, (id, bytes) => {
        rig.transport.deliver(rawV2({ id, payload: bytes, extra: crcExtraOf(id) }));
        expect(rig.link.parts.router.modelErrors).to.equal(0);
        const { telemetry } = rig.state();
        for (const value of Object.values({
          ...telemetry.position,
          ...telemetry.battery,
          ...telemetry.gps,
        })) {
          expect(value === null || Array.isArray(value) || Number.isFinite(value)).to.equal(true);
        }
      }),
      { numRuns: 3000 },
    );
    expect(() => JSON.stringify([rig.state(), rig.calls.params()])).to.not.throw();
    await rig.link.stop();
  });

  it('sees our heartbeat once a second, but not from a loop that stood still (J13)', async () => {
    const rig = new Rig();
    await rig.meet();
    const beats = (): number => rig.sent.filter(({ id }) => id === 0).length;
    const before = beats();
    await rig.live(5000);
    expect(beats() - before).to.equal(5);
    rig.clock.stall(4000);
    await rig.clock.advance(10);
    expect(beats() - before).to.equal(5);
    await rig.live(2000);
    expect(beats() - before).to.equal(7);
    await rig.link.stop();
    expect(rig.clock.pending).to.equal(0);
  });

  it('has its state sent every 100 ms while telemetry comes, every 500 ms otherwise', async () => {
    const rig = new Rig();
    await rig.meet();
    await rig.clock.advance(1000);
    rig.beat();
    rig.states.length = 0;
    await rig.clock.advance(2000);
    expect(rig.states.length).to.be.within(4, 6);
    rig.states.length = 0;
    for (let count = 0; count < 100; count++) {
      rig.attitude(1000 + count * 10);
      await rig.clock.advance(10);
    }
    expect(rig.states.length).to.be.within(10, 11);
    await rig.link.stop();
  });
});
