import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { unxz } from '../../front/link/events/xz.ts';

const LIMIT = 4 * 1024 * 1024;
/** `printf 'svc svc svc svc svc' | xz --check=crc32` */
const SAMPLE = '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AASAApdADmdiIUeScC0AAAAAADMNH3aAAEiE9WyigOQQpkNAQAAAAABWVo=';

describe('unpacking .xz', () => {
  it('a file that xz has made', () => {
    expect(unxz(Buffer.from(SAMPLE, 'base64'), LIMIT).toString()).to.equal('svc svc svc svc svc');
  });

  it('whatever xz packs, as xz unpacks it; damaged or cut off it ends in an error and never hangs', function () {
    const pack = (bytes: Buffer, ...args: string[]): Buffer =>
      execFileSync('xz', ['-c', ...args], { input: bytes, maxBuffer: LIMIT });
    try {
      pack(Buffer.from('x'));
    } catch {
      this.skip(); // no xz on this machine
    }
    const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'));
    const mixed = Buffer.concat([text, randomBytes(70_000), text.subarray(0, 200_000)]);
    for (const bytes of [text, mixed, Buffer.alloc(300_000, 7), Buffer.alloc(0)]) {
      for (const args of [['-6'], ['-9e'], ['-1'], ['--lzma2=lc=0,lp=2,pb=0'], ['--block-size=50000']]) {
        expect(unxz(pack(bytes, ...args), LIMIT).equals(bytes), args.join()).to.equal(true);
      }
    }
    const packed = pack(mixed);
    expect(() => unxz(packed, 1000)).to.throw('too large');
    for (const length of [3, 20, 1000, packed.length >> 1]) {
      expect(() => unxz(packed.subarray(0, length), LIMIT), String(length)).to.throw();
    }
    for (let round = 0; round < 20; round++) {
      const damaged = Buffer.from(packed);
      for (let count = 0; count < 5; count++) damaged[30 + ((round * 977 + count * 613) % 5000)] = round * 11;
      try {
        unxz(damaged, LIMIT); // may come out as something else
      } catch (error) {
        expect(error).to.be.an.instanceOf(Error);
      }
    }
  });
});
