import { expect } from 'chai';
import { ardupilotmega, common } from 'node-mavlink';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { refusal } from '../support/refusal.ts';
import { commandAck, rawV2 } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const MOTOR_TEST = 209;
const [ESC_INFO, ESC_STATUS] = [290, 291];

function landed(state: number): common.ExtendedSysState {
  const message = new common.ExtendedSysState();
  message.landedState = state;
  return message;
}

/** Messages that node-mavlink does not have. */
function newer(rig: Rig, id: number, length: number, fill: (payload: Buffer) => void): void {
  const payload = Buffer.alloc(length);
  fill(payload);
  rig.transport.deliver(rawV2({ id, payload, extra: crcExtraOf(id) }));
}

describe('motors in the telemetry', () => {
  it('outputs of two banks are one list, from the first to the last that is driven', async () => {
    const rig = await Rig.met();
    expect(rig.state().telemetry.servo_outputs).to.equal(null);
    const first = Object.assign(new common.ServoOutputRaw(), { servo1Raw: 1100, servo3Raw: 1500 });
    rig.say(first);
    expect(rig.state().telemetry.servo_outputs).to.deep.equal([1100, 0, 1500]);
    rig.say(Object.assign(new common.ServoOutputRaw(), { port: 1, servo2Raw: 1900 }));
    const { servo_outputs: both, ages } = rig.state().telemetry;
    expect(both).to.deep.equal([1100, 0, 1500, ...Array.from({ length: 14 }, () => 0), 1900]);
    expect(ages.servo_outputs).to.equal(0);
    rig.say(Object.assign(new common.ServoOutputRaw(), { port: 9, servo1Raw: 2000 }));
    expect(rig.state().telemetry.servo_outputs, 'a bank that there is not').to.deep.equal(both);
    await rig.link.stop();
  });

  it('ArduPilot: an ESC that measures no voltage has none, one that is not there is not listed', async () => {
    const rig = await Rig.met();
    const values = new ardupilotmega.EscTelemetry1To4();
    Object.assign(values, {
      voltage: [1640, 0, 0, 0],
      current: [550, 0, 0, 0],
      totalcurrent: [1, 0, 0, 0],
      rpm: [7200, 7100, 0, 0],
      count: [3, 9, 0, 0],
      temperature: [41, 0, 0, 0],
    });
    rig.say(values);
    const none = { errors: null, failures: null };
    expect(rig.state().telemetry.esc).to.deep.equal([
      { number: 1, rpm: 7200, voltage: 16.4, current: 5.5, temperature: 41, ...none },
      { number: 2, rpm: 7100, voltage: null, current: null, temperature: null, ...none },
    ]);
    await rig.link.stop();
  });

  it('PX4: what it runs, and what has failed, of as many ESCs as it says that it has', async () => {
    const rig = await Rig.met({ autopilot: 12 });
    newer(rig, ESC_INFO, 46, (payload) => {
      payload.writeUInt32LE(5, 12); // errors of the second
      payload.writeUInt16LE(4, 28); // its failure flags
      payload.writeInt16LE(4150, 34);
      payload.writeInt16LE(0x7fff, 36);
      payload.writeUInt8(2, 43);
    });
    newer(rig, ESC_STATUS, 57, (payload) => {
      payload.writeInt32LE(-900, 8);
      payload.writeFloatLE(15.5, 24);
      payload.writeFloatLE(NaN, 40);
    });
    expect(rig.state().telemetry.esc).to.deep.equal([
      { number: 1, rpm: -900, voltage: 15.5, current: null, temperature: 41.5, errors: 0, failures: 0 },
      { number: 2, rpm: 0, voltage: 0, current: 0, temperature: null, errors: 5, failures: 4 },
    ]);
    await rig.link.stop();
  });

  it('vibration is shown with its clips', async () => {
    const rig = await Rig.met();
    const message = Object.assign(new common.Vibration(), { vibrationX: 2.5, vibrationY: NaN, clipping1: 7 });
    rig.say(message);
    expect(rig.state().telemetry.vibration).to.deep.equal({ x: 2.5, y: null, z: 0, clips: [0, 7, 0] });
    await rig.link.stop();
  });

  it('vibration of PX4 is one length: what stands in x and y are measures of its gyroscope', async () => {
    const rig = await Rig.met({ autopilot: 12 });
    rig.say(Object.assign(new common.Vibration(), { vibrationX: 1e-6, vibrationY: 0.02, vibrationZ: 3.5 }));
    expect(rig.state().telemetry.vibration).to.deep.equal({ x: null, y: null, z: 3.5, clips: [0, 0, 0] });
    await rig.link.stop();
  });

  it('a current of PX4 that is not known is not known', async () => {
    for (const [autopilot, current] of [
      [12, null],
      [3, -1],
    ] as const) {
      const rig = await Rig.met({ autopilot });
      rig.say(Object.assign(new common.SysStatus(), { voltageBattery: 16200, currentBattery: -100 }));
      expect(rig.state().telemetry.battery).to.include({ voltage: 16.2, current });
      await rig.link.stop();
    }
  });
});

describe('motorTest', () => {
  it('runs one motor, with the throttle in percent, and is sent once though nobody answers', async () => {
    const rig = await Rig.met();
    rig.say(landed(1));
    const answer = await rig.command('motorTest', [3, 12, 1.5]);
    expect(answer.status).to.equal('no_ack');
    expect(rig.commands(MOTOR_TEST).map(({ fields }) => fields)).to.have.length(1);
    expect(rig.commands(MOTOR_TEST)[0]?.fields).to.include({
      _param1: 3,
      _param2: 0,
      _param3: 12,
      _param4: 1.5,
    });
    await rig.link.stop();
  });

  const refused: readonly (readonly [string, (rig: Rig) => Promise<void> | void])[] = [
    ['an armed vehicle', (rig) => ((rig.armed = true), rig.say(landed(1)), rig.beat())],
    ['one in the air', (rig) => rig.say(landed(2))],
    ['one that lands', (rig) => rig.say(landed(4))],
    ['one that says nothing about the ground', () => undefined],
    ['one that does not know', (rig) => rig.say(landed(0))],
    [
      'one that stood on the ground long ago',
      async (rig) => {
        rig.say(landed(1));
        await rig.live(6000);
      },
    ],
  ];
  for (const [who, prepare] of refused)
    it(`is refused by the node for ${who}: nothing is sent`, async () => {
      const rig = await Rig.met();
      await prepare(rig);
      const { code, extras, message } = await refusal(rig.calls.command({ cmd: 'motorTest', args: [1] }));
      expect(message).to.not.match(/override if/);
      expect([code, extras['action']]).to.deep.equal(['E_ARMED', 'test a motor']);
      expect(extras['armed'], 'as it is').to.equal(rig.armed);
      expect(rig.commands(MOTOR_TEST)).to.deep.equal([]);
      await rig.link.stop();
    });

  it('runs one of a vehicle that said 5 s ago that it stands', async () => {
    const rig = await Rig.met();
    rig.say(landed(1));
    await rig.live(5000);
    expect((await rig.command('motorTest', [1])).status).to.equal('no_ack');
    expect(rig.commands(MOTOR_TEST)).to.have.length(1);
    await rig.link.stop();
  });

  it('is refused while a killSwitch is under way, and ends with one', async () => {
    const rig = await Rig.met();
    rig.say(landed(1));
    const kill = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] });
    expect((await refusal(rig.calls.command({ cmd: 'motorTest', args: [1] }))).code).to.equal('E_BUSY');
    rig.say(commandAck(400, 0));
    await rig.clock.advance(50);
    await kill;
    expect(rig.commands(MOTOR_TEST)).to.deep.equal([]);
    await rig.link.stop();
  });

  for (const args of [[0], [33], [1, -1], [1, 101], [1, 5, 0.4], [1, 5, 3.1], [1.5], []])
    it(`arguments that there are not: ${JSON.stringify(args)}`, async () => {
      const rig = await Rig.met();
      rig.say(landed(1));
      expect((await refusal(rig.calls.command({ cmd: 'motorTest', args }))).code).to.equal('E_BAD_REQUEST');
      await rig.link.stop();
    });
});
