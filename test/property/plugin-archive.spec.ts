import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { memberOf } from '../../shared/member.ts';
import { openArchive } from '../../shared/plugins/archive.ts';
import { encodeFrame, FrameReader, type IpcMessage, MAX_FRAME_BYTES } from '../../shared/plugins/frames.ts';
import { PluginRefusal } from '../../shared/plugins/refusal.ts';
import { digestOf, type FileDigest, signDigest, signerOf } from '../../shared/plugins/signature.ts';
import { FILES, writeArchive } from '../support/foreign-archives.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const TRUST = { keys: new Map([['acme', publicKey]]), revoked: new Set<string>() };

describe('a signed archive', () => {
  let folder: string;
  let file: string;
  let bytes: Buffer;
  let signed: readonly FileDigest[];

  before(async () => {
    folder = await tempDir();
    file = join(folder, 'a.svcplug');
    const files = {
      ...FILES,
      'agent/data.txt': 'some data\n'.repeat(30),
      'assets/a.bin': Buffer.from([1, 2, 3]),
    };
    await writeArchive(file, files);
    const unsigned = await openArchive(file);
    signed = (await unsigned.digest()).files;
    await unsigned.close();
    await writeArchive(file, { ...files, SIGNATURE: signDigest(digestOf(signed), privateKey, 'acme') });
    bytes = await readFile(file);
  });
  after(() => removeDir(folder));

  /** What a node would install from these bytes, null when it refuses them. */
  async function read(
    mutated: Buffer,
  ): Promise<{ signer: string | null; files: readonly FileDigest[] } | null> {
    const path = join(folder, 'mutated.svcplug');
    await writeFile(path, mutated);
    try {
      const archive = await openArchive(path);
      try {
        const { signer } = await signerOf(archive, TRUST);
        return { signer, files: (await archive.digest()).files };
      } finally {
        await archive.close();
      }
    } catch (error) {
      if (error instanceof PluginRefusal) return null;
      throw error;
    }
  }

  it('verifies as it is', async () => {
    expect(await read(bytes)).to.deep.equal({ signer: 'acme', files: signed });
  });

  it('is refused, or has the signed content, whatever is changed in its bytes', async () => {
    const position = fc.nat({ max: bytes.length - 1 });
    const edit = fc.oneof(
      fc.record({ at: position, byte: fc.nat({ max: 255 }) }),
      fc.record({ at: position, remove: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ at: position, insert: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
      fc.record({ at: position, copyFrom: position, length: fc.integer({ min: 1, max: 200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        let mutated = Buffer.from(bytes);
        for (const change of edits) {
          const at = Math.min(change.at, mutated.length);
          if ('byte' in change) mutated[at] = change.byte;
          else if ('remove' in change)
            mutated = Buffer.concat([mutated.subarray(0, at), mutated.subarray(at + change.remove)]);
          else if ('insert' in change)
            mutated = Buffer.concat([mutated.subarray(0, at), change.insert, mutated.subarray(at)]);
          else bytes.copy(mutated, at, change.copyFrom, change.copyFrom + change.length);
        }
        const result = await read(mutated);
        if (result !== null) expect(result).to.deep.equal({ signer: 'acme', files: signed });
      }),
      { numRuns: 300 },
    );
  });
});

describe("the frames of an extension's socket", () => {
  const plain = fc.jsonValue({ maxDepth: 4 });
  const message: fc.Arbitrary<IpcMessage> = fc.oneof(
    fc.record({
      v: fc.constant(1 as const),
      t: fc.constant('event' as const),
      m: fc.string({ maxLength: 50 }),
      a: plain,
    }),
    fc.record({
      v: fc.constant(1 as const),
      t: fc.constant('request' as const),
      m: fc.string({ maxLength: 50 }),
      id: fc.oneof(fc.nat(), fc.string({ maxLength: 20 })),
      a: plain,
    }),
  );

  it('give the messages that were sent, wherever the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 5 }),
        fc.array(fc.nat({ max: 500 }), { maxLength: 20 }),
        (sent, cuts) => {
          fc.pre(!JSON.stringify(sent).includes('__proto__'));
          const stream = Buffer.concat(sent.map((one) => encodeFrame(one)));
          const reader = new FrameReader();
          const got: IpcMessage[] = [];
          let at = 0;
          for (const cut of [...cuts, stream.length]) {
            got.push(...reader.push(stream.subarray(at, at + cut)));
            at = Math.min(at + cut, stream.length);
          }
          got.push(...reader.push(stream.subarray(at)));
          expect(JSON.stringify(got)).to.equal(JSON.stringify(sent));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('end in an error or a message, never in anything else, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (body) => {
        const header = Buffer.alloc(4);
        header.writeUInt32BE(body.length);
        try {
          const [first] = new FrameReader().push(Buffer.concat([header, body]));
          expect(first?.v).to.equal(1);
        } catch (error) {
          expect(error).to.be.an('error');
        }
      }),
      { numRuns: 500 },
    );
  });

  const frame = (...body: number[]): Buffer => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(body.length);
    return Buffer.concat([header, Buffer.from(body)]);
  };
  const nested = Array.from({ length: 100_000 }, () => 0x91);
  const huge = Array.from({ length: 20_000 }, () => [0xdd, 0, 1, 0x38, 0x80]).flat();
  for (const [name, bytes, text] of [
    ['of no bytes', Buffer.alloc(4), /0 bytes/],
    ['that claims more than 4 MiB', Buffer.from([0x00, 0x40, 0x00, 0x01]), /4194305 bytes/],
    ['nested 100 000 deep', frame(...nested, 0xc0), /deeper/],
    ['of lists that claim more than there is', frame(...huge), /cut short|deeper/],
    ['that is a list', frame(0x90), /no message/],
    ['that is a number', frame(0x07), /no message/],
    ['of another version', encodeFrame({ v: 2, t: 'event', m: 'x' } as unknown as IpcMessage), /no message/],
    ['of an unknown kind', encodeFrame({ v: 1, t: 'shout', m: 'x' } as unknown as IpcMessage), /no message/],
    ['that asks without an id', encodeFrame({ v: 1, t: 'request', m: 'ping' }), /no message/],
    ['with bytes behind its message', frame(0x80, 0x80), /bytes after/],
    ['with a type of its own', frame(0xd4, 1, 2), /not used here/],
    ['with a prototype', frame(0x81, 0xa9, ...Buffer.from('__proto__'), 0x80), /__proto__/],
  ] as const)
    it(`are refused: one ${name}`, () => {
      expect(() => new FrameReader().push(bytes)).to.throw(text);
    });

  it('carry bytes and large messages, up to 4 MiB', () => {
    const payload = Buffer.alloc(3 * 1024 * 1024, 7);
    const [got] = new FrameReader().push(
      encodeFrame({ v: 1, t: 'event', m: 'mavlink', a: { frame: payload } }),
    );
    expect(payload.equals(memberOf(got?.a, 'frame') as Uint8Array)).to.equal(true);
    const tooLarge = { v: 1, t: 'event', m: 'x', a: Buffer.alloc(MAX_FRAME_BYTES) } as const;
    expect(() => encodeFrame(tooLarge)).to.throw(/larger than/);
  });
});
