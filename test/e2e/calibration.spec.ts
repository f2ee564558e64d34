import { expect } from 'chai';
import { common } from 'node-mavlink';
import { CALIBRATION_SENSORS, type CalibrationSensor, POSES } from '../../shared/flight/calibration.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import type { CalibrationState } from '../../shared/schemas/calibration.ts';
import { commandAck, rawV2, statusText } from '../link/mavlink-samples.ts';
import { Rig, type RigOptions } from '../link/rig.ts';
import { refusal } from '../support/refusal.ts';
import { SimPair } from './sim-pair.ts';

const FAST = ['--speedup', '20'] as const;
const CALIBRATE = 241;
const POSITION = 42_429;
const ARM_DISARM = 400;
const REFUSED = 4;
const PX4 = 12;

/** svc-link with a simulated vehicle. */
class Pair extends SimPair {
  static async start(...args: string[]): Promise<Pair> {
    return new Pair(
      ...(await SimPair.processes(args, '[]', ({ telemetry }) => telemetry.position.lat !== null)),
    );
  }

  async begin(sensor: CalibrationSensor, force = false): Promise<CalibrationState> {
    return (await this.link.calls.calibrate({ sensor, force })).state;
  }

  async cancel(): Promise<CalibrationState> {
    return (await this.link.calls.calibrate_cancel({})).state;
  }

  get state(): Promise<CalibrationState> {
    return this.link.calls.calibration({ seen: null }).then(({ state }) => state);
  }

  /** Follows the calibration until the state fits. @param lies whether it lies as it is asked to */
  async until(fits: (state: CalibrationState) => boolean, lies = true): Promise<CalibrationState> {
    let seen: number | null = null;
    for (;;) {
      const { revision, state } = await this.link.calls.calibration({ seen });
      if (fits(state)) return state;
      if (!state.running) throw new Error(`it has ended: ${JSON.stringify(state)}`);
      seen = revision;
      const [pose] = state.poses;
      if (lies && state.confirm && pose !== undefined) await this.link.calls.calibrate_confirm({ pose });
    }
  }

  async ended(): Promise<CalibrationState> {
    return this.until(({ running }) => !running);
  }
}

describe('calibration of a simulated vehicle', function () {
  this.timeout(120_000);

  /** Sensor, whether the vehicle wants a reboot then, and the last line. */
  const DONE: Readonly<Record<string, readonly [CalibrationSensor, boolean, string | undefined][]>> = {
    ardupilot: [
      ['gyro', false, undefined],
      ['level', false, 'Trim OK: roll=0.00 pitch=0.00 yaw=0.00'],
      ['barometer', false, 'Barometer calibration complete'],
      ['accelerometer', true, 'Calibration successful'],
      ['compass', true, 'Compass 3: fitness 6.2'],
    ],
    px4: [
      ['gyro', false, 'calibration done: gyro'],
      ['level', false, 'calibration done: level'],
      ['barometer', false, 'calibration done: baro'],
      ['accelerometer', false, 'calibration done: accel'],
      ['compass', false, 'calibration done: mag'],
    ],
  };
  for (const [firmware, sensors] of Object.entries(DONE)) {
    it(`${firmware}: every sensor, one after the other`, async () => {
      await using pair = await Pair.start('--firmware', firmware, ...FAST);
      expect(await pair.state).to.include({ running: false, sensor: null, result: null, started_at: null });
      for (const [sensor, reboot, last] of sensors) {
        await pair.begin(sensor);
        const state = await pair.ended();
        expect(state, JSON.stringify(state)).to.include({
          sensor,
          result: 'done',
          percent: 100,
          step: null,
          confirm: false,
          reboot_required: reboot,
        });
        expect(state.steps.at(-1)).to.equal(last);
        expect(new Set(state.steps.map((text, n) => `${text} ${text === state.steps[n + 1]}`))).to.satisfy(
          (lines: Set<string>) => [...lines].every((line) => line.endsWith('false')),
        );
        expect(Date.parse(state.ended_at ?? '')).to.be.at.least(Date.parse(state.started_at ?? ''));
      }
    });
  }

  const FAILED: readonly (readonly [string, CalibrationSensor, RegExp])[] = [
    ['ardupilot', 'accelerometer', /^Calibration FAILED$/],
    ['ardupilot', 'compass', /^Compass 1: failed, fitness 88\.0$/],
    ['ardupilot', 'gyro', /^The vehicle answered FAILED\.$/],
    ['ardupilot', 'level', /FAILED: trim over maximum of 10 degrees$/],
    ['px4', 'accelerometer', /^calibration failed: timeout: no motion$/],
    ['px4', 'compass', /^calibration failed: mag$/],
    ['px4', 'gyro', /^calibration failed: gyro$/],
    ['px4', 'level', /^calibration failed: level$/],
  ];
  for (const firmware of ['ardupilot', 'px4']) {
    it(`${firmware}: fails in the vehicle's words when the person does not do as it says`, async () => {
      await using pair = await Pair.start('--firmware', firmware, '--speedup', '60', '--clumsy');
      for (const [, sensor, reason] of FAILED.filter(([of]) => of === firmware)) {
        // A refusal within the first seconds is the answer to the request, too.
        const begun = await pair.begin(sensor).catch((error: unknown) => error);
        const state = await pair.ended();
        expect(state).to.include({ sensor, result: 'failed', running: false });
        expect(state.text).to.match(reason);
        if (begun instanceof Error) expect(begun.message).to.equal(state.text);
      }
    });
  }

  it('ardupilot: each pose is asked for and confirmed; another one is refused, and so is a second calibration', async () => {
    await using pair = await Pair.start(...FAST);
    await pair.begin('accelerometer');
    const asked: string[] = [];
    for (const pose of POSES) {
      const state = await pair.until(({ poses }) => poses[0] === pose, false);
      expect(state).to.include({ step: 'pose', confirm: true });
      asked.push(state.text ?? '');
      const other = await refusal(
        pair.link.calls.calibrate_confirm({ pose: pose === 'back' ? 'level' : 'back' }),
      );
      expect([other.code, other.message]).to.deep.equal([
        'E_CALIBRATION',
        `The vehicle asks for ${pose}, not for ${pose === 'back' ? 'level' : 'back'}.`,
      ]);
      const busy = await refusal(pair.begin('gyro'));
      expect(busy.code).to.equal('E_BUSY');
      await pair.link.calls.calibrate_confirm({ pose });
    }
    expect(asked[0]).to.equal('Place vehicle level and press any key.');
    expect(asked[5]).to.equal('Place vehicle on its BACK.');
    expect(await pair.ended()).to.include({ result: 'done' });
    expect((await refusal(pair.link.calls.calibrate_confirm({ pose: 'level' }))).code).to.equal(
      'E_CALIBRATION',
    );
  });

  it('ardupilot: a cancelled accelerometer calibration goes on in the vehicle, where the next one takes it up', async () => {
    await using pair = await Pair.start(...FAST);
    await pair.begin('accelerometer');
    await pair.until(({ poses }) => poses[0] === 'right');
    expect(await pair.cancel()).to.include({ running: false, result: 'cancelled', confirm: false });
    expect((await pair.state).text).to.include('cannot be told');
    await pair.begin('accelerometer');
    const state = await pair.until(({ step }) => step === 'pose', false);
    expect(state.poses).to.deep.equal(['right']);
    expect(await pair.ended()).to.include({ result: 'done' });
    expect(await pair.cancel(), 'nothing runs').to.include({ result: 'done' });
  });

  it('ardupilot: a compass calibration is cancelled; it needs a reboot all the same, and the vehicle says so', async () => {
    await using pair = await Pair.start('--speedup', '0.5'); // it is asked twice before it is cancelled
    await pair.begin('compass');
    await pair.until(({ percent }) => (percent ?? 0) > 0);
    expect((await pair.link.command('arm')).ack.reasons?.join()).to.include('Compass calibration running');
    expect(await pair.cancel()).to.include({ running: false, result: 'cancelled', reboot_required: true });
    expect((await pair.link.command('arm')).ack.reasons?.join()).to.include(
      'Compass calibrated requires reboot',
    );
    await pair.begin('gyro').then(async () => pair.ended());
    expect(await pair.state, 'still').to.include({ reboot_required: true });
    const { revision } = await pair.link.calls.calibration({ seen: null });
    await pair.sim.fault({ reboot: true });
    const after = await pair.link.calls.calibration({ seen: revision });
    expect(after.state).to.include({ reboot_required: false, sensor: 'gyro', result: 'done' });
    while ((await pair.link.command('arm')).status !== 'accepted') await pair.link.nextState();
  });

  it('ardupilot: what the vehicle ends by itself cannot be cancelled', async () => {
    await using pair = await Pair.start('--speedup', '0.5'); // four seconds
    const { revision } = await pair.link.calls.calibration({ seen: null });
    const begun = pair.begin('gyro');
    const { state } = await pair.link.calls.calibration({ seen: revision });
    expect(state).to.include({ running: true, step: 'starting', percent: null });
    expect((await refusal(pair.cancel())).code).to.equal('E_BUSY');
    await begun;
    expect(await pair.ended()).to.include({ result: 'done' });
  });

  it('px4: stops at the next step after it was cancelled; poses need no telling', async () => {
    await using pair = await Pair.start('--firmware', 'px4', '--speedup', '4');
    await pair.begin('accelerometer');
    const state = await pair.until(({ step, poses }) => step === 'pose' && poses.length < 6);
    expect(state).to.deep.include({
      confirm: false,
      poses: ['left', 'right', 'nose_down', 'nose_up', 'back'],
    });
    const told = await refusal(pair.link.calls.calibrate_confirm({ pose: 'left' }));
    expect(told.code).to.equal('E_CALIBRATION');
    await pair.cancel();
    const ended = await pair.ended();
    expect(ended).to.include({ result: 'cancelled', text: 'calibration cancelled' });
    await pair.begin('gyro');
    expect(await pair.ended()).to.include({ result: 'done' });
  });

  for (const [firmware, answer] of [
    ['ardupilot', 'FAILED: Disarm to allow calibration'],
    ['px4', 'TEMPORARILY_REJECTED'],
  ] as const) {
    it(`${firmware}: an armed vehicle is not calibrated, and with force refuses by itself`, async () => {
      await using pair = await Pair.start('--firmware', firmware);
      await pair.link.command('mode', firmware === 'px4' ? 'AUTO.LOITER' : 'GUIDED');
      await pair.link.command('arm');
      const guarded = await refusal(pair.begin('gyro'));
      expect(guarded.code).to.equal('E_ARMED');
      const refused = await refusal(pair.begin('gyro', true));
      expect([refused.code, refused.message]).to.satisfy(
        ([code, message]: string[]) => code === 'E_CALIBRATION' && message?.includes(answer),
      );
      expect(await pair.state).to.include({ running: false, result: 'failed' });
    });
  }

  it('ends when the vehicle is armed in the middle', async () => {
    await using pair = await Pair.start('--firmware', 'px4');
    await pair.begin('accelerometer');
    expect((await pair.link.command('arm')).status).to.equal('accepted');
    expect(await pair.ended()).to.include({ result: 'failed', text: 'The vehicle was armed.' });
  });

  it('ends when the vehicle reboots', async () => {
    await using pair = await Pair.start();
    await pair.begin('accelerometer');
    await pair.until(({ step }) => step === 'pose', false);
    await pair.sim.fault({ reboot: true });
    const state = await pair.until(({ running }) => !running, false);
    expect(state).to.include({ result: 'failed', text: 'The vehicle has rebooted.' });
  });
});

describe('calibration of a scripted vehicle', () => {
  const rigs: Rig[] = [];
  const px4 = new WeakSet<Rig>();
  /** PX4 is told when it has heard us as a ground station. */
  const told = async (rig: Rig): Promise<void> => rig.live(px4.has(rig) ? 1510 : 10);
  const meet = async (options: RigOptions): Promise<Rig> => {
    const rig = new Rig(options);
    rigs.push(rig);
    if (options.autopilot === PX4) px4.add(rig);
    await rig.meet();
    return rig;
  };
  afterEach(async () => {
    for (const rig of rigs.splice(0)) await rig.link.stop();
  });

  /** Begins, and answers the command. */
  const begin = async (rig: Rig, sensor: CalibrationSensor, result: number | null = 0): Promise<void> => {
    const begun = rig.link.parts.calibration.begin({ sensor, force: false });
    begun.catch(() => undefined);
    await told(rig);
    if (result !== null) rig.say(commandAck(CALIBRATE, result));
    await rig.live(4500);
    await begun;
  };
  const state = async (rig: Rig): Promise<CalibrationState> =>
    (await rig.link.parts.calibration.state(null)).state;
  const say = (rig: Rig, ...texts: string[]): void => {
    for (const text of texts) rig.say(statusText(6, text));
  };
  const pose = (rig: Rig, value: number): void => {
    const message = new common.CommandLong();
    const command: number = POSITION;
    Object.assign(message, { command, _param1: value, _param2: 0, _param3: 0, _param4: 0 });
    Object.assign(message, { _param5: 0, _param6: 0, _param7: 0, confirmation: 0 });
    Object.assign(message, { targetSystem: 0, targetComponent: 0 });
    rig.say(message);
  };
  const event = (rig: Rig, id: number, sequence: number, ...args: number[]): void => {
    const payload = Buffer.alloc(53);
    payload.writeUInt32LE(id, 0);
    payload.writeUInt16LE(sequence, 8);
    payload.writeUInt8(6, 12);
    Buffer.from(args).copy(payload, 13);
    rig.transport.deliver(rawV2({ id: 410, payload, extra: crcExtraOf(410) }));
  };

  it('an autopilot that is neither is told so; without a vehicle it is E_NO_FC', async () => {
    const rig = await meet({ autopilot: 4 });
    const unknown = await refusal(rig.link.parts.calibration.begin({ sensor: 'gyro', force: false }));
    expect([unknown.code, unknown.message.includes('ArduPilot and PX4')]).to.deep.equal([
      'E_NOT_IMPLEMENTED',
      true,
    ]);
    const none = new Rig();
    rigs.push(none);
    none.link.start();
    expect(
      (await refusal(none.link.parts.calibration.begin({ sensor: 'gyro', force: false }))).code,
    ).to.equal('E_NO_FC');
  });

  it('what it is told to do, by sensor', async () => {
    const sent: Record<string, (number | string | undefined)[]> = {};
    for (const sensor of CALIBRATION_SENSORS) {
      const rig = await meet({ autopilot: PX4 });
      await begin(rig, sensor);
      const fields = rig.commands(CALIBRATE)[0]?.fields;
      sent[sensor] = [1, 2, 3, 4, 5, 6, 7].map((n) => fields?.[`_param${n}`]);
    }
    expect(sent).to.deep.equal({
      accelerometer: [0, 0, 0, 0, 1, 0, 0],
      compass: [0, 1, 0, 0, 0, 0, 0],
      gyro: [1, 0, 0, 0, 0, 0, 0],
      level: [0, 0, 0, 0, 2, 0, 0],
      barometer: [0, 0, 1, 0, 0, 0, 0],
    });
  });

  it('px4: texts and events about the same are one step; events alone lead through it too', async () => {
    const both = await meet({ autopilot: PX4 });
    await begin(both, 'accelerometer');
    say(both, '[cal] calibration started: 2 accel', '[cal] down orientation detected');
    event(both, 1101, 1, 32, 3);
    event(both, 1100, 2, 1, 17, 1, 0, 0);
    expect(await state(both)).to.deep.include({
      percent: 17,
      steps: ['calibration started: 2 accel', 'down orientation detected'],
    });
    event(both, 1103, 3, 0);
    say(both, '[cal] calibration done: accel');
    expect(await state(both)).to.include({ result: 'done', text: 'Calibration Complete: Success' });

    const events = await meet({ autopilot: PX4 });
    await begin(events, 'accelerometer');
    event(events, 1101, 1, 32, 3);
    event(events, 1102, 2, 32, 1);
    event(events, 1103, 3, 1);
    expect(await state(events)).to.deep.include({
      result: 'failed',
      steps: [
        'Orientation detected: Down',
        'Orientation Complete: Down, next step: Switch to next orientation',
        'Calibration Complete: Failed',
      ],
    });
  });

  it('J13 px4: we are a ground station as long as it lasts, for it tells texts to nobody else; never of an armed vehicle', async () => {
    const stations = (rig: Rig): number =>
      rig.sent.filter(({ id, fields }) => id === 0 && fields['type'] === 6).length;
    const rig = await meet({ autopilot: PX4 });
    await rig.live(3000);
    expect(stations(rig)).to.equal(0);
    await begin(rig, 'gyro');
    await rig.live(10_000);
    expect(stations(rig)).to.be.within(14, 18);
    say(rig, '[cal] calibration done: gyro');
    const before = stations(rig);
    await rig.live(5000);
    expect(stations(rig)).to.equal(before);
    rig.armed = true;
    await rig.live(1000);
    const forced = rig.link.parts.calibration.begin({ sensor: 'gyro', force: true });
    await rig.live(10);
    rig.say(commandAck(CALIBRATE, 0));
    await rig.live(5000);
    expect((await forced).state).to.include({ running: true });
    expect(stations(rig)).to.equal(before);
  });

  it('px4: a lost ack does not repeat the command once it has begun', async () => {
    const rig = await meet({ autopilot: PX4 });
    const begun = rig.link.parts.calibration.begin({ sensor: 'gyro', force: false });
    await told(rig);
    say(rig, '[cal] calibration started: 2 gyro');
    await rig.live(4500);
    expect((await begun).state).to.include({ running: true, step: 'measuring' });
    expect(rig.commands(CALIBRATE)).to.have.length(1);
  });

  it('px4: a vehicle that does not stop is told again, and given up after a while', async () => {
    const rig = await meet({ autopilot: PX4 });
    await begin(rig, 'level');
    const cancelled = rig.link.parts.calibration.cancel();
    await rig.live(5000);
    expect((await cancelled).state).to.include({ running: true, step: 'cancelling' });
    await rig.live(100_000);
    expect(await state(rig)).to.include({ running: false, result: 'cancelled' });
    expect(rig.commands(CALIBRATE).length).to.be.within(40, 55);
  });

  it('px4: what is left of a cancelled calibration does not end the next one', async () => {
    const rig = await meet({ autopilot: PX4 });
    await begin(rig, 'level');
    const cancelled = rig.link.parts.calibration.cancel(); // its ack is lost
    await rig.clock.advance(10);
    say(rig, '[cal] calibration cancelled');
    expect((await cancelled).state).to.include({ running: false, result: 'cancelled' });
    const begun = rig.link.parts.calibration.begin({ sensor: 'gyro', force: false });
    await rig.live(3000);
    say(rig, '[cal] calibration started: 2 gyro');
    await rig.live(4000);
    expect((await begun).state).to.include({ running: true, sensor: 'gyro' });
    expect(await state(rig)).to.include({ running: true, step: 'measuring' });
  });

  it('ardupilot: the end of an older calibration, which it repeats, does not end the new one', async () => {
    const rig = await meet({});
    await begin(rig, 'accelerometer', null);
    pose(rig, 16_777_215);
    expect(await state(rig)).to.include({ running: true });
    rig.say(commandAck(CALIBRATE, 0));
    pose(rig, 16_777_215);
    expect(await state(rig)).to.include({ running: true });
    pose(rig, 1);
    expect(await state(rig)).to.deep.include({ poses: ['level'], text: 'Place vehicle level.', percent: 0 });
    pose(rig, 6);
    pose(rig, 16_777_215);
    expect(await state(rig)).to.include({ result: 'done', reboot_required: true });
  });

  it('an arming that the vehicle refuses ends nothing, however late it answers', async () => {
    const rig = await meet({});
    await begin(rig, 'accelerometer');
    pose(rig, 2);
    const arming = rig.link.parts.methods.command({ cmd: 'arm', args: [] });
    await rig.live(3000);
    expect(await state(rig), 'it has not answered').to.include({ running: true, step: 'pose' });
    rig.say(commandAck(ARM_DISARM, REFUSED));
    await rig.live(5000);
    expect((await arming).status).to.equal('rejected');
    expect(await state(rig)).to.include({ running: true, step: 'pose' });
  });

  it('a pose that the vehicle does not take, and one that it does not answer', async () => {
    const rig = await meet({});
    await begin(rig, 'accelerometer');
    pose(rig, 2);
    const refused = refusal(rig.link.parts.calibration.confirm('left'));
    await rig.clock.advance(10);
    expect(rig.commands(POSITION)[0]?.fields).to.include({ _param1: 2, targetSystem: 1, targetComponent: 1 });
    rig.say(commandAck(POSITION, REFUSED));
    expect((await refused).code).to.equal('E_CALIBRATION');
    const silent = refusal(rig.link.parts.calibration.confirm('left'));
    await rig.live(6000);
    expect((await silent).code).to.equal('E_TIMEOUT');
    expect(await state(rig)).to.deep.include({ running: true, poses: ['left'], confirm: true });
  });

  const ENDS: readonly (readonly [string, RigOptions, (rig: Rig) => Promise<void>, string])[] = [
    [
      'nobody hears it any more',
      {},
      async (rig) => rig.clock.advance(11_000),
      'The vehicle is not heard any more.',
    ],
    [
      'it says nothing for five minutes',
      { autopilot: PX4 },
      async (rig) => rig.live(302_000),
      'The vehicle has said nothing about it for 5 minutes.',
    ],
    [
      'it takes more than half an hour',
      {},
      async (rig) => {
        for (let minute = 0; minute < 32; minute++) {
          pose(rig, 3);
          await rig.live(60_000);
        }
      },
      'It has taken more than 30 minutes.',
    ],
    [
      'it is armed',
      { autopilot: PX4 },
      async (rig) => {
        rig.armed = true;
        await rig.live(1000);
      },
      'The vehicle was armed.',
    ],
    ['the node stops', {}, async (rig) => rig.link.stop(), 'svc-link was stopped.'],
  ];
  for (const [when, options, pass, text] of ENDS) {
    it(`ends when ${when}`, async () => {
      const rig = await meet(options);
      await begin(rig, 'accelerometer');
      const { revision } = await rig.link.parts.calibration.state(null);
      const news = rig.link.parts.calibration.state(revision);
      await pass(rig);
      expect(await state(rig)).to.include({ running: false, result: 'failed', text, step: null });
      await news; // who waits is told
      expect((await rig.link.parts.calibration.state(revision)).revision).to.be.greaterThan(revision);
    }).timeout(120_000);
  }
});
