import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { chmod, link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { leafNames, namesIn } from '../../front/control/tls/leaf-names.ts';
import { OwnCertificates } from '../../front/control/tls/own-certificates.ts';
import type { Pair } from '../../front/control/tls/pair.ts';
import { issueCertificate } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { messageOf } from '../../shared/errors.ts';
import { needs } from '../support/needs.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const HOSTS = ['svc-1a2b3c.local'];
const DAY = 24 * 3600 * 1000;
const NAMES = leafNames(HOSTS, {});

describe('the certificates that a node makes for itself', () => {
  let folder: string;
  let clock: number;
  const files = () => ({ authority: join(folder, 'authority.pem'), leaf: join(folder, 'leaf.pem') });
  const opened = async (hosts = HOSTS, renew = false): Promise<OwnCertificates> => {
    const own = new OwnCertificates(files(), () => clock);
    await own.open('svc test', hosts, renew);
    return own;
  };
  const leaf = async (names = NAMES): Promise<Pair> => (await opened()).leaf(names);
  beforeEach(async () => {
    folder = await tempDir();
    clock = Date.now();
  });
  afterEach(async () => removeDir(folder));

  it('hold over a restart, and their files are the owner’s alone', async () => {
    const first = await leaf();
    const bytes = await readFile(files().authority, 'utf8');
    expect((await leaf()).certificate.fingerprint256).to.equal(first.certificate.fingerprint256);
    expect(await readFile(files().authority, 'utf8')).to.equal(bytes);
    for (const file of Object.values(files())) expect(statSync(file).mode & 0o777, file).to.equal(0o600);
    expect(namesIn(first.certificate.subjectAltName)).to.deep.equal(NAMES);
  });

  it('are good for OpenSSL in its strict mode, and the authority for nothing but its own names and private networks', async function () {
    needs(this, 'openssl');
    await leaf();
    const text = readFileSync(files().authority, 'utf8');
    const authority = { certificate: text, key: text.slice(text.indexOf('-----BEGIN PRIVATE')) };
    const verify = (pem: string): string => {
      try {
        return execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', files().authority], {
          input: pem,
          encoding: 'utf8',
          stdio: ['pipe', 'pipe', 'pipe'],
        });
      } catch (error) {
        return (error as { stderr: string }).stderr;
      }
    };
    expect(verify(readFileSync(files().leaf, 'utf8'))).to.contain('OK');
    const { pem } = await certificateRequest(newCertificateKey());
    for (const name of ['example.com', 'other.local', '8.8.8.8', '2001:db8::1', '172.32.0.1']) {
      const stolen = await issueCertificate(authority, pem, { server: 'x', names: [name] }, clock);
      expect(verify(stolen), name).to.contain('permitted subtree violation');
    }
  });

  it('last at most 397 days, are renewed at two thirds, and outlive any clock', async () => {
    const first = await leaf();
    const span = first.certificate.validToDate.getTime() - first.certificate.validFromDate.getTime();
    expect(span).to.equal(397 * DAY);
    const { authority } = await opened();
    let before = first;
    // Without a battery it is 1970 until somebody says better; a GPS once said 2049.
    for (const [what, at, renewed] of [
      ['1970', 0, false],
      ['right again', clock, false],
      ['half of its time', clock + 190 * DAY, false],
      ['two thirds', clock + 270 * DAY, true],
      ['far ahead', clock + 9000 * DAY, true],
      ['right again', clock, true],
    ] as const) {
      clock = at;
      const now = await leaf();
      const same = now.certificate.fingerprint256 === before.certificate.fingerprint256;
      expect(same, what).to.equal(!renewed);
      if (at > DAY) {
        expect(now.certificate.validFromDate.getTime(), what).to.be.below(at);
        expect(now.certificate.validToDate.getTime(), what).to.be.above(at + 100 * DAY);
      }
      before = now;
    }
    expect((await opened()).authority).to.equal(authority);
  });

  it('made in 1970 they hold today', async () => {
    const today = clock;
    clock = 0;
    const { certificate } = await leaf();
    const authority = new X509Certificate((await opened()).authority);
    for (const each of [certificate, authority]) {
      expect(each.validFromDate.getTime()).to.be.at.most(today);
      expect(each.validToDate.getTime()).to.be.above(today);
    }
  });

  it('follow the addresses', async () => {
    const first = await leaf();
    const more = await leaf([...NAMES, '10.1.2.3']);
    expect(namesIn(more.certificate.subjectAltName)).to.include('10.1.2.3');
    expect((await leaf()).certificate.serialNumber).to.not.equal(first.certificate.serialNumber);
  });

  it('a new name: the authority follows it before there is an owner, and never after', async () => {
    const { authority } = await opened();
    const renamed = [...HOSTS, 'falcon.local'];
    const kept = await opened(renamed, false);
    expect(kept.authority).to.equal(authority);
    expect(kept.vouched(renamed)).to.deep.equal(HOSTS);
    const followed = await opened(renamed, true);
    expect(followed.authority).to.not.equal(authority);
    expect(followed.vouched(renamed)).to.deep.equal(renamed);
    expect((await opened(HOSTS, true)).authority).to.equal(followed.authority);
  });

  const damages: readonly (readonly [string, (file: string) => Promise<void>, RegExp])[] = [
    ['empty', async (file) => writeFile(file, ''), /has no certificate/],
    [
      'torn',
      async (file) => writeFile(file, (await readFile(file, 'utf8')).slice(0, 700)),
      /no (?:certificate|private key)/,
    ],
    ['noise', async (file) => writeFile(file, Buffer.alloc(4000, 7)), /has no certificate/],
    ['open to others', async (file) => chmod(file, 0o644), /open to others/],
    ['with a second name', async (file) => link(file, `${file}.other`), /second name/],
    [
      'with another key',
      async (file) => {
        const text = await readFile(file, 'utf8');
        await writeFile(file, text.slice(0, text.indexOf('-----BEGIN PRIVATE')) + newCertificateKey());
      },
      /not that of the certificate/,
    ],
    [
      'no authority',
      async (file) => writeFile(file, await readFile(join(folder, 'leaf.pem'))),
      /not a certificate authority/,
    ],
  ];
  for (const [what, damage, why] of damages)
    it(`an authority that is ${what} is told, and never overwritten`, async () => {
      await leaf();
      await damage(files().authority);
      const bytes = await readFile(files().authority);
      expect(await opened(HOSTS, true).then(() => 'opened', messageOf)).to.match(why);
      expect(await readFile(files().authority)).to.deep.equal(bytes);
    });

  it('a certificate that is damaged is made again', async () => {
    const first = await leaf();
    for (const damage of ['', first.chain, first.key, 'x'.repeat(4000)]) {
      await writeFile(files().leaf, damage);
      const { certificate } = await leaf();
      expect(certificate.checkIssued(new X509Certificate((await opened()).authority))).to.equal(true);
      expect(await readFile(files().leaf, 'utf8')).to.contain('BEGIN PRIVATE KEY');
    }
  });

  it('names are those below .local and addresses that are private, 32 at most', () => {
    const of = (...addresses: string[]) =>
      leafNames(['a.local'], {
        eth0: addresses.map((address) => ({ address }) as never),
      }).slice(4);
    expect(
      of('8.8.8.8', '10.0.0.1', 'fe80::1%eth0', '2001:db8::1', '::ffff:192.168.0.9', 'FD00::0:2'),
    ).to.deep.equal(['10.0.0.1', '192.168.0.9', 'fd00::2', 'fe80::1']);
    expect(of(...Array.from({ length: 99 }, (_, at) => `10.0.0.${at}`))).to.have.length(32);
  });
});
