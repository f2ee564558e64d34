import { expect } from 'chai';
import {
  ardupilotmega,
  common,
  type MavLinkData,
  type MavLinkDataConstructor,
  MavLinkProtocolV2,
  minimal,
  standard,
} from 'node-mavlink';
import * as messages from '../../bin/sim/mavlink/messages.ts';
import { decode, encode, FrameReader, frame } from '../../bin/sim/mavlink/wire.ts';
import { seededRandom } from '../../shared/random.ts';

const random = seededRandom(7);
const library = new MavLinkProtocolV2(1, 1);
const classes = new Map<number, MavLinkDataConstructor<MavLinkData>>(
  [minimal, standard, common, ardupilotmega].flatMap(({ REGISTRY }) =>
    Object.values(REGISTRY).map((type) => [type.MSG_ID, type] as const),
  ),
);
/** Newer than the library. pymavlink and MAVSDK read PARAM_ERROR in test/clients. */
const NEWER: readonly messages.MessageType<object>[] = [
  messages.ParamError,
  messages.EscInfo,
  messages.EscStatus,
];
const own: readonly messages.MessageType<object>[] = Object.values(messages).filter(
  (type) => !NEWER.includes(type),
);

function anyValue({ kind, size }: messages.Field): number | bigint {
  if (kind === 'f') return Math.fround(random() * 100 - 50);
  return size === 8 ? BigInt(Math.floor(random() * 2 ** 40)) : Math.floor(random() * 127);
}

/** A message in which about a third of the fields is zero, so that trailing zeros are cut off now and then. */
function anyMessage(type: messages.MessageType<object>): object {
  const fields = type.FIELDS.map((field, i) => {
    if (i > 0 && random() < 0.3) return [field.name, zero(field)];
    if (field.kind === 'c') return [field.name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.slice(0, field.length - 1)];
    const array = Array.from({ length: field.length }, () => anyValue(field));
    return [field.name, field.length > 0 ? array : anyValue(field)];
  });
  return Object.fromEntries(fields);
}

function zero({ kind, size, length }: messages.Field): unknown {
  const one = size === 8 ? 0n : 0;
  return kind === 'c' ? '' : length > 0 ? Array.from({ length }, () => one) : one;
}

function libraryClass({
  MSG_ID,
  MSG_NAME,
}: messages.MessageType<object>): MavLinkDataConstructor<MavLinkData> {
  const type = classes.get(MSG_ID);
  if (type === undefined) throw new Error(`the library has no ${MSG_NAME}`);
  return type;
}

/** What the library frames; undefined where the payload is all zeros: it cuts that to nothing, MAVLink 2 keeps a byte. */
function byLibrary(type: messages.MessageType<object>, values: object, seq: number): Buffer | undefined {
  const message = Object.assign(new (libraryClass(type))(), values);
  const bytes = library.serialize(message, seq);
  return bytes[1] === 0 ? undefined : bytes;
}

describe('sim wire', () => {
  it('lays every message out as the library does', () => {
    expect(own.length).to.be.greaterThan(30);
    for (const type of own) {
      const theirs = libraryClass(type);
      expect(type, type.MSG_NAME).to.include({
        MSG_NAME: theirs.MSG_NAME,
        MAGIC_NUMBER: theirs.MAGIC_NUMBER,
        PAYLOAD_LENGTH: theirs.PAYLOAD_LENGTH,
      });
      const shape = theirs.FIELDS.map(({ name, offset, size, length }) => ({ name, offset, size, length }));
      const ours = type.FIELDS.map(({ name, offset, size, length }) => ({ name, offset, size, length }));
      expect(ours, type.MSG_NAME).to.deep.equal(shape);
    }
  });

  it('frames every message exactly as node-mavlink does', () => {
    for (const type of own) {
      for (let seq = 0; seq < 20; seq++) {
        const values = anyMessage(type);
        const ids = { sysid: 1, compid: 1, seq, msgid: type.MSG_ID };
        const bytes = frame(ids, encode(type, values), type.MAGIC_NUMBER);
        const theirs = byLibrary(type, values, seq);
        if (theirs !== undefined)
          expect(bytes.toString('hex'), type.MSG_NAME).to.equal(theirs.toString('hex'));
      }
    }
  });

  it('reads back every message that node-mavlink frames', () => {
    for (const type of own) {
      const values = anyMessage(type);
      const bytes = byLibrary(type, values, 1);
      if (bytes === undefined) continue;
      const [received] = new FrameReader().push(bytes, 0);
      if (received === undefined) throw new Error(`${type.MSG_NAME} is not read`);
      expect(decode(type, received), type.MSG_NAME).to.deep.equal(values);
    }
  });

  it('holds a value that its field cannot hold inside the field', () => {
    const payload = encode(messages.GlobalPositionInt, { lat: 1e12, vx: -1e6, alt: Number.NaN, hdg: -3 });
    const read = decode(messages.GlobalPositionInt, { msgid: 33, sysid: 1, compid: 1, payload });
    expect(read).to.include({ lat: 2 ** 31 - 1, vx: -32768, alt: 0, hdg: 0 });
  });

  it('finds frames that arrive byte by byte, between noise and behind false start bytes', () => {
    const values = anyMessage(messages.Attitude);
    const ids = { sysid: 1, compid: 1, seq: 0, msgid: 30 };
    const one = frame(ids, encode(messages.Attitude, values), messages.Attitude.MAGIC_NUMBER);
    const bytes = Buffer.concat([
      one,
      Buffer.from([1, 2, 0xfd, 3, 0, 0]),
      one,
      Buffer.from([0xfe]),
      one,
      one,
    ]);
    const reader = new FrameReader();
    const frames = [...bytes].flatMap((byte) => reader.push(Buffer.from([byte]), 0));
    expect(frames.map(({ msgid }) => msgid)).to.deep.equal([30, 30]);
    // The last false start claims more bytes than follow: after a pause the frames in it are found.
    expect(reader.push(one, 1000).map(({ msgid }) => msgid)).to.deep.equal([30, 30, 30]);
  });
});
