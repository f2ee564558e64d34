import { expect } from 'chai';
import type { Encoder, FtpRequest } from '../../front/link/encode.ts';
import { FTP_PRIORITY, FtpClient } from '../../front/link/ftp/ftp-client.ts';
import type { Vehicle } from '../../front/link/vehicle/vehicle.ts';
import { VehicleMessages } from '../../front/link/vehicle/vehicle-messages.ts';
import { FakeClock } from './fake-clock.ts';

const OPEN = 4;
const BURST = 15;
const TERMINATE = 1;

/** A client and what it sent. */
function client(): {
  readonly ftp: FtpClient;
  readonly sent: FtpRequest[];
  readonly opened: () => readonly string[];
} {
  const sent: FtpRequest[] = [];
  const messages = new VehicleMessages();
  const vehicle = { target: { system: 1, component: 1 }, alive: true, messages } as unknown as Vehicle;
  const encoder = {
    ftp: (_target: unknown, request: FtpRequest) => {
      sent.push(request);
      return Buffer.alloc(0);
    },
  } as unknown as Encoder;
  const ftp = new FtpClient({ clock: new FakeClock(), vehicle, encoder, ask: () => undefined });
  const opened = (): readonly string[] =>
    sent.filter(({ opcode }) => opcode === OPEN).map((request) => request.data.toString());
  return { ftp, sent, opened };
}

function answer(
  ftp: FtpClient,
  { seq }: FtpRequest,
  reqOpcode: number,
  nak: number | null,
  data = Buffer.alloc(0),
): void {
  ftp.onMessage({
    targetSystem: 1,
    targetComponent: 191,
    seq: (seq + 1) & 0xffff,
    session: 0,
    opcode: nak === null ? 128 : 129,
    reqOpcode,
    burstComplete: true,
    offset: 0,
    data: nak === null ? data : Buffer.of(nak),
  });
}

describe('the FTP client', () => {
  it('goes on with the next file when whoever asked for one throws', () => {
    const { ftp, sent, opened } = client();
    ftp.read('first', FTP_PRIORITY.metadata, () => {
      throw new Error('no');
    });
    const ended: boolean[] = [];
    ftp.read('second', FTP_PRIORITY.metadata, (_file, refused) => ended.push(refused));
    const request = sent.at(-1);
    if (request === undefined) throw new Error('nothing was asked for');
    expect(() => answer(ftp, request, OPEN, 10)).to.throw('no');
    expect(opened()).to.deep.equal(['first', 'second']);
    const next = sent.at(-1);
    if (next === undefined) throw new Error('nothing was asked for');
    answer(ftp, next, OPEN, 10);
    expect(ended).to.deep.equal([true]);
  });

  it('reads one file after the other; parameters take the place of descriptions, which begin again', () => {
    const { ftp, sent, opened } = client();
    const ended: string[] = [];
    const read = (path: string, priority: number): (() => void) =>
      ftp.read(path, priority, (file, refused) =>
        ended.push(`${path} ${file === null ? 'no' : 'yes'} ${refused}`),
      );
    read('events', FTP_PRIORITY.metadata);
    read('described', FTP_PRIORITY.metadata);
    read('params', FTP_PRIORITY.params);
    expect(opened()).to.deep.equal(['events', 'params']);
    const refuse = (): void =>
      answer(ftp, sent.findLast(({ opcode }) => opcode === OPEN) ?? expect.fail(), OPEN, 10);
    refuse();
    expect(opened()).to.deep.equal(['events', 'params', 'described']);
    refuse();
    refuse();
    expect(opened().slice(3)).to.deep.equal(['events']);
    expect(ended).to.deep.equal(['params no true', 'described no true', 'events no true']);
    const numbers = sent.map(({ seq }) => seq);
    expect(new Set(numbers).size, 'no sequence number twice').to.equal(numbers.length);
  });

  it('a cancelled one ends its session without an answer, and the next begins', () => {
    const { ftp, sent, opened } = client();
    const ended: string[] = [];
    const cancel = ftp.read('one', FTP_PRIORITY.metadata, () => ended.push('one'));
    const drop = ftp.read('two', FTP_PRIORITY.metadata, () => ended.push('two'));
    ftp.read('three', FTP_PRIORITY.metadata, () => ended.push('three'));
    answer(ftp, sent[0] ?? expect.fail(), OPEN, null, Buffer.alloc(4));
    expect(sent.at(-1)).to.include({ opcode: BURST });
    drop();
    cancel();
    expect(sent.filter(({ opcode }) => opcode === TERMINATE)).to.have.length(1);
    expect(opened()).to.deep.equal(['one', 'three']);
    expect(ended).to.deep.equal([]);
  });

  it('a vehicle that still has a file open is told to close it, eight times, then it is given up', () => {
    for (const code of [1, 4, 5]) {
      const { ftp, sent, opened } = client();
      const ended: boolean[] = [];
      ftp.read('file', FTP_PRIORITY.metadata, (file) => ended.push(file !== null));
      for (let turn = 0; turn < 9; turn++)
        answer(ftp, sent.findLast(({ opcode }) => opcode === OPEN) ?? expect.fail(), OPEN, code);
      expect(opened(), `NAK ${code}`).to.have.length(9);
      expect(sent.filter(({ opcode }) => opcode === 2)).to.have.length(8);
      expect(ended).to.deep.equal([false]);
    }
  });

  it('what waits is bounded', () => {
    const { ftp } = client();
    let refused = 0;
    for (let each = 0; each < 12; each++) ftp.read(`file ${each}`, FTP_PRIORITY.metadata, () => refused++);
    expect(refused).to.equal(3); // one runs, eight wait
  });
});
