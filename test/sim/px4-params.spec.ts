import { expect } from 'chai';
import { common, type MavLinkPacket } from 'node-mavlink';
import { Framer } from '../../shared/mavlink/framer.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { plainCrc32 } from './plain-crc32.ts';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const TARGET = { targetSystem: 1, targetComponent: 1 };
const INT32 = 6;
const REAL32 = 9;
const HASH = '_HASH_CHECK';
const PARAM_ERROR = 345;

interface Raw {
  readonly name: string;
  readonly type: number;
  readonly index: number;
  readonly count: number;
  /** The four bytes of param_value: as a number they would lose the bits of a NaN. */
  readonly bits: Buffer;
}

function raw(packet: MavLinkPacket): Raw {
  const payload = Buffer.alloc(25);
  packet.payload.copy(payload);
  return {
    bits: payload.subarray(0, 4),
    count: payload.readUInt16LE(4),
    index: payload.readUInt16LE(6),
    name: payload.toString('latin1', 8, 24).split('\0', 1)[0] ?? '',
    type: payload.readUInt8(24),
  };
}

function received(client: SimClient): Raw[] {
  return client.packets.filter(({ header }) => header.msgid === 22).map(raw);
}

async function list(client: SimClient): Promise<Raw[]> {
  const last = client.next(common.ParamValue, (p) => p.paramIndex === p.paramCount - 1);
  client.send(common.ParamRequestList, TARGET);
  await last;
  return received(client);
}

function bitsAsFloat(value: number): number {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes.readFloatLE(0);
}

async function set(client: SimClient, paramId: string, value: number, paramType: number): Promise<Raw> {
  const answer = client.next(common.ParamValue, (param) => param.paramId === paramId);
  const paramValue = paramType === INT32 ? bitsAsFloat(value) : value;
  client.send(common.ParamSet, { ...TARGET, paramId, paramValue, paramType });
  await answer;
  const last = received(client).at(-1);
  if (last === undefined) throw new Error('no PARAM_VALUE');
  return last;
}

describe('sim PX4 parameters', () => {
  it('lists about 200 of its own, bytewise, behind a hash of them all', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--param-rate', '5000');
    const client = await sim.connect();
    const [first, ...all] = await list(client);
    expect(first).to.include({ name: HASH, index: 65535, type: 5, count: all.length });
    expect(all.length).to.be.within(200, 400);
    expect([...new Set(all.map(({ type }) => type))].sort((a, b) => a - b)).to.deep.equal([INT32, REAL32]);
    expect(all.filter(({ name }) => !/^[A-Z0-9_]{2,16}$/.test(name))).to.deep.equal([]);
    expect(new Set(all.map(({ name }) => name)).size).to.equal(all.length);
    const named = new Map(all.map((param) => [param.name, param.bits]));
    expect(named.get('SYS_AUTOSTART')?.readInt32LE(0)).to.equal(4001);
    expect(named.get('COM_FLTMODE1')?.readInt32LE(0)).to.equal(-1);
    expect(named.get('MPC_XY_CRUISE')?.readFloatLE(0)).to.equal(5);
    const hash = all.reduce((crc, { name, bits }) => plainCrc32(bits, plainCrc32(Buffer.from(name), crc)), 0);
    expect(first?.bits.readUInt32LE(0)).to.equal(hash);
  });

  it('gives the hash on request, another one after a change, and ends the list when the hash is set', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--param-rate', '20');
    const client = await sim.connect();
    const hash = async (): Promise<number | undefined> => {
      const answer = client.next(common.ParamValue, ({ paramId }) => paramId === HASH);
      client.send(common.ParamRequestRead, { ...TARGET, paramId: HASH, paramIndex: -1 });
      await answer;
      return received(client).at(-1)?.bits.readUInt32LE(0);
    };
    const before = await hash();
    await set(client, 'MPC_XY_CRUISE', 7, REAL32);
    expect(await hash()).not.to.equal(before);
    client.send(common.ParamRequestList, TARGET);
    await client.next(common.ParamValue, ({ paramIndex }) => paramIndex === 1);
    client.send(common.ParamSet, { ...TARGET, paramId: HASH, paramValue: 0, paramType: 5 });
    await client.command(520, 1); // what was sent before has been acted on
    const count = received(client).length;
    await client.next(common.Attitude);
    await client.next(common.Attitude, undefined, 500);
    await client.next(common.VfrHud, undefined, 500);
    expect(received(client).length).to.equal(count);
  });

  it('stores an integer by its bits, answers with its index, and acts on what it holds', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--param-rate', '5000');
    const client = await sim.connect();
    const all = await list(client);
    const answer = await set(client, 'COM_FLTMODE1', 7, INT32);
    expect(answer.bits.readInt32LE(0)).to.equal(7);
    expect(answer.index).to.equal(all.findIndex(({ name }) => name === 'COM_FLTMODE1') - 1);
    await set(client, 'MAV_SYS_ID', 9, INT32);
    expect(client.packets.at(-1)?.header.sysid).to.equal(9);
  });

  it('answers by PARAM_ERROR what cannot be read or set', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4');
    const client = await sim.connect();
    const payload = new Payload();
    const errors: unknown[][] = [];
    let told = (): void => undefined;
    // Newer than the library: the client does not read it.
    const framer = new Framer((frame) => {
      if (frame.id !== PARAM_ERROR) return;
      payload.load(frame);
      errors.push([payload.text(4, 16), payload.i16(0), payload.u8(20), payload.u8(2)]);
      if (errors.length === 6) told();
    });
    client.socket.on('data', (chunk) => framer.push(chunk, performance.now()));
    const all = new Promise<void>((resolve) => (told = resolve));
    const write = (paramId: string, paramType: number): void =>
      client.send(common.ParamSet, { ...TARGET, paramId, paramValue: 1, paramType });
    write('NO_SUCH', REAL32);
    write('MAV_SYS_ID', REAL32);
    write('MAV_SYS_ID', 4); // INT16
    write(HASH, INT32);
    client.send(common.ParamRequestRead, { ...TARGET, paramId: 'NO_SUCH', paramIndex: -1 });
    client.send(common.ParamRequestRead, { ...TARGET, paramId: '', paramIndex: 9999 });
    await all;
    const [missing, readOnly, unsupported, mismatch] = [1, 5, 6, 7];
    expect(errors).to.deep.equal([
      ['NO_SUCH', -1, missing, 255],
      ['MAV_SYS_ID', -1, mismatch, 255],
      ['MAV_SYS_ID', -1, unsupported, 255],
      [HASH, -1, readOnly, 255],
      ['NO_SUCH', -1, missing, 255],
      ['', 9999, missing, 255],
    ]);
  });
});
