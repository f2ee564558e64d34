import { expect } from 'chai';
import { common, standard } from 'node-mavlink';
import { plainCrc32 } from './plain-crc32.ts';
import { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const OP = {
  terminate: 1,
  reset: 2,
  list: 3,
  open: 4,
  read: 5,
  create: 6,
  write: 7,
  remove: 8,
  crc: 14,
  burst: 15,
  ack: 128,
  nack: 129,
};
const NAK = { fail: 1, invalidSession: 4, noSessions: 5, endOfFile: 6, unknownCommand: 7, fileNotFound: 10 };
const PARAMS = '@PARAM/param.pck?withdefaults=0';
const READ = 80;

interface Answer {
  readonly seq: number;
  readonly opcode: number;
  readonly offset: number;
  readonly burstComplete: boolean;
  readonly data: Buffer;
}

interface Ask {
  readonly opcode: number;
  readonly offset?: number;
  readonly size?: number;
  readonly path?: string;
  readonly session?: number;
  readonly seq?: number;
}

/** A client of MAVLink FTP, as far as these tests need one. */
class FtpClient {
  readonly #client: SimClient;
  #seq = 0;

  constructor(client: SimClient) {
    this.#client = client;
  }

  send({ opcode, offset = 0, size, path = '', session = 3, seq }: Ask): number {
    const name = Buffer.from(path, 'latin1');
    const payload = Buffer.alloc(251);
    this.#seq = seq ?? (this.#seq + 1) & 0xffff;
    payload.writeUInt16LE(this.#seq, 0);
    payload.writeUInt8(session, 2);
    payload.writeUInt8(opcode, 3);
    payload.writeUInt8(size ?? name.length, 4);
    payload.writeUInt32LE(offset, 8);
    name.copy(payload, 12);
    const message = { targetSystem: 1, targetComponent: 1, payload: [...payload] };
    this.#client.send(common.FileTransferProtocol, message);
    return this.#seq;
  }

  async ask(ask: Ask): Promise<Answer> {
    const answers: Answer[] = [];
    const got = this.#answers((answer) => answers.push(answer) > 0);
    this.send(ask);
    await got;
    const [answer] = answers;
    if (answer === undefined) throw new Error('no answer');
    return answer;
  }

  /** Everything that one burst brings, up to the answer that says that it is over. */
  async burst(offset: number, size = READ): Promise<Answer[]> {
    const answers: Answer[] = [];
    const over = this.#answers((answer) => {
      answers.push(answer);
      return answer.burstComplete;
    });
    this.send({ opcode: OP.burst, offset, size });
    await over;
    return answers;
  }

  async #answers(done: (answer: Answer) => boolean): Promise<void> {
    await this.#client.next(common.FileTransferProtocol, ({ payload }) => {
      const bytes = Buffer.from(payload);
      return done({
        seq: bytes.readUInt16LE(0),
        opcode: bytes.readUInt8(3),
        burstComplete: bytes.readUInt8(6) === 1,
        offset: bytes.readUInt32LE(8),
        data: bytes.subarray(12, 12 + bytes.readUInt8(4)),
      });
    });
  }
}

interface Packed {
  readonly name: string;
  readonly type: number;
  readonly value: number;
  readonly initial: number | undefined;
  /** Where the value stands in the file. */
  readonly at: number;
  readonly size: number;
}

/** Reads a param.pck by its description alone. */
function unpack(file: Buffer): Packed[] {
  const sizes = [0, 1, 2, 4, 4];
  const params: Packed[] = [];
  let last = '';
  for (let at = 6; at < file.length; ) {
    if (file.readUInt8(at) === 0) {
      at++;
      continue;
    }
    const type = file.readUInt8(at) & 15;
    const withDefault = file.readUInt8(at) >> 4 === 1;
    const shared = file.readUInt8(at + 1) & 15;
    const length = (file.readUInt8(at + 1) >> 4) + 1;
    const name = last.slice(0, shared) + file.toString('latin1', at + 2, at + 2 + length);
    const size = sizes[type] ?? 0;
    const read = (from: number): number => (type === 4 ? file.readFloatLE(from) : file.readIntLE(from, size));
    at += 2 + length;
    const initial = withDefault ? read(at + size) : undefined;
    params.push({ name, type, value: read(at), initial, at, size });
    at += withDefault ? size * 2 : size;
    last = name;
  }
  return params;
}

async function download(ftp: FtpClient, path = PARAMS, size = READ): Promise<Buffer> {
  expect((await ftp.ask({ opcode: OP.open, path })).opcode).to.equal(OP.ack);
  const answers = await ftp.burst(0, size);
  expect(answers.at(-1)).to.include({ opcode: OP.nack, burstComplete: true });
  await ftp.ask({ opcode: OP.terminate });
  return Buffer.concat(answers.slice(0, -1).map(({ data }) => data));
}

describe('sim MAVLink FTP', () => {
  it('gives all parameters in one burst, no value across two reads, the same as one by one', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    const ftp = new FtpClient(client);
    const file = await download(ftp);
    const params = unpack(file);
    expect(file.readUInt16LE(0)).to.equal(0x671b);
    expect(file.readUInt16LE(2)).to.equal(params.length);
    expect(file.readUInt16LE(4)).to.equal(params.length);
    expect(params.length).to.be.greaterThan(300);
    for (const { name, at, size } of params) {
      expect(Math.floor(at / READ), name).to.equal(Math.floor((at + size - 1) / READ));
    }
    for (const [index, { name, value }] of [...params.entries()].filter(([i]) => i % 40 === 3)) {
      const one = client.next(common.ParamValue, ({ paramIndex }) => paramIndex === index);
      client.send(common.ParamRequestRead, {
        targetSystem: 1,
        targetComponent: 1,
        paramId: '',
        paramIndex: index,
      });
      expect(await one).to.include({ paramId: name, paramValue: value });
    }
    expect(client.texts.some((text) => text.startsWith('ArduCopter'))).to.equal(true);
  });

  it('gives values that are not the default with it where that is asked for, and a part of the list', async () => {
    await using sim = await SimProcess.start('--sysid', '1');
    const client = await sim.connect();
    const set = client.next(common.ParamValue);
    client.send(common.ParamSet, {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'RTL_ALT',
      paramValue: 2000,
      paramType: 9,
    });
    await set;
    const ftp = new FtpClient(client);
    const file = await download(ftp, '@PARAM/param.pck?withdefaults=1', 239);
    expect(file.readUInt16LE(0)).to.equal(0x671c);
    const named = new Map(unpack(file).map((param) => [param.name, param]));
    expect(named.get('RTL_ALT')).to.include({ type: 3, value: 2000, initial: 1500 });
    expect(named.get('RTL_CONE_SLOPE')).to.include({ type: 4, value: 3, initial: undefined });
    const part = await download(ftp, '@PARAM/param.pck?start=2&count=5');
    expect(part.readUInt16LE(2)).to.equal(5);
    expect(unpack(part).map(({ name }) => name)[0]).to.equal('SYSID_MYGCS');
  });

  it('goes on from the middle, reads single blocks and repeats a lost answer', async () => {
    await using sim = await SimProcess.start();
    const ftp = new FtpClient(await sim.connect());
    const file = await download(ftp);
    await ftp.ask({ opcode: OP.open, path: PARAMS });
    const rest = await ftp.burst(READ * 5);
    expect(Buffer.concat(rest.slice(0, -1).map(({ data }) => data)).equals(file.subarray(READ * 5))).to.equal(
      true,
    );
    const block = await ftp.ask({ opcode: OP.read, offset: READ * 2, size: READ, seq: 100 });
    expect(block.data.equals(file.subarray(READ * 2, READ * 3))).to.equal(true);
    const again = await ftp.ask({ opcode: OP.read, offset: READ * 2, size: READ, seq: 100 });
    expect(again).to.deep.equal(block);
    const end = await ftp.ask({ opcode: OP.read, offset: file.length, size: READ, seq: 101 });
    expect([end.opcode, end.data[0]]).to.deep.equal([OP.nack, NAK.endOfFile]);
    const sum = await ftp.ask({ opcode: OP.crc, path: PARAMS });
    await ftp.ask({ opcode: OP.terminate });
    expect(sum.data.readUInt32LE(0)).to.equal(plainCrc32(await download(ftp, PARAMS, 239)));
  });

  it('says what is wrong: no such file, no open file, a foreign session, a second peer, an unknown command', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    const ftp = new FtpClient(client);
    const code = async (ask: Ask): Promise<number | undefined> => {
      const { opcode, data } = await ftp.ask(ask);
      return opcode === OP.nack ? data[0] : undefined;
    };
    expect(await code({ opcode: OP.open, path: '/APM/LOGS/1.BIN' })).to.equal(NAK.fileNotFound);
    expect(await code({ opcode: OP.read, size: READ })).to.equal(NAK.fileNotFound);
    expect(await code({ opcode: OP.write })).to.equal(NAK.invalidSession);
    expect(await code({ opcode: 99 })).to.equal(NAK.unknownCommand);
    expect(await code({ opcode: OP.open, path: PARAMS })).to.equal(undefined);
    expect(await code({ opcode: OP.open, path: PARAMS })).to.equal(NAK.fail);
    expect(await code({ opcode: OP.read, size: READ, session: 9 })).to.equal(NAK.invalidSession);
    expect(await code({ opcode: OP.read, size: READ })).to.equal(undefined);
    expect(await code({ opcode: OP.read, size: READ + 1 })).to.equal(2);
    const second = new FtpClient(new SimClient(client.socket, 254));
    const { data } = await second.ask({ opcode: OP.open, path: PARAMS });
    expect(data[0]).to.equal(NAK.noSessions);
    expect(await code({ opcode: OP.reset })).to.equal(undefined);
    expect(await code({ opcode: OP.read, size: READ })).to.equal(NAK.fileNotFound);
  });

  it('takes a file, lists it, gives it back, and forgets it, armed or not', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.connect();
    await client.command(400, 1, 21196);
    const ftp = new FtpClient(client);
    const names = async (offset: number): Promise<string[]> => {
      const { data } = await ftp.ask({ opcode: OP.list, path: '/', offset });
      return data.toString('latin1').split('\0').filter(Boolean);
    };
    expect((await ftp.ask({ opcode: OP.create, path: '/one.lua' })).opcode).to.equal(OP.ack);
    for (const [offset, path] of [
      [0, 'abc'],
      [3, 'defg'],
    ] as const) {
      expect((await ftp.ask({ opcode: OP.write, offset, path })).opcode).to.equal(OP.ack);
    }
    await ftp.ask({ opcode: OP.terminate });
    expect(await names(0)).to.deep.equal(['D@PARAM', 'Fone.lua\t7']);
    expect(await names(1)).to.deep.equal(['Fone.lua\t7']);
    expect((await ftp.ask({ opcode: OP.list, path: '/', offset: 2 })).data[0]).to.equal(NAK.endOfFile);
    expect((await ftp.ask({ opcode: OP.list, path: '/none' })).data[0]).to.equal(NAK.fileNotFound);
    await ftp.ask({ opcode: OP.open, path: 'one.lua' });
    expect((await ftp.ask({ opcode: OP.read, size: READ })).data.toString('latin1')).to.equal('abcdefg');
    expect((await ftp.ask({ opcode: OP.write, path: 'x' })).data[0]).to.equal(NAK.invalidSession);
    await ftp.ask({ opcode: OP.terminate });
    expect((await ftp.ask({ opcode: OP.remove, path: '/one.lua' })).opcode).to.equal(OP.ack);
    expect(await names(0)).to.deep.equal(['D@PARAM']);
    await ftp.ask({ opcode: OP.create, path: '/big' });
    expect((await ftp.ask({ opcode: OP.write, offset: 1_000_000, path: 'x' })).data[0]).to.equal(NAK.fail);
  });

  it('is not there with --no-ftp, and not with parameters on PX4', async () => {
    await using without = await SimProcess.start('--no-ftp');
    const client = await without.connect();
    const version = client.next(standard.AutopilotVersion);
    await client.command(520, 1);
    expect(BigInt((await version).capabilities) & 32n).to.equal(0n);
    new FtpClient(client).send({ opcode: OP.open, path: PARAMS });
    await client.command(520, 1);
    expect(client.packets.filter(({ header }) => header.msgid === 110)).to.deep.equal([]);

    await using px4 = await SimProcess.start('--firmware', 'px4');
    const ftp = new FtpClient(await px4.connect());
    const { opcode, data } = await ftp.ask({ opcode: OP.open, path: PARAMS });
    expect([opcode, data[0]]).to.deep.equal([OP.nack, NAK.fileNotFound]);
    const closed = await ftp.ask({ opcode: OP.read, size: READ });
    expect([closed.opcode, closed.data[0]]).to.deep.equal([OP.nack, NAK.invalidSession]);
  });
});
