import { expect } from 'chai';
import fc from 'fast-check';
import { leavingOut } from '../../bin/hub/database/leaving-out.ts';
import { storedObject } from '../../bin/hub/database/stored-object.ts';

describe('a batch of which some cannot be stored', () => {
  it('is written without them, each of the others once, and they are named', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(200)), fc.uniqueArray(fc.nat(200)), async (all, bad) => {
        const written: number[] = [];
        const leftOut: number[] = [];
        await leavingOut(
          all,
          async (part) => {
            if (part.some((each) => bad.includes(each)))
              throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
            written.push(...part);
          },
          (one) => leftOut.push(one),
        );
        expect(written).to.deep.equal(all.filter((each) => !bad.includes(each)));
        expect(leftOut).to.deep.equal(all.filter((each) => bad.includes(each)));
      }),
    );
  });

  it('is not written at all where the database is away: that is nobody’s fault', async () => {
    let tries = 0;
    const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const failed = await leavingOut(
      [1, 2, 3],
      async () => {
        tries++;
        throw away;
      },
      () => expect.fail('left out'),
    ).catch((error: unknown) => error);
    expect([failed, tries]).to.deep.equal([away, 1]);
  });

  it('what an earlier version stored, and nobody can walk through, is empty', () => {
    expect(storedObject(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`)).to.deep.equal({});
    expect(storedObject('{"a":1}')).to.deep.equal({ a: 1 });
  });
});
