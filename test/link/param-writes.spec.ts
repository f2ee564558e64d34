import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ParamStore } from '../../front/link/params/param-store.ts';
import type { ParamWriteResult } from '../../shared/rpc/link-answers.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { settle } from './fake-clock.ts';
import { commandAck, paramValue } from './mavlink-samples.ts';
import { Rig, SILENT_LOG } from './rig.ts';

const BYTEWISE = 16;
const REAL32 = 9;
const INT32 = 6;

const bitsOf = (value: number): number => new DataView(Float32Array.of(value).buffer).getUint32(0, true);
const floatOf = (bits: number): number => new DataView(Uint32Array.of(bits).buffer).getFloat32(0, true);

interface Scripted {
  /** As the vehicle holds them: the four bytes. */
  readonly values: Map<string, { bits: number; type: number }>;
  /** What the vehicle makes of a PARAM_SET; null: it says nothing. */
  onSet: (name: string, bits: number) => number | null;
  answersReads: boolean;
  hash: number | null;
  readonly asked: { list: number; hash: number; sets: number };
}

/** A store of which one knows when it has been read: that takes real time, which the fake clock does not see. */
class WatchedStore extends ParamStore {
  newest: Promise<unknown> = Promise.resolve();

  override async read(uid: string): ReturnType<ParamStore['read']> {
    const read = super.read(uid);
    this.newest = read;
    return read;
  }
}

/** A vehicle with a few parameters that answers list, read by name and set. */
function script(rig: Rig, params: Readonly<Record<string, [number, number]>>): Scripted {
  const vehicle: Scripted = {
    values: new Map(Object.entries(params).map(([name, [bits, type]]) => [name, { bits, type }])),
    onSet: (_name, bits) => bits,
    answersReads: true,
    hash: null,
    asked: { list: 0, hash: 0, sets: 0 },
  };
  const tell = (name: string, index: number): void => {
    const found = vehicle.values.get(name);
    if (found === undefined) return;
    const message = paramValue(name, floatOf(found.bits), index, vehicle.values.size);
    rig.sayRaw(Object.assign(message, { paramType: found.type }), found.bits);
  };
  rig.onSent = ({ id, fields, payload }) => {
    const name = String(fields['paramId'] ?? '').replace(/\0.*$/s, '');
    if (id === 21) {
      vehicle.asked.list++;
      for (const [index, each] of [...vehicle.values.keys()].entries()) tell(each, index);
    } else if (id === 20 && name === '_HASH_CHECK') {
      vehicle.asked.hash++;
      if (vehicle.hash !== null)
        rig.sayRaw(Object.assign(paramValue('_HASH_CHECK', 0, 65_535, 3), { paramType: 5 }), vehicle.hash);
    } else if (id === 20 && vehicle.answersReads) tell(name, 65_535);
    else if (id === 23) {
      vehicle.asked.sets++;
      const bits = vehicle.onSet(name, payload.readUInt32LE(0));
      const held = vehicle.values.get(name);
      if (bits === null || held === undefined) return;
      held.bits = bits;
      tell(name, 65_535);
    }
  };
  return vehicle;
}

async function outcome(rig: Rig, promise: Promise<unknown>): Promise<Record<string, unknown>> {
  const results: Record<string, unknown>[] = [];
  promise.then(
    (value) => {
      results.push(value as Record<string, unknown>);
    },
    (error: { code: string; extras: Record<string, unknown>; message: string }) => {
      results.push({ code: error.code, detail: error.message, ...error.extras });
    },
  );
  for (let waited = 0; waited < 20_000 && results.length === 0; waited += 500) await rig.live(500);
  const [result] = results;
  if (result === undefined) throw new Error('no outcome');
  return result;
}

const write = async (
  rig: Rig,
  name: string,
  value: number,
  force = false,
): Promise<Record<string, unknown>> => outcome(rig, rig.calls.param_set({ name, value, force }));

describe('writing parameters', () => {
  it('is acknowledged by what the vehicle tells, with a float rounded to 32 bits', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { WPNAV_SPEED: [bitsOf(500), REAL32] });
    await rig.meet();
    const result = (await write(rig, 'WPNAV_SPEED', 0.1)) as unknown as ParamWriteResult;
    expect(result).to.deep.include({ name: 'WPNAV_SPEED', value: 0.1, ack: true, type: REAL32 });
    expect(result).to.not.have.property('code');
    expect(result.cached_value).to.equal(Math.fround(0.1));
    expect(vehicle.asked.sets).to.equal(1);
    await rig.link.stop();
  });

  it('J9 a value that the vehicle did not take is an error that names what it has', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { RTL_ALT: [bitsOf(1500), REAL32] });
    await rig.meet();
    vehicle.onSet = () => bitsOf(3000); // clamped
    expect(await write(rig, 'RTL_ALT', 9000)).to.deep.include({
      code: 'E_UPSTREAM',
      ack: false,
      cached_value: 3000,
    });
    vehicle.onSet = () => null; // ignored; the read-back tells the old one
    expect(await write(rig, 'RTL_ALT', 10)).to.deep.include({ code: 'E_UPSTREAM', cached_value: 3000 });
    vehicle.answersReads = false;
    const { sets } = vehicle.asked;
    expect(await write(rig, 'RTL_ALT', 11)).to.deep.include({ code: 'E_TIMEOUT', ack: false });
    expect(vehicle.asked.sets - sets).to.equal(3);
    expect(rig.calls.params().params['RTL_ALT']?.value).to.equal(3000);
    await rig.link.stop();
  });

  it('survives lost sets and lost echoes', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { A: [bitsOf(1), REAL32] });
    await rig.meet();
    let attempt = 0;
    vehicle.onSet = (_name, bits) => (++attempt < 3 ? null : bits);
    vehicle.answersReads = false;
    expect(await write(rig, 'A', 5)).to.include({ ack: true, cached_value: 5 });
    await rig.link.stop();
  });

  it('is not misled by a list that is under way and tells the old value', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { A: [bitsOf(1), REAL32] });
    await rig.meet();
    vehicle.onSet = (_name, bits) => {
      rig.say(paramValue('A', 1, 0, 1));
      return bits;
    };
    expect(await write(rig, 'A', 5)).to.include({ ack: true, cached_value: 5 });
    await rig.link.stop();
  });

  it('integers go the way the vehicle declares: bytewise, with the bounds of their type', async () => {
    const rig = new Rig({ autopilot: 12, version: { capabilities: BYTEWISE } });
    const vehicle = script(rig, { COM_RC_IN_MODE: [3, INT32], SYS_X: [0x7f, 2], BIG: [16_777_217, INT32] });
    await rig.meet();
    expect(await write(rig, 'COM_RC_IN_MODE', -12)).to.include({ ack: true, cached_value: -12 });
    expect(vehicle.values.get('COM_RC_IN_MODE')?.bits).to.equal(0xffff_fff4); // a NaN, were it a float
    expect(await write(rig, 'SYS_X', -2)).to.include({ ack: true, cached_value: -2 });
    expect(vehicle.values.get('SYS_X')?.bits).to.equal(0xfe);
    expect(await write(rig, 'BIG', 16_777_219)).to.include({ ack: true, cached_value: 16_777_219 });
    const { sets } = vehicle.asked;
    expect(await write(rig, 'SYS_X', 128)).to.include({ code: 'E_INVALID_VALUE' });
    expect(await write(rig, 'SYS_X', 0.5)).to.include({ code: 'E_INVALID_VALUE' });
    expect(vehicle.asked.sets).to.equal(sets);
    await rig.link.stop();
  });

  it('by value, an integer that a float32 cannot hold is refused', async () => {
    const rig = new Rig();
    script(rig, { STAT: [bitsOf(3), INT32], MASK: [bitsOf(0), 4] });
    await rig.meet();
    expect(await write(rig, 'STAT', 16_777_217)).to.include({ code: 'E_INVALID_VALUE' });
    expect(await write(rig, 'MASK', 300)).to.include({ ack: true, cached_value: 300 });
    expect(await write(rig, 'MASK', 40_000)).to.include({ code: 'E_INVALID_VALUE' });
    await rig.link.stop();
  });

  it('J10 the identity on the link is not written, however it is spelt; nor what there is not', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { SYSID_THISMAV: [bitsOf(1), 4], MAV_SYS_ID: [bitsOf(1), INT32] });
    await rig.meet();
    for (const name of ['SYSID_THISMAV', 'MAV_SYS_ID', 'sysid_thismav', ' MAV_SYS_ID', 'MAV_SYSID'])
      expect((await write(rig, name, 2, true))['code'], name).to.equal('E_IDENTITY');
    expect((await write(rig, 'NO_SUCH', 2))['code']).to.equal('E_NOT_FOUND');
    expect(vehicle.asked.sets).to.equal(0);
    await rig.link.stop();
  });

  it('J7 a vehicle that armed since the edge looked is not written to, unless forced', async () => {
    const rig = new Rig();
    script(rig, { A: [bitsOf(1), REAL32] });
    await rig.meet();
    rig.armed = true;
    rig.beat();
    expect(await write(rig, 'A', 2)).to.deep.include({ code: 'E_ARMED', armed: true, action: 'write A' });
    expect(await write(rig, 'A', 2, true)).to.include({ ack: true });
    await rig.link.stop();
  });

  it('sends again a second after the vehicle was asked, and is answered as soon as it tells the value', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { A: [bitsOf(1), REAL32] });
    await rig.meet();
    await rig.live(500);
    const sent = (): (readonly [number, number])[] =>
      rig.sent.filter(({ id }) => id === 20 || id === 23).map(({ id, at }) => [id, at - began] as const);
    let began = rig.clock.now();
    const silence = vehicle.onSet;
    vehicle.onSet = () => null;
    vehicle.answersReads = false;
    rig.sent.length = 0;
    await write(rig, 'A', 5);
    expect(sent()).to.deep.equal([
      [23, 0],
      [20, 1000],
      [23, 2000],
      [20, 3000],
      [23, 4000],
      [20, 5000],
    ]);
    vehicle.onSet = silence;
    vehicle.answersReads = true;
    began = rig.clock.now();
    rig.sent.length = 0;
    const told: unknown[] = [];
    rig.calls.param_set({ name: 'A', value: 6, force: false }).then(
      (result) => told.push(result),
      () => undefined,
    );
    await rig.clock.advance(1);
    expect(told).to.have.length(1);
    // The old value, from a list that is under way, is no reason to ask.
    vehicle.onSet = () => {
      rig.say(paramValue('A', 6, 0, 1));
      rig.clock.after(300, () => rig.say(paramValue('A', 7, 0, 1)));
      return null;
    };
    expect(await write(rig, 'A', 7)).to.include({ ack: true });
    expect(sent().map(([id]) => id)).to.deep.equal([23, 23]);
    await rig.link.stop();
  });

  it('one at a time: seven wait, the next is refused, and is taken when there is room', async () => {
    const rig = new Rig();
    const vehicle = script(rig, { A: [bitsOf(1), REAL32] });
    await rig.meet();
    const all = Array.from({ length: 8 }, async (_, value) => write(rig, 'A', value + 2));
    expect(await write(rig, 'A', 99)).to.include({ code: 'E_RATE_LIMITED' });
    for (const each of await Promise.all(all)) expect(each).to.include({ ack: true });
    expect(await write(rig, 'A', 99)).to.include({ ack: true });
    expect(vehicle.asked.sets).to.equal(9);
    await rig.link.stop();
  });

  it('what no parameter can hold is said with the member of the body', async () => {
    const rig = new Rig();
    script(rig, { MASK: [bitsOf(0), 4] });
    await rig.meet();
    const { detail, errors } = await write(rig, 'MASK', 40_000);
    expect(detail).to.match(/^MASK .+\.$/);
    expect(errors).to.deep.equal([{ path: '/value', message: String(detail).slice('MASK '.length, -1) }]);
    await rig.link.stop();
  });

  it('needs a vehicle that is there', async () => {
    const rig = new Rig();
    rig.link.start();
    let code = '';
    rig.calls.param_set({ name: 'A', value: 1, force: false }).catch((error: { code: string }) => {
      code = error.code;
    });
    await settle();
    expect(code).to.equal('E_NO_FC');
    await rig.link.stop();
  });
});

describe('setting all parameters back', () => {
  const STORAGE = 245;

  /** @param result MAV_RESULT of the vehicle; null: no answer */
  async function begun(result: number | null, params: Record<string, [number, number]> = {}): Promise<Rig> {
    const rig = new Rig();
    script(rig, { A: [bitsOf(1), REAL32], ...params });
    const answer = rig.onSent;
    rig.onSent = (sent) => {
      answer(sent);
      if (result !== null && sent.id === 76 && sent.fields['command'] === STORAGE)
        rig.say(commandAck(STORAGE, result));
    };
    await rig.meet();
    await rig.live(5000);
    return rig;
  }
  const reset = async (rig: Rig, force = false): Promise<Record<string, unknown>> =>
    outcome(rig, rig.calls.params_reset({ force }));

  it('is the firmware’s own, and wants a reboot', async () => {
    const rig = await begun(0, { SYSID_THISMAV: [bitsOf(1), 4] });
    expect(await reset(rig)).to.deep.equal({ reboot_required: true });
    expect(rig.commands(STORAGE).map(({ fields }) => fields['_param1'])).to.deep.equal([2]);
    await rig.link.stop();
  });

  it('a refusal and silence are errors; silence is asked three times', async () => {
    const refusing = await begun(2);
    expect(await reset(refusing)).to.include({ code: 'E_UPSTREAM', result: 2 });
    const silent = await begun(null);
    expect(await reset(silent)).to.include({ code: 'E_TIMEOUT' });
    expect(silent.commands(STORAGE)).to.have.length(3);
    await Promise.all([refusing.link.stop(), silent.link.stop()]);
  });

  it('J7 is not sent to a vehicle that is armed, nor again to one that has armed meanwhile, unless forced', async () => {
    const rig = await begun(null);
    rig.armed = true;
    rig.beat();
    expect(await reset(rig)).to.include({ code: 'E_ARMED', action: 'reset all parameters' });
    expect(rig.commands(STORAGE)).to.deep.equal([]);
    await reset(rig, true);
    expect(rig.commands(STORAGE)).to.have.length(3);
    rig.armed = false;
    await rig.live(15_000);
    const running = reset(rig);
    await settle();
    rig.armed = true;
    expect(await running).to.include({ code: 'E_TIMEOUT' });
    expect(rig.commands(STORAGE)).to.have.length(4);
    await rig.link.stop();
  });

  it('J10 is not sent to a vehicle whose identity it would change', async () => {
    for (const name of ['SYSID_THISMAV', 'MAV_SYSID', 'MAV_SYS_ID']) {
      const rig = await begun(0, { [name]: [bitsOf(7), 4] });
      expect(await reset(rig, true), name).to.include({ code: 'E_IDENTITY' });
      expect(rig.commands(STORAGE)).to.deep.equal([]);
      await rig.link.stop();
    }
  });
});

describe('parameters on disk', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await tempDir();
  });
  afterEach(async () => removeDir(dir));

  let store: WatchedStore;
  const px4 = (uid = 7): Rig => {
    store = new WatchedStore(dir, SILENT_LOG);
    return new Rig({ autopilot: 12, version: { capabilities: BYTEWISE, uid }, store });
  };
  const begin = async (rig: Rig): Promise<void> => {
    await rig.meet();
    // The file is read by the real clock, and the vehicle's hash waited for by the fake one.
    for (let turn = 0; turn < 50 && rig.calls.params().priming; turn++) {
      await store.newest;
      await rig.live(100);
    }
  };

  it('PX4: the same hash, no download; another one, a download', async () => {
    const first = px4();
    const vehicle = script(first, { A: [1, INT32], B: [2, INT32] });
    vehicle.hash = 0xdead_beef;
    await begin(first);
    await first.live(5000);
    await first.link.stop();
    expect(vehicle.asked.list).to.equal(1);

    const second = px4();
    const same = script(second, { A: [1, INT32], B: [2, INT32] });
    same.hash = 0xdead_beef;
    await begin(second);
    expect(second.calls.params()).to.include({ cached: 2, expected: 2, priming: false, timed_out: false });
    expect(same.asked).to.deep.include({ list: 0, hash: 1 });
    await second.link.stop();

    const third = px4();
    const other = script(third, { A: [9, INT32] });
    other.hash = 0x1234;
    await begin(third);
    expect(other.asked.list).to.equal(1);
    expect(third.calls.params().params).to.deep.equal({
      A: { value: 9, type: INT32, index: 0, default: null },
    });
    await third.link.stop();
  });

  it('a written value is on disk with the hash that goes with it', async () => {
    const rig = px4();
    const vehicle = script(rig, { A: [1, INT32] });
    vehicle.hash = 1;
    await begin(rig);
    await rig.live(5000);
    vehicle.hash = 2;
    expect(await write(rig, 'A', 4)).to.include({ ack: true });
    await rig.live(8000);
    await rig.link.stop();
    const stored = JSON.parse(await readFile(join(dir, '0700000000000000.json'), 'utf8'));
    expect(stored).to.deep.equal({ version: 1, hash: 2, entries: [['A', 4, INT32, 0]] });
  });

  it('another vehicle has another file, and a broken one counts as none', async () => {
    await writeFile(join(dir, '0800000000000000.json'), '{"version":1,"hash":5,"entries":[["A",');
    const rig = px4(8);
    const vehicle = script(rig, { A: [1, INT32] });
    vehicle.hash = 5;
    await begin(rig);
    expect(vehicle.asked.list).to.equal(1);
    expect(rig.calls.params()).to.include({ cached: 1, priming: false });
    await rig.link.stop();
  });
});
