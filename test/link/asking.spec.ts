import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { Asking } from '../../front/link/asking.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { FakeClock } from './fake-clock.ts';
import { rawV2 } from './mavlink-samples.ts';
import { Rig, type RigOptions, type Sent } from './rig.ts';

const FTP = 110;
const EVENT = 410;
const CAPABILITY_FTP = 32;
const PX4 = 12;
const [OPEN, READ, BURST_READ] = [4, 5, 15];
/** Where a request has these in the payload of FTP, behind three bytes of addresses. */
const [SEQ_AT, OPCODE_AT] = [3, 6];
/** Without a bound it would never end. */
const MOST_ANSWERS = 30_000;

/** ACK of a request. @param block what it brings, at which offset */
function ftpAnswer(request: Sent, block: { readonly offset: number; readonly bytes: number }): Buffer {
  const payload = Buffer.alloc(254);
  const opcode = request.payload.readUInt8(OPCODE_AT);
  payload.set([0, 255, 191]);
  payload.writeUInt16LE((request.payload.readUInt16LE(SEQ_AT) + 1) & 0xffff, 3);
  payload.set([0, 128, block.bytes, opcode, 1], 5);
  payload.writeUInt32LE(block.offset, 11);
  payload.fill(7, 15, 15 + block.bytes);
  payload.writeUInt8(request.system, 1);
  return rawV2({ id: FTP, payload, extra: crcExtraOf(FTP) });
}

function eventNumbered(sequence: number): Buffer {
  const payload = Buffer.alloc(53);
  payload.writeUInt32LE(77, 0);
  payload.writeUInt16LE(sequence & 0xffff, 8);
  return rawV2({ id: EVENT, payload, extra: crcExtraOf(EVENT) });
}

const param = (index: number, count: number): MavLinkData => {
  const value = new common.ParamValue();
  value.paramId = `P${index}`;
  value.paramType = 9;
  value.paramIndex = index;
  value.paramCount = count;
  return value;
};

interface Nagging {
  readonly name: string;
  readonly options: RigOptions;
  /** Its answer to what the node sends. */
  readonly answer?: (rig: Rig, sent: Sent) => void;
  /** What it says by itself, each half second. */
  readonly says?: (rig: Rig, turn: number) => void;
}

const file = (bytes: number) => (rig: Rig, sent: Sent) => {
  if (sent.id !== FTP) return;
  const opcode = sent.payload.readUInt8(OPCODE_AT);
  if (opcode === OPEN) rig.transport.deliver(ftpAnswer(sent, { offset: 0, bytes: 4 }));
  if (opcode === READ || opcode === BURST_READ) rig.transport.deliver(ftpAnswer(sent, { offset: 0, bytes }));
};

const TABLE: readonly Nagging[] = [
  {
    name: 'a file whose parts are empty',
    options: { version: { capabilities: CAPABILITY_FTP } },
    answer: file(0),
  },
  {
    name: 'a file whose first part comes again and again',
    options: { version: { capabilities: CAPABILITY_FTP } },
    answer: file(40),
  },
  {
    name: 'parameters of which one comes for every index',
    options: {},
    answer: (rig, { id }) => {
      if (id === 20 || id === 21) rig.say(param(3, 900));
    },
  },
  {
    name: 'a number of parameters that changes with each',
    options: {},
    answer: (rig, { id }) => {
      if (id === 20 || id === 21) rig.say(param(3, 1 + (rig.sent.length % 9000)));
    },
  },
  {
    name: 'events whose numbers jump',
    options: { autopilot: PX4 },
    says: (rig, turn) => {
      for (let each = 0; each < 250; each++) rig.transport.deliver(eventNumbered((turn * 250 + each) * 100));
    },
  },
  { name: 'heartbeats alone', options: { version: null, ackStreams: false } },
  { name: 'no telemetry, although all is accepted', options: {} },
  {
    name: 'a clock that jumps about',
    options: {},
    says: (rig, turn) => rig.attitude((turn * 7_919_123) % 4_000_000),
  },
];

describe('what the node asks of a vehicle', () => {
  for (const { name, options, answer, says } of TABLE)
    it(`has an end: ${name}`, async () => {
      const rig = new Rig(options);
      let answers = 0;
      rig.onSent = (sent) => {
        if (answers++ < MOST_ANSWERS) answer?.(rig, sent);
      };
      await rig.meet();
      const asked = async (seconds: number): Promise<number> => {
        const before = rig.sent.length;
        for (let turn = 0; turn < seconds * 2; turn++) {
          says?.(rig, turn);
          await rig.live(500);
        }
        return rig.sent.slice(before).filter(({ id }) => id !== 0).length;
      };
      expect(await asked(30), 'at first').to.be.lessThan(30 * 40);
      await asked(270);
      expect(await asked(60), 'in the sixth minute').to.be.lessThan(60 * 3);
      await rig.link.stop();
    });

  it('says that a vehicle sends heartbeats alone', async () => {
    const rig = new Rig();
    await rig.meet();
    const said = (): readonly string[] => rig.state().problems.map(({ code }) => code);
    await rig.live(5000);
    expect(said()).to.deep.equal([]);
    await rig.live(60_000);
    expect(said()).to.deep.equal(['no_telemetry']);
    rig.attitude(90_000);
    await rig.live(1000);
    expect(said()).to.deep.equal([]);
    await rig.link.stop();
  });

  for (const [baud, most] of [
    [null, 60 + 200],
    [57_600, 60 + 37],
    [1200, 60 + 11],
  ] as const)
    it(`is so many a second, the rest waits, and no more than so many wait: ${baud ?? 'no'} baud`, async () => {
      const clock = new FakeClock();
      const sent: Buffer[] = [];
      const asking = new Asking({ clock, baud: () => baud, send: (bytes) => sent.push(bytes) > 0 });
      for (let each = 0; each < 300; each++) asking.ask(Buffer.of(each & 0xff));
      expect(sent).to.have.length(60);
      expect(asking.isFlooded).to.equal(false);
      for (let each = 0; each < 300; each++) asking.ask(Buffer.of(each & 0xff));
      expect(asking.isFlooded).to.equal(true);
      for (let tick = 0; tick < 10; tick++) {
        await clock.advance(100);
        asking.tick();
      }
      expect(sent.length).to.be.within(most - 2, most);
      expect(sent.map(([first]) => first)).to.deep.equal(sent.map((_, index) => index & 0xff));
      asking.onSession();
      await clock.advance(40_000);
      asking.tick();
      expect(sent.length).to.be.within(most - 2, most);
      expect(asking.isFlooded).to.equal(false);
    });
});
