import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { imageComment } from '../../shared/update/image-comment.ts';
import { digestOf, makeKeys, parseSecretKey, signText } from '../../shared/update/minisign.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const nowhere = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];
const IMAGE = randomBytes(300_000);

describe('svc image verify', function () {
  this.timeout(60_000); // each call is a process of its own
  let folder: string;
  let signature: string;
  let ofBundle: string;

  before(async () => {
    folder = await tempDir();
    await writeFile(join(folder, 'whole'), IMAGE);
    const ours = makeKeys(randomBytes(8));
    const key = parseSecretKey(ours.secretText);
    const digest = await digestOf(join(folder, 'whole'));
    signature = signText(digest, key, imageComment({ version: '2.0.0', board: 'pi', suite: 'trixie' }));
    ofBundle = signText(digest, key, 'svc 2.0.0 arm64');
    await writeFile(join(folder, 'ours.pub'), ours.publicText);
    await writeFile(join(folder, 'theirs.pub'), makeKeys(randomBytes(8)).publicText);
  });
  after(async () => removeDir(folder));

  const verify = async (name: string, bytes: Buffer, signed: string | null, ...flags: readonly string[]) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    if (signed !== null) await writeFile(`${path}.minisig`, signed);
    const key = flags.includes('--key') ? [] : ['--key', join(folder, 'ours.pub')];
    return svc(nowhere, 'image', 'verify', path, ...key, ...flags);
  };

  it('says what was signed', async () => {
    const { code, stdout } = await verify('good.img', IMAGE, signature, '--board', 'pi');
    expect(stdout).to.equal('Whole, and signed: svc 2.0.0 for pi, on Debian trixie.\n');
    expect(code).to.equal(EXIT.done);
  });

  it('refuses what is not whole, not signed, or for another board', async () => {
    const altered = Buffer.from(IMAGE);
    altered[200_000] = (altered[200_000] ?? 0) ^ 1;
    for (const [name, bytes, signed, flags, code, says] of [
      ['altered.img', altered, signature, [], EXIT.refused, 'It is not what the key'],
      ['cut.img', IMAGE.subarray(0, 299_999), signature, [], EXIT.refused, 'It is not what the key'],
      [
        'board.img',
        IMAGE,
        signature,
        ['--board', 'generic-arm64'],
        EXIT.refused,
        'It is for pi, not for generic-arm64.',
      ],
      ['bundle.img', IMAGE, ofBundle, [], EXIT.refused, 'What is signed is no image of svc'],
      [
        'key.img',
        IMAGE,
        signature,
        ['--key', join(folder, 'theirs.pub')],
        EXIT.refused,
        'which is not trusted here',
      ],
      ['text.img', IMAGE, 'nothing', [], EXIT.refused, 'no signature of minisign'],
      ['none.img', IMAGE, null, [], EXIT.usage, 'there is no such file'],
      ['pub.img', IMAGE, signature, ['--key', join(folder, 'whole')], EXIT.usage, 'whole: '],
    ] as const) {
      const answer = await verify(name, bytes, signed, ...flags);
      expect([answer.code, answer.stdout], name).to.deep.equal([code, '']);
      expect(answer.stderr.replaceAll(/[\s›]+/g, ' '), name).to.include(says);
    }
  });

  it('believes nobody where there is no key', async () => {
    const answer = await svc(nowhere, 'image', 'verify', join(folder, 'whole'));
    expect(answer.code).to.equal(EXIT.usage);
    expect(answer.stderr.replaceAll(/[\s›]+/g, ' ')).to.include('Give one: --key FILE');
  });
});
