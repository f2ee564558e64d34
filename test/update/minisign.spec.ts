import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../shared/process/run-program.ts';
import {
  makeKeys,
  parsePublicKey,
  parseSecretKey,
  signText,
  verifyText,
} from '../../shared/update/minisign.ts';
import { describeWith } from '../support/needs.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const RUN_MS = 15_000;

describeWith('minisign')('minisign', () => {
  const content = Buffer.from('what is signed\n');
  let folder: string;
  let file: string;
  before(async () => {
    folder = await tempDir();
    file = join(folder, 'content');
    await writeFile(file, content);
  });
  after(async () => removeDir(folder));
  const minisign = async (...args: readonly string[]) => runProgram('minisign', args, RUN_MS);

  for (const [name, flag] of [
    ['hashed first', '-H'],
    ['of the older kind', '-l'],
  ] as const)
    it(`what minisign has signed, ${name}, we verify`, async () => {
      const [open, secret] = [join(folder, `theirs${flag}.pub`), join(folder, `theirs${flag}.key`)];
      await minisign('-G', '-W', '-f', '-p', open, '-s', secret);
      await minisign('-S', flag, '-s', secret, '-m', file, '-t', 'svc 1.0.0 amd64');
      const key = parsePublicKey(await readFile(open, 'utf8'));
      const signature = await readFile(`${file}.minisig`, 'utf8');
      expect(verifyText(content, signature, [key])).to.equal('svc 1.0.0 amd64');
      const parsed = parseSecretKey(await readFile(secret, 'utf8'));
      expect(parsed.id).to.equal(key.id);
      expect(verifyText(content, signText(content, parsed, 'ours'), [key])).to.equal('ours');
    });

  it('what we have signed, with keys of ours, minisign verifies; and it signs with them', async () => {
    const { publicText, secretText } = makeKeys(randomBytes(8));
    const [open, secret] = [join(folder, 'ours.pub'), join(folder, 'ours.key')];
    await writeFile(open, publicText);
    await writeFile(secret, secretText);
    await writeFile(`${file}.minisig`, signText(content, parseSecretKey(secretText), 'a comment'));
    expect(await minisign('-V', '-p', open, '-m', file)).to.include('Trusted comment: a comment');
    await minisign('-S', '-s', secret, '-m', file);
    verifyText(content, await readFile(`${file}.minisig`, 'utf8'), [parsePublicKey(publicText)]);
  });

  it('a key with a password is refused in a sentence', () => {
    const bytes = Buffer.alloc(158);
    bytes.write('EdScB2', 'latin1');
    expect(() => parseSecretKey(`untrusted comment: x\n${bytes.toString('base64')}\n`)).to.throw(
      'The key has a password',
    );
  });

  it('whatever was changed is refused: content, comment, signature, key; and what is no signature', () => {
    const ours = makeKeys(randomBytes(8));
    const [key, other] = [
      parsePublicKey(ours.publicText),
      parsePublicKey(makeKeys(randomBytes(8)).publicText),
    ];
    const text = signText(content, parseSecretKey(ours.secretText), 'of version 1');
    verifyText(content, text, [other, key]);
    const lines = text.split('\n');
    const changed = (at: number, line: string) => lines.with(at, line).join('\n');
    const flipped = (line: string, byte: number) => {
      const bytes = Buffer.from(line, 'base64');
      bytes.writeUInt8(bytes.readUInt8(byte) ^ 1, byte);
      return bytes.toString('base64');
    };
    const [, first = '', , last = ''] = lines;
    for (const [of, signature, keys] of [
      [Buffer.from('what is signe\n'), text, [key]],
      [content, changed(2, 'trusted comment: of version 2'), [key]],
      [content, changed(2, 'comment: of version 1'), [key]],
      [content, changed(1, flipped(first, 0)), [key]], // E -> D: another kind
      [content, changed(1, flipped(first, 1)), [key]],
      [content, changed(1, flipped(first, 5)), [key]], // the id
      [content, changed(1, flipped(first, 40)), [key]],
      [content, changed(3, flipped(last, 40)), [key]],
      [content, changed(1, `${first}A`), [key]],
      [content, text, [other]],
      [content, text, []],
      [content, text, [{ ...other, id: key.id }]],
      [content, lines.slice(0, 2).join('\n'), [key]],
      [content, '', [key]],
    ] as const)
      expect(() => verifyText(of, signature, keys), signature).to.throw();
  });
});
