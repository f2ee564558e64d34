import { expect } from 'chai';
import fc from 'fast-check';
import { checkPicture } from '../../residual/web/src/map/tile-picture.ts';
import { plainPng } from '../support/pmtiles.ts';

/** Heads of pictures, as their formats have them; what follows is never looked at. */
const png = (width: number, height: number): Buffer => {
  const head = Buffer.from(plainPng(1, [0, 0, 0]));
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
};
const jpeg = (width: number, height: number): Buffer => {
  const frame = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc2001108000000000301', 'hex');
  frame.writeUInt16BE(height, 25);
  frame.writeUInt16BE(width, 27);
  return frame;
};
const riff = (chunk: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), Buffer.from(chunk), Buffer.alloc(4), body]);
const vp8 = (width: number, height: number): Buffer => {
  const body = Buffer.alloc(10);
  body.writeUInt16LE(width, 6);
  body.writeUInt16LE(height, 8);
  return riff('VP8 ', body);
};
const vp8l = (width: number, height: number): Buffer => {
  const body = Buffer.alloc(5);
  body[0] = 0x2f;
  body.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  return riff('VP8L', body);
};
const vp8x = (width: number, height: number): Buffer => {
  const body = Buffer.alloc(10);
  body.writeUIntLE(width - 1, 4, 3);
  body.writeUIntLE(height - 1, 7, 3);
  return riff('VP8X', body);
};
const avif = (width: number, height: number): Buffer => {
  const body = Buffer.alloc(64);
  body.write('ftypavif', 4, 'latin1');
  body.write('ispe', 20, 'latin1');
  body.writeUInt32BE(width, 28);
  body.writeUInt32BE(height, 32);
  return body;
};

describe('tiles before the browser decodes them', () => {
  for (const [name, of] of Object.entries({ png, jpeg, vp8, vp8l, vp8x, avif })) {
    it(`${name}: as large as a tile may be, and no larger`, () => {
      for (const [width, height] of [
        [1, 1],
        [256, 256],
        [512, 256],
        [1024, 1024],
      ] as const)
        expect(() => checkPicture(of(width, height)), `${width}×${height}`).to.not.throw();
      for (const [width, height] of [
        [1025, 256],
        [256, 1025],
        [16_000, 16_000],
      ] as const)
        expect(() => checkPicture(of(width, height)), `${width}×${height}`).to.throw(/pixels/);
    });
  }

  it('nothing that is no picture, is cut off or too heavy is handed on', () => {
    for (const [bytes, why] of [
      [Buffer.alloc(0), /no picture/],
      [Buffer.from('<!doctype html><title>Sign in to the hotel</title>'), /no picture/],
      [png(256, 256).subarray(0, 20), /no picture/],
      [jpeg(256, 256).subarray(0, 24), /no picture/],
      [vp8x(256, 256).subarray(0, 26), /no picture/],
      [png(0, 256), /pixels/],
      [Buffer.concat([png(256, 256), Buffer.alloc(5e6)]), /too large/],
    ] as const)
      expect(() => checkPicture(bytes), String(why)).to.throw(why);
  });

  it('whatever the bytes are, it ends with a word', () => {
    const heads = [png, jpeg, vp8, vp8l, vp8x, avif].map((of) => of(256, 256));
    fc.assert(
      fc.property(
        fc.constantFrom(...heads),
        fc.uint8Array({ maxLength: 80 }),
        fc.nat(40),
        (head, noise, cut) => {
          try {
            checkPicture(Buffer.concat([head.subarray(0, cut), noise]));
          } catch (error) {
            expect(error).to.be.instanceOf(Error);
            expect(String(error)).to.match(/a tile /);
          }
        },
      ),
    );
  });
});
