import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openArchive } from '../../shared/plugins/archive.ts';
import { packFolder } from '../../shared/plugins/pack.ts';
import { PluginRefusal, type RefusalKind } from '../../shared/plugins/refusal.ts';
import {
  digestOf,
  parseSignature,
  readRevocations,
  readTrust,
  signDigest,
  signerOf,
  verifySignature,
} from '../../shared/plugins/signature.ts';
import {
  FILES,
  type Files,
  MANIFEST,
  type RawEntry,
  rawZip,
  writeArchive,
} from '../support/foreign-archives.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const MIB = 1024 * 1024;
const GOOD: readonly RawEntry[] = Object.entries(FILES).map(([name, content]) => ({ name, content }));
const BINARY_MANIFEST = MANIFEST.replace('runtime: node', 'runtime: binary').replace(
  'agent/main.mjs',
  'agent/bin/demo',
);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const TRUST = { keys: new Map([['acme', publicKey]]), revoked: new Set<string>() };

describe('the archive of an extension', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await tempDir();
    file = join(folder, 'demo.svcplug');
  });
  afterEach(() => removeDir(folder));

  async function refusalOf(work: () => Promise<unknown>): Promise<{ kind: RefusalKind; text: string }> {
    try {
      await work();
    } catch (error) {
      if (error instanceof PluginRefusal) return { kind: error.kind, text: error.message };
      throw error;
    }
    throw new Error('nothing was refused');
  }

  /** Opens the archive, and lets it go. */
  async function open(path = file) {
    const archive = await openArchive(path);
    await archive.close();
    return archive;
  }

  describe('is refused before anything is unpacked', () => {
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919 + (i >> 3) * 31) & 0xff));
    const cases: Readonly<Record<string, readonly [entries: readonly RawEntry[], text: RegExp]>> = {
      'a name that leads out': [[...GOOD, { name: '../evil' }], /begins with \.\./],
      'a name that leads out in the middle': [[...GOOD, { name: 'agent/../../evil' }], /begins with \.\./],
      'a part that only begins with two dots': [[...GOOD, { name: 'agent/..evil' }], /begins with \.\./],
      'an absolute name': [[...GOOD, { name: '/etc/passwd' }], /absolute/],
      'a backslash': [[...GOOD, { name: 'agent\\evil' }], /backslash/],
      'a name with a drive': [[...GOOD, { name: 'C:/evil' }], /characters other/],
      'a name with a control character': [[...GOOD, { name: 'a\nb' }], /characters other/],
      'a name that ends in a null byte': [[...GOOD, { name: 'a.mjs\0.txt' }], /characters other/],
      'a name that is not ASCII': [[...GOOD, { name: 'agent/\xe4.mjs' }], /characters other/],
      'an empty name': [[...GOOD, { name: '' }], /no name/],
      'an empty part': [[...GOOD, { name: 'agent//x' }], /empty or a dot/],
      'a dot': [[...GOOD, { name: './agent/x' }], /empty or a dot/],
      'a name of 300 characters': [[...GOOD, { name: 'a'.repeat(300) }], /more than 240/],
      'a symbolic link': [[...GOOD, { name: 'link', content: '/etc', mode: 0o120777 }], /symbolic link/],
      'a character device': [[...GOOD, { name: 'dev', mode: 0o020666 }], /character device/],
      'a block device': [[...GOOD, { name: 'dev', mode: 0o060666 }], /block device/],
      'a named pipe': [[...GOOD, { name: 'pipe', mode: 0o010666 }], /named pipe/],
      'a socket': [[...GOOD, { name: 'sock', mode: 0o140666 }], /socket/],
      'a folder with the name of a file': [[...GOOD, { name: 'x', mode: 0o040755 }], /folder with the name/],
      'a file with the name of a folder': [[...GOOD, { name: 'x/', mode: 0o100644 }], /file with the name/],
      'a folder with content': [[...GOOD, { name: 'x/', content: 'hidden', mode: 0o040755 }], /has content/],
      'the same name twice': [[...GOOD, ...GOOD], /two entries have the name/],
      'names that differ by case': [[...GOOD, { name: 'Agent/main.mjs' }], /differ only by case/],
      'a file that is also a folder': [[...GOOD, { name: 'agent' }], /file and a folder/],
      'a folder that is a file in another case': [[...GOOD, { name: 'AGENT' }], /file and a folder/],
      'an encrypted entry': [[...GOOD, { name: 'x', flags: 1 }], /encrypted/],
      'a strongly encrypted entry': [[...GOOD, { name: 'x', flags: 0x41 }], /encryption/],
      'an unknown compression': [[...GOOD, { name: 'x', content: 'x', method: 14 }], /method 14/],
      'an entry over 25 MiB': [
        [...GOOD, { name: 'x', content: 'x', size: 25 * MIB + 1 }],
        /more than 25 MiB/,
      ],
      'a bomb by its ratio': [[...GOOD, { name: 'x', content: Buffer.alloc(2 * MIB) }], /a bomb/],
      'a bomb of many entries': [
        [...GOOD, ...many(1999, (i) => ({ name: `f${i}` }))],
        /2001 entries, and may have 2000/,
      ],
      'a bomb by its total': [
        [...GOOD, ...many(120, (i) => ({ name: `f${i}`, content: noise, size: MIB }))],
        /more than 100 MiB together/,
      ],
      'entries that share their bytes': [
        [
          // The file x is stored, and is itself the entry y: header of 30 bytes, name of one.
          { name: 'x', content: rawZip([{ name: 'y', content: 'hidden' }]).subarray(0, 39), method: 0 },
          { name: 'y', content: 'hidden', at: 31 },
          ...GOOD,
        ],
        /share the same bytes/,
      ],
      'another name in the local header': [
        [...GOOD, { name: 'y', localName: 'z', content: 'x' }],
        /headers of y do not agree/,
      ],
      'another size in the local header': [
        [...GOOD, { name: 'y', content: 'xx', centralSize: 1 }],
        /headers of y do not agree/,
      ],
      'sizes of 64 bits': [[...GOOD, { name: 'y', extra: Buffer.from([1, 0, 0, 0]) }], /ZIP64/],
      'a second name': [[...GOOD, { name: 'y', extra: Buffer.from([0x75, 0x70, 0, 0]) }], /second name/],
      "the name of the node's own file": [[...GOOD, { name: '.attestation.json' }], /node itself/],
      'a signature in small letters': [[...GOOD, { name: 'signature' }], /nearly the name/],
      'no manifest': [GOOD.slice(1), /no manifest\.yaml/],
      'a manifest in a folder': [[{ name: 'x/manifest.yaml', content: MANIFEST }], /no manifest\.yaml/],
      'no entry point': [GOOD.slice(0, 1), /agent\/main\.mjs, which its manifest names/],
      'a manifest with a wrong checksum': [
        [{ name: 'manifest.yaml', content: MANIFEST, crc: 1 }, ...GOOD.slice(1)],
        /checksum of manifest\.yaml/,
      ],
    };
    for (const [name, [entries, text]] of Object.entries(cases))
      it(name, async () => {
        await writeFile(file, rawZip(entries));
        expect(await refusalOf(() => open())).to.deep.include({ kind: 'archive_invalid' });
        expect((await refusalOf(() => open())).text).to.match(text);
      });

    for (const [name, bytes] of Object.entries({
      'an empty file': Buffer.alloc(0),
      'no archive at all': Buffer.from('hello'.repeat(100)),
      'an archive that is cut short': rawZip(GOOD).subarray(0, -30),
      'an archive behind 512 other bytes': rawZip(GOOD, { before: 512 }),
      'an archive that claims more entries than it has': rawZip(GOOD, { count: 3 }),
    }))
      it(name, async () => {
        await writeFile(file, bytes);
        expect((await refusalOf(() => open())).kind).to.equal('archive_invalid');
      });

    it('an archive over 50 MiB, by its size alone', async () => {
      await writeFile(file, '');
      await truncate(file, 50 * MIB + 1);
      expect((await refusalOf(() => open())).kind).to.equal('archive_too_large');
    });

    it('what is no plain file, and what is not there', async () => {
      await writeFile(file, rawZip(GOOD));
      await symlink(file, join(folder, 'link'));
      expect((await refusalOf(() => open(join(folder, 'link')))).kind).to.equal('archive_invalid');
      expect((await refusalOf(() => open(join(folder, 'none')))).kind).to.equal('host_io_error');
    });

    it('a manifest that is too large, no text, or invalid, with every violation', async () => {
      for (const [content, text] of [
        [`${MANIFEST}extra: {a: "${'x'.repeat(64 * 1024)}"}\n`, /more than 65536/],
        [Buffer.from([0x69, 0xff, 0xfe]), /not UTF-8/],
        ['id: x\nversion: 1\n', /and \d more/],
      ] as const) {
        await writeArchive(file, { ...FILES, 'manifest.yaml': content });
        const refusal = await refusalOf(() => open());
        expect(refusal.kind).to.equal('manifest_invalid');
        expect(refusal.text).to.match(text);
      }
    });
  });

  it('is read, whoever packed it, with its folders and its signature left out of the files', async () => {
    await writeFile(
      file,
      rawZip([
        { name: 'agent/', mode: 0o040755 },
        { name: 'empty/', mode: 0 },
        ...GOOD,
        { name: 'SIGNATURE', content: 'acme\nx\n', method: 0 },
      ]),
    );
    const archive = await open();
    expect(archive.entries.map(({ path }) => path)).to.deep.equal(['agent/main.mjs', 'manifest.yaml']);
    expect(archive.signatureText).to.equal('acme\nx\n');
    expect(archive.manifest.id).to.equal('org.example.demo');
    expect(archive.manifestText).to.equal(MANIFEST);
    expect(archive.unpackedSize).to.equal(MANIFEST.length + 11);
  });

  for (const [name, lie] of Object.entries({
    'a file that is larger than both headers say': { size: 10 },
    'a file that is smaller than both headers say': { size: 2000 },
    'a file with a wrong checksum': { crc: 7 },
  }))
    it(`${name} is found while it is read, by the digest and when it is unpacked`, async () => {
      await writeFile(file, rawZip([...GOOD, { name: 'data', content: 'x'.repeat(1000), ...lie }]));
      const archive = await openArchive(file);
      expect((await refusalOf(() => archive.digest())).kind).to.equal('archive_invalid');
      expect((await refusalOf(() => archive.unpack(join(folder, 'out')))).kind).to.equal('archive_invalid');
      await archive.close();
    });

  it('is unpacked with plain modes; only what the manifest names as a program can be executed', async () => {
    const entries = [
      { name: 'manifest.yaml', content: BINARY_MANIFEST },
      { name: 'agent/bin/demo', content: '#!/bin/sh\n', mode: 0o100600 },
      { name: 'agent/other', content: 'x', mode: 0o104777 },
    ];
    await writeFile(file, rawZip(entries));
    const archive = await openArchive(file);
    const seen: number[] = [];
    const previous = process.umask(0o077);
    await archive
      .unpack(join(folder, 'out'), (done) => seen.push(done))
      .finally(() => process.umask(previous));
    const mode = async (path: string) => (await stat(join(folder, 'out', path))).mode & 0o7777;
    expect(await mode('agent/bin/demo')).to.equal(0o755);
    expect(await mode('agent/other')).to.equal(0o644);
    expect(await mode('manifest.yaml')).to.equal(0o644);
    expect(await mode('agent/bin')).to.equal(0o755);
    expect(await mode('.')).to.equal(0o755);
    expect(await readFile(join(folder, 'out/manifest.yaml'), 'utf8')).to.equal(BINARY_MANIFEST);
    expect(seen.at(-1)).to.equal(archive.unpackedSize);
    await archive.close();
  });

  it('never overwrites or follows what is there already', async () => {
    await writeArchive(file, FILES);
    const archive = await openArchive(file);
    const out = join(folder, 'out');
    await mkdir(out);
    await mkdir(join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), join(out, 'agent'));
    const error = await archive.unpack(out).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.include({ code: 'EEXIST' });
    await archive.close();
  });

  it('stops when it is told to', async () => {
    await writeArchive(file, FILES);
    const archive = await openArchive(file);
    const reason = new Error('enough');
    const error = await archive.digest(AbortSignal.abort(reason)).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.equal(reason);
    await archive.close();
  });

  describe('is packed', () => {
    async function project(files: Files): Promise<string> {
      const root = join(folder, 'project');
      for (const [path, content] of Object.entries(files)) {
        await mkdir(join(root, path, '..'), { recursive: true });
        await writeFile(join(root, path), content);
      }
      return root;
    }

    it('to the same bytes each time, without what an author has beside it, and opens as it was signed', async () => {
      const root = await project({
        ...FILES,
        SIGNATURE: 'old',
        'node_modules/x/y.js': 'x',
        'gcs/src/a.ts': 'x',
        'tests/a.mjs': 'x',
        '.git/config': 'x',
        'package.json': '{}',
        'esbuild.config.mjs': 'x',
        'old.svcplug': 'x',
        'agent/package.json': '{}',
      });
      const sign = { key: privateKey, signer: 'acme' };
      const packed = await packFolder(root, { sign }, file);
      expect(packed.files).to.deep.equal(['agent/main.mjs', 'agent/package.json', 'manifest.yaml']);
      await packFolder(root, { sign }, join(folder, 'again'));
      expect(await readFile(join(folder, 'again'))).to.deep.equal(await readFile(file));
      const archive = await openArchive(file);
      expect(await signerOf(archive, TRUST)).to.deep.equal({ signer: 'acme' });
      await archive.close();
    });

    it('to nothing at all when a node would refuse it, or would give away a key', async () => {
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      for (const [files, text] of [
        [{ 'agent/a b': 'x' }, /characters other/],
        [{ 'agent/key.txt': key }, /private key/],
        [{ 'manifest.yaml': 'id: x' }, /manifest is refused/],
        [{ 'agent/Main.mjs': 'x' }, /differ only by case/],
      ] as const) {
        const root = await project({ ...FILES, ...files });
        expect((await refusalOf(() => packFolder(root, {}, file))).text).to.match(text);
        await removeDir(root);
      }
      const root = await project(FILES);
      await symlink('/etc/passwd', join(root, 'agent/link'));
      expect((await refusalOf(() => packFolder(root, {}, file))).text).to.match(
        /neither a file nor a folder/,
      );
      expect(await stat(file).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
    });
  });

  describe('its signature', () => {
    const digest = digestOf([
      { path: 'b', sha256: '22' },
      { path: 'B', sha256: '11' },
    ]);

    it('is over the hashes of all files in the order of code points', () => {
      expect(
        digestOf([
          { path: 'B', sha256: '11' },
          { path: 'b', sha256: '22' },
        ]),
      ).to.deep.equal(digest);
      expect(digest.toString('hex')).to.equal(
        'b77d123c7409999272fa3ff1e4f7c17f0de7720a9b90d632dab703698ae4bb8d',
      );
    });

    it('verifies with the key that made it, and with no other', () => {
      const { signer, signature } = parseSignature(signDigest(digest, privateKey, 'acme'));
      expect(signer).to.equal('acme');
      expect(verifySignature(digest, signature, publicKey)).to.equal(true);
      expect(verifySignature(digest, signature, generateKeyPairSync('ed25519').publicKey)).to.equal(false);
      expect(verifySignature(Buffer.alloc(32), signature, publicKey)).to.equal(false);
    });

    for (const text of [
      '',
      'acme',
      'acme\nx',
      `acme\n${'A'.repeat(88)}`,
      `../x\n${Buffer.alloc(64).toString('base64')}`,
      `acme\n${Buffer.alloc(64).toString('base64')}\nmore`,
      `\ufeffacme\n${Buffer.alloc(64).toString('base64')}`,
      `acme\u00a0\n${Buffer.alloc(64).toString('base64')}`,
    ])
      it(`is not read from ${JSON.stringify(text.slice(0, 30))}`, async () => {
        expect((await refusalOf(async () => parseSignature(text))).kind).to.equal('signature_invalid');
      });

    it('is refused as missing, revoked, unknown or invalid, in this order', async () => {
      const signed = (signatureText: string | null) => ({ signatureText, digest: async () => ({ digest }) });
      const good = signDigest(digest, privateKey, 'acme');
      const wrong = signDigest(Buffer.alloc(32), privateKey, 'acme');
      const revoked = { keys: new Map(), revoked: new Set(['acme']) };
      const cases = [
        [null, TRUST, 'signature_missing'],
        [wrong, revoked, 'signature_revoked'],
        [wrong, { keys: new Map(), revoked: new Set<string>() }, 'signature_unknown_signer'],
        [wrong, TRUST, 'signature_invalid'],
      ] as const;
      for (const [text, trust, kind] of cases)
        expect((await refusalOf(() => signerOf(signed(text), trust))).kind).to.equal(kind);
      expect(await signerOf(signed(good), TRUST)).to.deep.equal({ signer: 'acme' });
      const lax = { required: false };
      expect(await signerOf(signed(null), TRUST, lax)).to.deep.equal({ signer: null });
      expect(await signerOf(signed(wrong), { ...TRUST, keys: new Map() }, lax)).to.deep.equal({
        signer: null,
      });
      expect((await refusalOf(() => signerOf(signed(wrong), TRUST, lax))).kind).to.equal('signature_invalid');
      expect((await refusalOf(() => signerOf(signed(good), revoked, lax))).kind).to.equal(
        'signature_revoked',
      );
    });

    it('is held against the keys in a folder; a broken one is skipped with a sentence', async () => {
      const pem = publicKey.export({ type: 'spki', format: 'pem' });
      const rsa = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
        type: 'spki',
        format: 'pem',
      });
      await writeFile(join(folder, 'acme.pem'), pem);
      await writeFile(join(folder, 'broken.pem'), 'x');
      await writeFile(join(folder, 'curve.pem'), rsa);
      await writeFile(join(folder, 'secret.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
      await writeFile(join(folder, 'README'), 'x');
      await symlink(join(folder, 'acme.pem'), join(folder, 'linked.pem'));
      await writeFile(join(folder, 'open.pem'), pem);
      await chmod(join(folder, 'open.pem'), 0o666);
      const { keys, problems } = await readTrust(folder);
      expect([...keys.keys()]).to.deep.equal(['acme']);
      expect(problems).to.have.length(5);
      expect(problems.join('\n'))
        .to.match(/linked\.pem is a symbolic link/)
        .and.match(/open\.pem is open to others/);
      expect((await readTrust(join(folder, 'none'))).keys.size).to.equal(0);
    });

    it('counts nobody as revoked without a list, and stops at a list that cannot be read', async () => {
      const list = join(folder, 'revoked.json');
      expect((await readRevocations(list)).size).to.equal(0);
      await writeFile(list, '["acme"]');
      expect([...(await readRevocations(list))]).to.deep.equal(['acme']);
      for (const text of ['', '{}', '[1]', '["a"']) {
        await writeFile(list, text);
        const error = await readRevocations(list).then(
          () => null,
          (reason: unknown) => reason,
        );
        expect(String(error)).to.include(list);
      }
    });
  });
});

function many(count: number, make: (index: number) => RawEntry): RawEntry[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
