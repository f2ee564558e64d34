import { expect } from 'chai';
import { unxz } from '../../shared/files/xz.ts';

/** `printf 'svc svc svc svc svc' | xz --check=crc32` */
const SAMPLE = '/Td6WFoAAAFpIt42AgAhARYAAAB0L+Wj4AASAApdADmdiIUeScC0AAAAAADMNH3aAAEiE9WyigOQQpkNAQAAAAABWVo=';

describe('unpacking .xz', () => {
  const packed = Buffer.from(SAMPLE, 'base64');
  const failed = async (file: Buffer, limit = 1000) =>
    unxz(file, limit).then(
      () => null,
      (error: unknown) => error,
    );

  it('gives what xz has packed', async () => {
    expect((await unxz(packed, 1000)).toString()).to.equal('svc svc svc svc svc');
  });

  it('ends in an error for more than is wanted, for what is cut off, and for what is damaged', async () => {
    expect(await failed(packed, 18))
      .to.be.an('error')
      .with.property('message')
      .that.includes('larger than 18');
    for (const length of [0, 3, 20, packed.length - 1])
      expect(await failed(packed.subarray(0, length)), String(length)).to.be.an('error');
    const damaged = Buffer.from(packed);
    damaged[32] = 0;
    expect(await failed(damaged)).to.be.an('error');
  });
});
