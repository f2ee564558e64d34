import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import type { PrearmReport } from '../../shared/rpc/telemetry.ts';
import { paramValue, statusText } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

const CHECK = 0x1000_0000;
const RECEIVER = 0x1_0000;

function sysStatus(health: number): MavLinkData {
  const bits = CHECK | RECEIVER;
  return Object.assign(new common.SysStatus(), {
    onboardControlSensorsPresent: bits,
    onboardControlSensorsEnabled: bits,
    onboardControlSensorsHealth: health,
    voltageBattery: 12_000,
    currentBattery: -1,
    batteryRemaining: -1,
  });
}

/** @param us of the first four channels: roll, pitch, throttle, yaw */
function rc(...us: number[]): MavLinkData {
  const channels = Object.fromEntries(us.map((pwm, index) => [`chan${index + 1}Raw`, pwm]));
  return Object.assign(new common.RcChannels(), { timeBootMs: 1, chancount: 4, ...channels, rssi: 255 });
}

const CHANNEL = { MIN: 1000, MAX: 2000, TRIM: 1500, DZ: 20, REVERSED: 0 };
const PARAMS: Readonly<Record<string, number>> = {
  ARMING_CHECK: 1,
  RC_OPTIONS: 32,
  PILOT_THR_BHV: 0,
  THR_DZ: 100,
  THR_MIN: 0,
  ...Object.fromEntries(['ROLL', 'PITCH', 'THROTTLE', 'YAW'].map((name, i) => [`RCMAP_${name}`, i + 1])),
  ...Object.fromEntries(
    [1, 2, 3, 4].flatMap((n) => Object.entries(CHANNEL).map(([key, value]) => [`RC${n}_${key}`, value])),
  ),
};

/** A vehicle that passes its own checks. */
async function met(options: RigOptions, params: Readonly<Record<string, number>> = {}): Promise<Rig> {
  const rig = await Rig.met(options);
  const all = Object.entries(params);
  for (const [index, [name, value]] of all.entries()) rig.say(paramValue(name, value, index, all.length));
  rig.say(sysStatus(CHECK | RECEIVER));
  return rig;
}

const report = (rig: Rig): PrearmReport => rig.state().telemetry.prearm;

describe('what speaks against arming and is told only to who arms', () => {
  const [COPTER, PLANE, ROVER, SUB] = [2, 1, 10, 12];
  for (const [type, mode, text, ...instead] of [
    [COPTER, 9, 'LAND mode not armable', 'GUIDED', 'STABILIZE'],
    [COPTER, 6, 'RTL mode not armable', 'GUIDED', 'STABILIZE'],
    [COPTER, 17, 'BRAKE mode not armable', 'GUIDED', 'STABILIZE'],
    [PLANE, 11, 'RTL mode not armable', 'FBWA', 'MANUAL'],
    [ROVER, 12, 'SMART_RTL mode not armable', 'GUIDED', 'MANUAL'],
    [COPTER, 4, null],
    [COPTER, 0, null],
    [PLANE, 10, null],
    [ROVER, 10, null],
    [SUB, 9, null],
  ] as const)
    it(`ArduPilot, type ${type}, mode ${mode}: ${text ?? 'nothing'}`, async () => {
      const rig = await met({ type, customMode: mode });
      const { can_arm: canArm, reasons } = report(rig);
      expect([canArm, reasons.map((reason) => reason.text)]).to.deep.equal([
        text === null,
        text === null ? [] : [text],
      ]);
      if (text !== null) {
        const commands = instead.map((name) => ({ cmd: 'mode', args: [name] }));
        expect(reasons[0]?.help).to.deep.equal({ text: `Switch to ${instead.join(' or ')}.`, commands });
      }
      await rig.link.stop();
    });

  it('PX4 does not arm in its return, though its checks may not say so, and ArduPilot’s text is not told twice', async () => {
    const px4 = await met({ autopilot: 12, customMode: 0x0504_0000 });
    expect(report(px4)).to.include({ can_arm: false });
    expect(report(px4).reasons[0]?.help?.commands).to.deep.equal([{ cmd: 'mode', args: ['AUTO.LOITER'] }]);
    await px4.link.stop();
    const plane = await met({ type: PLANE, customMode: 11 });
    plane.say(sysStatus(RECEIVER));
    plane.say(statusText(2, 'PreArm: RTL mode not armable'));
    expect(report(plane).reasons.map(({ text }) => text)).to.deep.equal(['RTL mode not armable']);
    plane.customMode = 5;
    plane.beat();
    expect(report(plane).reasons, 'what it said of the former mode').to.deep.equal([]);
    await plane.link.stop();
  });

  it('AUTO of a copter is judged by AUTO_OPTIONS, and not while that is not known', async () => {
    const unknown = await met({ customMode: 3 });
    expect(report(unknown)).to.deep.include({ can_arm: true, reasons: [] });
    await unknown.link.stop();
    for (const [value, can] of [
      [0, false],
      [1, true],
    ] as const) {
      const rig = await met({ customMode: 3 }, { AUTO_OPTIONS: value });
      expect(report(rig).can_arm, `AUTO_OPTIONS ${value}`).to.equal(can);
      await rig.link.stop();
    }
  });

  it('another mode has other checks: what the last status said is not said of it', async () => {
    const rig = await met({});
    expect(report(rig).can_arm).to.equal(true);
    rig.customMode = 4;
    rig.beat();
    rig.say(sysStatus(CHECK));
    expect(report(rig).can_arm).to.equal(null);
    await rig.live(1100);
    rig.say(sysStatus(0));
    expect(report(rig).can_arm).to.equal(false);
    await rig.link.stop();
  });

  describe('the sticks', () => {
    const said = async (
      options: RigOptions,
      sticks: readonly number[],
      params: Readonly<Record<string, number>> = {},
    ): Promise<string[]> => {
      const rig = await met(options, { ...PARAMS, ...params });
      rig.say(rc(...sticks));
      const { reasons, can_arm: canArm } = report(rig);
      expect(canArm).to.equal(reasons.length === 0);
      for (const { source, help } of reasons) expect([source, help?.commands]).to.deep.equal(['rc', []]);
      await rig.link.stop();
      return reasons.map(({ text }) => text);
    };
    const REST = [1500, 1500, 1000, 1500];
    const UP = [1500, 1500, 1200, 1500];

    it('at rest say nothing; a throttle that is up and a stick that is held are told in ArduPilot’s words', async () => {
      for (const type of [COPTER, PLANE]) {
        expect(await said({ type }, REST)).to.deep.equal([]);
        expect(await said({ type }, [1500, 1500, 1019, 1500]), 'in its dead zone').to.deep.equal([]);
        expect(await said({ type }, UP)).to.deep.equal(['Throttle (RC3) is not neutral']);
        expect(await said({ type }, [1600, 1500, 1000, 1400])).to.deep.equal([
          'Roll (RC1) is not neutral',
          'Yaw (RC4) is not neutral',
        ]);
      }
      expect(await said({ type: ROVER }, [1600, 1500, 1500, 1500]), 'a rover').to.deep.equal([]);
      expect(await said({ type: ROVER }, REST)).to.deep.equal(['Throttle (RC3) is not neutral']);
      expect(await said({}, [1500, 1500, 1800, 1500], { RC3_REVERSED: 1 }), 'reversed').to.have.length(1);
      expect(await said({}, [1500, 1500, 2000, 1500], { RC3_REVERSED: 1 })).to.deep.equal([]);
    });

    it('are left alone where the vehicle does not look at them', async () => {
      expect(await said({}, UP, { ARMING_CHECK: 0 })).to.deep.equal([]);
      expect(await said({}, [1600, 1500, 1000, 1500], { RC_OPTIONS: 96 })).to.deep.equal([]);
      expect(await said({ type: SUB }, UP)).to.deep.equal([]);
      expect(await said({ autopilot: 12 }, UP)).to.deep.equal([]);
      expect(await said({ customMode: 4 }, UP, { RC_OPTIONS: 0 }), 'GUIDED').to.deep.equal([]);
      expect(await said({ customMode: 0 }, UP, { RC_OPTIONS: 0 }), 'STABILIZE').to.deep.equal([
        'Throttle too high',
      ]);
      const sprung = { PILOT_THR_BHV: 1 };
      expect(await said({ customMode: 2 }, [1500, 1500, 1500, 1500], sprung), 'ALT_HOLD').to.deep.equal([]);
      expect(await said({ customMode: 2 }, [1500, 1500, 1700, 1500], sprung)).to.deep.equal([
        'Throttle too high',
      ]);
    });

    it('say nothing while something is not known: a parameter, the receiver, the sticks of now', async () => {
      const { RC3_MIN: _, ...fewer } = PARAMS;
      const rig = await met({}, fewer);
      rig.say(rc(...UP));
      expect(report(rig).can_arm).to.equal(true);
      await rig.link.stop();
      const deaf = await met({}, PARAMS);
      deaf.say(rc(...UP));
      expect(report(deaf).can_arm).to.equal(false);
      deaf.say(sysStatus(CHECK));
      expect(report(deaf).can_arm, 'no receiver').to.equal(true);
      deaf.say(sysStatus(CHECK | RECEIVER));
      await deaf.live(3100);
      expect(report(deaf).can_arm, 'old').to.equal(true);
      await deaf.link.stop();
    });
  });
});
