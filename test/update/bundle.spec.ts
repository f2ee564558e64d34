import { createWriteStream, existsSync } from 'node:fs';
import { readdir, readFile, readlink, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { ZipFile } from 'yazl';
import { headerOf } from '../../deploy/package/bundle.ts';
import { isRecord } from '../../shared/member.ts';
import { runProgram } from '../../shared/process/run-program.ts';
import { openBundle } from '../../shared/update/bundle.ts';
import type { Manifest } from '../../shared/update/manifest.ts';
import { parseSecretKey, signText } from '../../shared/update/minisign.ts';
import { UpdateRefusal } from '../../shared/update/refusal.ts';
import { bundleOf, HERE, newKeys, publicKeysOf } from '../support/bundles.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const OF_A = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'; // SHA-256 of `a`
const A = { sha256: OF_A, mode: 0o644 } as const;

describe('bundle', () => {
  const keys = newKeys();
  const trusted = publicKeysOf(keys);
  let base: string;
  let made = 0;
  before(async () => {
    base = await tempDir();
  });
  after(async () => removeDir(base));

  const signed = (text: Buffer): string => signText(text, parseSecretKey(keys.secretText), 'x');
  interface Wrong {
    /** Of the header; null for no signature at all. */
    readonly sign?: (text: Buffer) => string | null;
    /** In place of what the header should say. */
    readonly header?: object;
    readonly compress?: boolean;
    readonly first?: readonly string[];
  }

  /** A bundle as a wrong maker, who has the key, could write it. */
  const archive = async (
    manifest: unknown,
    entries: Readonly<Record<string, string>>,
    { sign = signed, header = {}, compress = false, first }: Wrong = {},
  ): Promise<string> => {
    const file = join(base, `${made++}.svcup`);
    const zip = new ZipFile();
    const text = Buffer.from(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
    const paths = Object.keys(entries);
    const listed = Object.keys(
      (isRecord(manifest) && isRecord(manifest['files']) && manifest['files']) || {},
    );
    const bytes = paths
      .filter((path) => path.startsWith('tree/') && !path.startsWith('tree/l'))
      .reduce((sum, path) => sum + (entries[path]?.length ?? 0), 0);
    const right: unknown = JSON.parse(headerOf(text, listed.length, bytes).toString());
    const head = Buffer.from(JSON.stringify(Object.assign({}, right, header)));
    const signature = sign(head);
    const all: Record<string, Buffer> = {
      'header.json': head,
      ...(signature === null ? {} : { 'header.json.minisig': Buffer.from(signature) }),
      'manifest.json': text,
    };
    for (const name of first ?? Object.keys(all)) zip.addBuffer(all[name] ?? Buffer.of(), name, { compress });
    for (const [path, content] of Object.entries(entries))
      zip.addBuffer(Buffer.from(content), path, { compress: false });
    zip.end();
    await pipeline(zip.outputStream as Readable, createWriteStream(file));
    return file;
  };
  const manifestOf = (files: unknown, more = {}): unknown => ({
    product: 'svc',
    version: '1.0.0',
    arch: HERE,
    security_floor: 0,
    files,
    ...more,
  });
  /** @returns why it is refused; null if it is unpacked */
  const refusal = async (file: string, by = trusted): Promise<string | null> => {
    const folder = join(base, `out-${made++}`);
    try {
      const bundle = await openBundle(file, by);
      try {
        await bundle.unpack(folder, async () => Promise.resolve());
      } finally {
        await bundle.close();
      }
      return null;
    } catch (error) {
      if (error instanceof UpdateRefusal) return error.message;
      throw error;
    }
  };

  it('a tree comes out as it went in; the same tree gives the same bytes', async () => {
    const options = {
      version: '1.2.3',
      floor: 3,
      files: { 'a b/@c+d': 'content', 'a b/link': '->../bin/svc' },
    };
    const [tree, file] = [join(base, 'tree'), join(base, 'a.svcup')];
    const manifest = await bundleOf(tree, file, keys, options);
    expect(manifest).to.include({ version: '1.2.3', security_floor: 3 });
    const again = join(base, 'b.svcup');
    await bundleOf(join(base, 'tree-2'), again, keys, options);
    expect((await readFile(file)).equals(await readFile(again))).to.equal(true);
    const bundle = await openBundle(file, trusted);
    const out = join(base, 'out');
    let told = 0;
    await bundle.unpack(out, async (done) => {
      told = done;
      return Promise.resolve();
    });
    await bundle.close();
    expect(told).to.equal(bundle.unpackedBytes);
    expect(await readFile(join(out, 'a b/@c+d'), 'utf8')).to.equal('content');
    expect(await readlink(join(out, 'a b/link'))).to.equal('../bin/svc');
    expect((await stat(join(out, 'bin/svc'))).mode & 0o777).to.equal(0o755);
    expect((await stat(join(out, 'package.json'))).mode & 0o777).to.equal(0o644);
  });

  it('whatever is not plain is refused with its reason, and nothing is written beside the folder', async () => {
    const good = { 'tree/a': 'a' };
    const links = (of: Readonly<Record<string, string>>) =>
      [
        manifestOf(Object.fromEntries(Object.entries(of).map(([path, to]) => [path, { link: to }]))),
        Object.fromEntries(Object.entries(of).map(([path, to]) => [`tree/${path}`, to])),
        { header: { unpacked_bytes: 0 } },
      ] as const;
    const link = (to: string) => [manifestOf({ l: { link: to } }), { 'tree/l': to }] as const;
    const of = manifestOf({ a: A });
    const before = (await readdir(base)).length;
    const table: readonly (readonly [string, string])[] = [
      [
        'is not trusted here',
        await archive(of, good, {
          sign: (text) => signText(text, parseSecretKey(newKeys().secretText), 'x'),
        }),
      ],
      ['is not what the key', await archive(of, good, { sign: () => signed(Buffer.from('{}')) })],
      ['has no header.json.minisig', await archive(of, good, { sign: () => null })],
      ['no signature of minisign', await archive(of, good, { sign: () => 'x' })],
      ['has no header.json where', await archive(of, good, { first: ['manifest.json'] })],
      [
        'has no manifest.json where',
        await archive(of, good, { first: ['header.json', 'header.json.minisig'] }),
      ],
      ['header.json is compressed', await archive(of, good, { compress: true })],
      ['header.json has more than', await archive(of, good, { header: { more: 'x'.repeat(1024) } })],
      ['in its header, more', await archive(of, good, { header: { more: 1 } })],
      ['in its header, format', await archive(of, good, { header: { format: 1 } })],
      ['in its header, entries', await archive(of, good, { header: { entries: 60_001 } })],
      ['in its header, unpacked_bytes', await archive(of, good, { header: { unpacked_bytes: 2 ** 31 } })],
      [
        'in its header, manifest.bytes',
        await archive(of, good, { header: { manifest: { bytes: 2 ** 25, sha256: OF_A } } }),
      ],
      [
        'manifest.json has more than 9 bytes',
        await archive(of, good, { header: { manifest: { bytes: 9, sha256: OF_A } } }),
      ],
      [
        'its manifest is not the one that was signed',
        await archive(of, good, { header: { manifest: { bytes: 999, sha256: OF_A } } }),
      ],
      ['its manifest has 1 files', await archive(of, good, { header: { entries: 5 } })],
      ['it has 5 entries, and its header says 4', await archive(of, { ...good, 'tree/b': 'b' })],
      ['have 1 bytes together', await archive(of, good, { header: { unpacked_bytes: 2 } })],
      ['is no JSON', await archive('{', good)],
      ['product', await archive(manifestOf({ a: A }, { product: 'other' }), good)],
      ['version', await archive(manifestOf({ a: A }, { version: '../1' }), good)],
      ['version', await archive(manifestOf({ a: A }, { version: '1.0' }), good)],
      ['security_floor', await archive(manifestOf({ a: A }, { security_floor: -1 }), good)],
      ['not known', await archive(manifestOf({ a: A }, { more: 1 }), good)],
      ['files', await archive(manifestOf({ a: { ...A, mode: 0o4755 } }), good)],
      ['it has 4 entries', await archive(manifestOf({ a: A, b: A }), good)],
      ['is not in its manifest', await archive(manifestOf({ a: A }), { 'tree/b': 'b' })],
      ['is not in its manifest', await archive(manifestOf({ a: A }), { b: 'b' })],
      ['is not the file that was signed', await archive(manifestOf({ a: A }), { 'tree/a': 'b' })],
      ['is no path in its tree', await archive(manifestOf({ '../a': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ 'b/../../a': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ '/a': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ 'b//a': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ 'b/./a': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ 'b\\a': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ 'b\na': A }), good)],
      ['is no path in its tree', await archive(manifestOf({ ['a'.repeat(241)]: A }), good)],
      [
        'a file and a folder at once',
        await archive(manifestOf({ a: A, 'a/b': A }), { ...good, 'tree/a/b': 'a' }),
      ],
      [
        'a file and a folder at once',
        await archive(manifestOf({ l: { link: '.' }, 'l/a': A }), { 'tree/l': '.', 'tree/l/a': 'a' }),
      ],
      ['leads out of its tree', await archive(...link('../x'))],
      ['leads out of its tree', await archive(...link('/etc/passwd'))],
      ['leads out of its tree', await archive(...link('a/../../x'))],
      ['leads out of its tree', await archive(...links({ 'b/d': '..', l: 'b/d/../x' }))],
      ['leads out of its tree', await archive(...links({ 'b/c/d': '../..', 'b/l': 'c/d/../x' }))],
      ['leads out of its tree', await archive(...links({ l1: 'l2/../..', l2: '.' }))],
      ['leads out of its tree', await archive(...links({ l1: 'l2', l2: 'l1' }))],
    ];
    for (const [words, file] of table) expect(await refusal(file), words).to.include(words);
    const left = (await readdir(base)).filter((name) => !name.endsWith('.svcup') && !name.startsWith('out-'));
    expect(left.length).to.be.lessThanOrEqual(before);
    expect(existsSync(join(base, '..', 'a'))).to.equal(false);
    expect(await refusal(await archive(manifestOf({ a: A }), good))).to.equal(null);
  });

  it('cut off or changed anywhere, it is refused, or it is what was signed', async () => {
    const file = join(base, 'whole.svcup');
    await bundleOf(join(base, 'whole'), file, keys, { version: '1.0.0' });
    const whole = await readFile(file);
    const damaged = join(base, 'damaged.svcup');
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const bytes = Buffer.from(whole);
        bytes.writeUInt8(bytes.readUInt8(at) ^ bits, at);
        await writeFile(damaged, bytes);
        // A byte that nobody reads may change: a date, a local header.
        const why = await refusal(damaged);
        if (why !== null) expect(why).to.match(/refused|signature/i);
        await writeFile(damaged, whole);
        await truncate(damaged, at);
        expect(await refusal(damaged)).to.be.a('string');
      }),
      { numRuns: 60 },
    );
  });

  it('without a signature that counts, 59 000 entries cost no more than one', async function () {
    this.timeout(180_000);
    const costs = async (file: string, ...by: readonly string[]) => {
      const program = join(ROOT, 'test/support/open-bundle.ts');
      const out = await runProgram(process.execPath, [program, file, ...by], 120_000);
      return JSON.parse(out) as { readonly kib: number };
    };
    const few = await archive(manifestOf({ a: A }), { 'tree/a': 'a' });
    const names = Array.from({ length: 59_000 }, (_, at) => `tree/${at}-${'n'.repeat(100)}`);
    const many = await archive(manifestOf({ a: A }), Object.fromEntries(names.map((name) => [name, ''])));
    const least = await costs(few);
    // Also with the head of a bundle that is signed, and a tail of its own.
    for (const by of [[], [keys.publicText]]) {
      const { kib } = await costs(many, ...by);
      expect(kib - least.kib, 'KiB').to.be.lessThan(16 * 1024);
    }
  });

  it('links within the tree stay, also through another', async () => {
    const files = {
      b: { link: 'c/d' },
      'c/d/e': A,
      'c/x': A,
      l: { link: 'b/../x' },
      gone: { link: 'c/none' },
    };
    const entries = { 'tree/b': 'c/d', 'tree/c/d/e': 'a', 'tree/c/x': 'a', 'tree/l': 'b/../x' };
    const header = { unpacked_bytes: 2 };
    expect(
      await refusal(await archive(manifestOf(files), { ...entries, 'tree/gone': 'c/none' }, { header })),
    ).to.equal(null);
  });

  it('the manifest that is signed is the one that counts', async () => {
    const file = join(base, 'm.svcup');
    const manifest = await bundleOf(join(base, 'm'), file, keys, { version: '1.0.0' });
    const bundle = await openBundle(file, trusted);
    await bundle.close();
    expect(JSON.parse(bundle.manifestBytes.toString()) as Manifest).to.deep.equal(manifest);
  });
});
