import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import type { PrearmReport } from '../../shared/rpc/telemetry.ts';
import { commandAck, rawV2, statusText } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const PX4 = { autopilot: 12 };
const CHECK = 0x1000_0000;
const GPS = 0x20;
const COMPASS = 0x4;
const RUN = 401;
const EVENT = 410;
const [ARMING_SUMMARY, HEALTH_SUMMARY, NO_POSITION] = [0x0100_0001, 0x0100_0002, 0x0100_0003];

/** As PX4 1.17 describes them. */
const CHECK_ARGUMENTS = [
  { name: 'modes', type: 'navigation_mode_group_t' },
  { name: 'health_component_index', type: 'uint8_t' },
];
const uint32 = { type: 'uint32_t', is_bitfield: true, entries: {} };
const PX4_EVENTS = {
  components: {
    1: {
      namespace: 'px4',
      enums: { navigation_mode_group_t: uint32, health_component_t: uint32 },
      navigation_mode_groups: {
        groups: { 2: [3 << 16], 3: [0x0404_0000], 4: [0x0304_0000], 14: [6 << 16] },
      },
      event_groups: {
        arming_check: {
          events: {
            1: {
              name: 'commander_arming_check_summary',
              message: 'Arming check summary event',
              type: 'summary',
              arguments: [
                { name: 'chunk_idx', type: 'uint8_t' },
                { name: 'error', type: 'px4::health_component_t' },
                { name: 'warning', type: 'px4::health_component_t' },
                { name: 'can_arm', type: 'px4::navigation_mode_group_t' },
                { name: 'can_run', type: 'px4::navigation_mode_group_t' },
              ],
            },
            3: { name: 'mission', message: 'No valid mission available', arguments: CHECK_ARGUMENTS },
            4: { name: 'sticks', message: 'No manual control input', arguments: CHECK_ARGUMENTS },
            5: { name: 'signal', message: 'No offboard signal', arguments: CHECK_ARGUMENTS },
            6: { name: 'station', message: 'No ground control station', arguments: CHECK_ARGUMENTS },
            7: { name: 'compass', message: 'Compass not calibrated', arguments: CHECK_ARGUMENTS },
          },
        },
        health: { events: { 2: { name: 'commander_health_summary', message: '', type: 'summary' } } },
      },
    },
  },
};

function sysStatus(present: number, enabled: number, health: number): MavLinkData {
  return Object.assign(new common.SysStatus(), {
    onboardControlSensorsPresent: present,
    onboardControlSensorsEnabled: enabled,
    onboardControlSensorsHealth: health,
    load: 0,
    voltageBattery: 12_000,
    currentBattery: -1,
    batteryRemaining: -1,
    dropRateComm: 0,
    errorsComm: 0,
    errorsCount1: 0,
    errorsCount2: 0,
    errorsCount3: 0,
    errorsCount4: 0,
  });
}

const passes = sysStatus(CHECK | GPS, CHECK | GPS, CHECK | GPS);
const fails = sysStatus(CHECK | GPS, CHECK | GPS, GPS);

const report = (rig: Rig): PrearmReport => rig.state().telemetry.prearm;
const texts = (rig: Rig): string[] => report(rig).reasons.map(({ text, source }) => `${source} ${text}`);

describe('pre-arm report', () => {
  it('knows nothing before the vehicle has told, nor of an autopilot that it does not know', async () => {
    const rig = await Rig.met();
    expect(report(rig)).to.include({ can_arm: null, checked_at: null });
    expect(report(rig).reasons).to.deep.equal([]);
    await rig.link.stop();
    const other = await Rig.met({ autopilot: 4 });
    other.say(fails);
    other.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    expect(report(other)).to.include({ can_arm: null }).and.to.have.property('reasons').that.deep.equals([]);
    await other.link.stop();
  });

  it('ArduPilot: has each failed check once, with when it was last told, and is clear when the bit is', async () => {
    const rig = await Rig.met();
    rig.say(fails);
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    rig.say(statusText(2, 'PreArm: Compass not calibrated'));
    rig.say(statusText(2, 'Arm: LOITER mode not armable')); // a try that was refused
    rig.say(statusText(2, 'EKF3 lane switch 1'));
    const first = report(rig);
    expect(first.can_arm).to.equal(false);
    expect(texts(rig)).to.deep.equal([
      'statustext PreArm: GPS 1: Bad fix',
      'statustext PreArm: Compass not calibrated',
    ]);
    expect(first.checked_at).to.equal(new Date(rig.clock.wall()).toISOString());
    await rig.live(30_000);
    rig.say(fails);
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    expect(texts(rig)).to.have.length(2);
    expect(report(rig).reasons.at(-1)?.at).to.equal(new Date(rig.clock.wall()).toISOString());
    rig.say(passes);
    expect(report(rig)).to.deep.equal({
      can_arm: true,
      takeoff_mode: 'GUIDED',
      reasons: [],
      checked_at: new Date(rig.clock.wall()).toISOString(),
    });
    // Texts wait in the vehicle's queue: one that comes now counts until the next status.
    rig.say(statusText(2, 'PreArm: Throttle below failsafe'));
    expect(report(rig).can_arm).to.equal(false);
    rig.say(passes);
    expect(report(rig).can_arm).to.equal(true);
    await rig.link.stop();
  });

  it('ArduPilot: a check that is left out twice is over; an old status says nothing', async () => {
    const rig = await Rig.met();
    for (const again of [0, 1, 2]) {
      rig.say(fails);
      if (again === 0) rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
      rig.say(statusText(2, 'PreArm: Hardware safety switch'));
      await rig.live(30_000);
    }
    rig.say(fails);
    expect(texts(rig)).to.deep.equal(['statustext PreArm: Hardware safety switch']);
    await rig.live(70_000);
    expect(report(rig)).to.deep.include({ can_arm: null, reasons: [] });
    await rig.link.stop();
  });

  it('names sensors that do not work, and says so where nobody says why', async () => {
    const rig = await Rig.met();
    rig.say(sysStatus(CHECK | GPS | COMPASS, CHECK | GPS | COMPASS, 0));
    expect(texts(rig)).to.deep.equal(['sys_status compass: unhealthy', 'sys_status GPS: unhealthy']);
    rig.say(fails);
    expect(texts(rig)).to.deep.equal(['sys_status the checks fail, and the vehicle has not said why']);
    rig.say(sysStatus(CHECK | GPS, GPS, 0)); // ARMING_CHECK is 0
    expect(report(rig).can_arm).to.equal(null);
    expect(texts(rig)).to.deep.equal(['sys_status GPS: unhealthy']);
    await rig.link.stop();
  });

  it('has at most 32 reasons', async () => {
    const rig = await Rig.met();
    rig.say(sysStatus(0x7fff_ffff, 0x7fff_ffff, 0));
    for (let count = 0; count < 50; count++) rig.say(statusText(2, `PreArm: check ${count}`));
    const { reasons } = report(rig);
    expect(reasons).to.have.length(32);
    expect(reasons.at(-1)?.text).to.equal('PreArm: check 49');
    await rig.link.stop();
  });

  it('says nothing of a vehicle that is armed, silent, or another one', async () => {
    const rig = await Rig.met();
    rig.say(fails);
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    rig.armed = true;
    rig.beat();
    expect(report(rig)).to.deep.include({ can_arm: null, reasons: [] });
    rig.armed = false;
    rig.beat();
    expect(report(rig), 'what was told before it armed').to.deep.include({ can_arm: null, reasons: [] });
    rig.say(fails);
    await rig.clock.advance(4000);
    expect(report(rig).can_arm, 'silent').to.equal(null);
    await rig.clock.advance(30_000);
    rig.system = 9;
    rig.beat();
    expect(report(rig).checked_at, 'another').to.equal(null);
    await rig.link.stop();
  });

  it('is renewed by runPrearmChecks, which answers when the failed checks have been told', async () => {
    const rig = await Rig.met();
    rig.say(fails);
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    rig.say(statusText(2, 'PreArm: Compass not calibrated'));
    await rig.live(1000);
    rig.onSent = ({ id, fields }) => {
      if (id !== 76 || fields['command'] !== RUN) return;
      rig.say(commandAck(RUN, 0));
      rig.clock.after(500, () => rig.say(statusText(2, 'PreArm: Compass not calibrated')));
    };
    expect((await rig.command('runPrearmChecks')).status).to.equal('accepted');
    expect(texts(rig)).to.deep.equal(['statustext PreArm: Compass not calibrated']);
    rig.onSent = ({ id, fields }) => {
      if (id === 76 && fields['command'] === RUN) rig.say(commandAck(RUN, 1));
    };
    const refused = await rig.command('runPrearmChecks');
    expect(refused.ack.result_name).to.equal('TEMPORARILY_REJECTED');
    expect(texts(rig), 'nothing new was told').to.have.length(1);
    await rig.link.stop();
  });

  describe('PX4', () => {
    const event = (id: number, sequence: number, level: number, ...args: number[]): Buffer => {
      const payload = Buffer.alloc(53);
      payload.writeUInt32LE(id, 0);
      payload.writeUInt16LE(sequence, 8);
      payload.writeUInt8(level, 12);
      Buffer.from(args).copy(payload, 13);
      return rawV2({ id: EVENT, payload, extra: crcExtraOf(EVENT) });
    };

    it('its reasons are the checks that forbid the present mode, by their masks and not by their levels', async () => {
      const rig = await Rig.met(PX4);
      const { metadata } = rig.link.parts;
      metadata.want = (kind) => {
        kind.take(Buffer.from(JSON.stringify(PX4_EVENTS)), 'events.json', 1).catch(() => undefined);
      };
      let sequence = 1;
      const say = (number: number, level: number, ...args: number[]): void =>
        rig.transport.deliver(event(0x0100_0000 + number, sequence++, level, ...args));
      const mask = (bits: number): number[] => [0, 8, 16, 24].map((shift) => (bits >>> shift) & 0xff);
      const tell = (canArm: number, ...failed: [number: number, level: number, modes: number][]): void => {
        say(1, 8, 0, ...mask(0), ...mask(0), ...mask(canArm), ...mask(0));
        for (const [number, level, modes] of failed) say(number, level, ...mask(modes), 0);
        say(2, 8);
      };
      say(2, 8); // for the names
      await rig.live(500);
      const [NO_MISSION, NO_STICKS, NO_SIGNAL, NO_STATION, CALIBRATION] = [3, 4, 5, 6, 7];
      const [POSCTL, MISSION, LOITER, OFFBOARD] = [1 << 2, 1 << 3, 1 << 4, 1 << 14];
      const ALL = 0xffff_ffff;
      const optional = [
        [NO_STICKS, 4, ALL],
        [NO_STATION, 6, ALL],
      ] as const;
      const usual = [[NO_MISSION, 6, MISSION], [NO_SIGNAL, 3, OFFBOARD], ...optional] as const;
      const arms = ALL & ~(MISSION | OFFBOARD | POSCTL);
      const reasonsIn = async (customMode: number): Promise<string[]> => {
        rig.customMode = customMode;
        rig.beat();
        await rig.live(1500);
        rig.say(sysStatus(0, 0x1_0000, customMode === 0x0304_0000 ? CHECK : 0)); // the receiver is missing
        return texts(rig);
      };
      tell(arms, ...usual.map((check) => [...check] as [number, number, number]));
      expect(await reasonsIn(0x0304_0000), 'AUTO.LOITER').to.deep.equal([]);
      expect(report(rig).can_arm).to.equal(true);
      expect(await reasonsIn(0x0404_0000), 'AUTO.MISSION').to.deep.equal([
        'event No valid mission available',
      ]);
      rig.say(statusText(2, 'Preflight Fail: No manual control input\t')); // somebody tried
      expect(texts(rig)).to.deep.equal(['event No valid mission available']);
      expect(await reasonsIn(6 << 16), 'OFFBOARD').to.deep.equal(['event No offboard signal']);
      expect(await reasonsIn(3 << 16), 'POSCTL').to.deep.equal(['event No manual control input']);
      tell(0, [NO_MISSION, 6, MISSION], [CALIBRATION, 3, ALL], [NO_STICKS, 4, ALL]);
      expect(await reasonsIn(0x0404_0000), 'no mode arms').to.deep.equal([
        'event No valid mission available',
        'event Compass not calibrated',
      ]);
      expect(LOITER & arms).to.equal(LOITER);
      await rig.link.stop();
    });

    it('can arm by the bit in health alone, and says why not by texts while its events are not known', async () => {
      const rig = await Rig.met(PX4);
      rig.say(sysStatus(GPS, GPS, GPS | CHECK));
      expect(report(rig)).to.deep.include({ can_arm: true, reasons: [] });
      rig.say(sysStatus(0, GPS, 0)); // it needs a GPS and has none
      expect(report(rig).can_arm).to.equal(false);
      expect(texts(rig)).to.deep.equal(['sys_status GPS: missing']);
      rig.transport.deliver(event(ARMING_SUMMARY, 1, 8));
      rig.transport.deliver(event(NO_POSITION, 2, 3, 255, 255, 255, 255));
      rig.transport.deliver(event(HEALTH_SUMMARY, 3, 8));
      rig.say(statusText(2, 'Preflight Fail: No manual control input\t'));
      expect(texts(rig)).to.deep.equal([
        'statustext Preflight Fail: No manual control input',
        'sys_status GPS: missing',
      ]);
      await rig.link.stop();
    });
  });
});
