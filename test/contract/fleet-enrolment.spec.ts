import 'reflect-metadata'; // asked for by @peculiar/x509, before it is loaded
import { createPrivateKey, webcrypto } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { expect } from 'chai';
import { Enrolment, type EnrolmentOptions } from '../../front/control/fleet/enrolment.ts';
import { issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import {
  CERTIFICATE_ALGORITHM,
  certificateRequest,
  newCertificateKey,
} from '../../shared/certificates/request.ts';
import { ApiError, type ErrorCode } from '../../shared/errors.ts';
import type { Enrolled } from '../../shared/fleet/hub-api.ts';
import { NotBelieved } from '../../shared/fleet/signed.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { FakeHub } from '../support/fake-hub.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const NODE = { id: '0000000000d1', name: 'kite', profile: 'drone', version: '0.1.0' } as const;
const DAY_MS = 24 * 3600 * 1000;
const QUICK = { checkMs: 10, firstMs: 10, capMs: 20 };

describe('enrolment with a fleet', () => {
  let dir = '';
  let paths: EnrolmentOptions['paths'];
  let hub: FakeHub;
  let enrolment: Enrolment;
  let now = Date.now();
  const policies: (readonly [string, string])[] = [];
  const started: Enrolment[] = [];

  const open = async (more: Partial<EnrolmentOptions> = {}): Promise<Enrolment> => {
    const made = new Enrolment({
      paths,
      node: NODE,
      onPolicy: async (jws, of) => {
        policies.push([jws, of]);
        return Promise.resolve();
      },
      now: () => now,
      random: () => 0,
      log: createLogger('test', 'silent'),
      ...more,
    });
    started.push(made);
    await made.start();
    return made;
  };

  beforeEach(async () => {
    dir = await tempDir();
    paths = {
      fleet: join(dir, 'fleet.json'),
      fleetPolicy: join(dir, 'fleet-policy.json'),
      fleetQueue: join(dir, 'fleet-queue.db'),
      flights: join(dir, 'flights'),
      fleetTurn: join(dir, 'fleet-turn.json'),
    };
    now = Date.now();
    policies.length = 0;
    hub = await FakeHub.start();
    enrolment = await open();
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
    await hub.stop();
    await removeDir(dir);
  });

  /** Refused with this code and a sentence, and nothing has changed. */
  const refuses = async (work: Promise<unknown>, code: ErrorCode, words: RegExp): Promise<void> => {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ApiError)) throw error ?? new Error('it was not refused');
    expect([error.code, error.message]).to.satisfy(
      ([found, message]: [string, string]) => found === code && words.test(message),
      `${error.code} ${error.message}`,
    );
  };
  const unchanged = async (): Promise<void> => {
    expect(enrolment.place()).to.equal(null);
    expect(enrolment.signing).to.equal(null);
    expect(policies).to.deep.equal([]);
    expect(await readFile(paths.fleet).catch(() => 'none')).to.equal('none');
  };
  const record = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(paths.fleet, 'utf8')) as Record<string, unknown>;
  const changed = async (of: Enrolment): Promise<void> =>
    new Promise((resolve) => {
      const off = of.onChange(() => {
        off();
        resolve();
      });
    });

  it('keeps certificate and keys in a file of its own user, and hands the policy over', async () => {
    await enrolment.enrol(hub.url, hub.code());
    expect(hub.paths).to.deep.equal(['/v1/ca', '/v1/enroll']);
    expect(hub.asked[0]?.body).to.equal('');
    expect(policies.map(([, of]) => of)).to.deep.equal(['enrolment']);
    expect((await stat(paths.fleet)).mode & 0o777).to.equal(0o600);
    expect(enrolment.place()).to.deep.include({
      node: NODE.id,
      name: NODE.name,
      profile: NODE.profile,
      version: NODE.version,
      fleet: 'f-test',
      brokers: ['mqtts://127.0.0.1:8883'],
      ca: hub.authority.certificate.trimEnd() + '\n',
    });
    expect(enrolment.signing?.publicJwk).to.deep.equal(hub.nodes.get(NODE.id));
    expect(enrolment.view).to.deep.include({ enrolled: true, problem: null, hub: hub.url, fleet: 'f-test' });
    expect(JSON.stringify(enrolment.view)).to.not.match(/PRIVATE|"d"/);
    // The same after a restart.
    const again = await open();
    expect(again.place()).to.deep.equal(enrolment.place());
    expect(again.signing?.kid).to.equal(enrolment.signing?.kid);
  });

  it('refuses a second enrolment, also one at the same time, until it has left', async () => {
    const both = [enrolment.enrol(hub.url, hub.code()), enrolment.enrol(hub.url, hub.code())] as const;
    await refuses(both[1], 'E_BUSY', /right now/);
    await both[0];
    await refuses(enrolment.enrol(hub.url, hub.code()), 'E_ENROLLED', /in the fleet f-test/);
    const first = enrolment.signing?.kid;
    await enrolment.leave();
    await enrolment.enrol(hub.url, hub.code());
    expect(enrolment.signing?.kid).to.not.equal(first);
    expect(enrolment.signing?.publicJwk).to.deep.equal(hub.nodes.get(NODE.id));
  });

  it('enrols over plain http with a hub on this machine', async () => {
    const plain = await FakeHub.start({ names: null });
    try {
      await enrolment.enrol(plain.url, plain.code());
      expect(enrolment.place()?.fleet).to.equal('f-test');
    } finally {
      await plain.stop();
    }
  });

  for (const address of [
    'http://192.0.2.7:8190',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'ftp://127.0.0.1',
    'https://user:secret@127.0.0.1',
    'https://127.0.0.1/path',
    'https://127.0.0.1/?q',
    'hub',
  ])
    it(`does not take ${address} for a hub`, async () => {
      await refuses(enrolment.enrol(address, hub.code()), 'E_INVALID_VALUE', /^hub /);
      await unchanged();
    });

  for (const code of ['', 'svc1-00-00', `svc2-${'0'.repeat(32)}-${'0'.repeat(32)}`])
    it(`does not take "${code}" for a code, and asks nobody`, async () => {
      await refuses(enrolment.enrol(hub.url, code), 'E_INVALID_VALUE', /^code /);
      expect(hub.asked).to.deep.equal([]);
      await unchanged();
    });

  describe('sends the secret to nobody', () => {
    const keepsTheSecret = async (other: FakeHub, code: string, why: ErrorCode, words: RegExp) => {
      try {
        await refuses(enrolment.enrol(other.url, code), why, words);
        expect(other.paths).to.deep.equal(['/v1/ca']);
        await unchanged();
      } finally {
        await other.stop();
      }
    };

    it('whose authority is another than the one in the code', async () => {
      await keepsTheSecret(await FakeHub.start(), hub.code(), 'E_CODE', /someone is in the middle/);
    });
    it('who shows the right authority but has no certificate of it', async () => {
      const between = await FakeHub.start();
      between.ca = hub.ca;
      await keepsTheSecret(between, hub.code(), 'E_UPSTREAM', /does not prove/);
    });
    it('who shows his own authority behind the right one', async () => {
      const between = await FakeHub.start();
      between.ca = `${hub.ca}\n${between.authority.certificate}\n`;
      await keepsTheSecret(between, hub.code(), 'E_UPSTREAM', /does not prove/);
    });
    it('whose certificate is for another host', async () => {
      const other = await FakeHub.start({ names: ['hub.example', '127.0.0.2'] });
      await keepsTheSecret(other, other.code(), 'E_UPSTREAM', /does not prove/);
    });
    it("who has a node's certificate of the right authority", async () => {
      const node = await FakeHub.start({
        certificate: async (csr, authority) =>
          issueCertificate(authority, csr, { client: '127.0.0.1' }, Date.now()),
      });
      await keepsTheSecret(node, node.code(), 'E_UPSTREAM', /does not prove/);
    });
    it('whose certificate has run out', async () => {
      const old = await FakeHub.start({
        certificate: async (csr, authority) =>
          issueCertificate(authority, csr, { server: 'hub', names: ['127.0.0.1'] }, Date.now(), -1),
      });
      await keepsTheSecret(old, old.code(), 'E_UPSTREAM', /does not prove.*expired/);
    });
    it('whose certificate begins after the clock of this node', async () => {
      const future = await FakeHub.start({
        certificate: async (csr, { key }) => {
          const request = new Pkcs10CertificateRequest(csr);
          const made = await X509CertificateGenerator.create({
            subject: 'CN=hub',
            issuer: 'CN=svc fleet f-test',
            notBefore: new Date(Date.now() + DAY_MS),
            notAfter: new Date(Date.now() + 2 * DAY_MS),
            publicKey: request.publicKey,
            // Two declarations of the same web type: Node's and the library's.
            signingKey: (await webcrypto.subtle.importKey(
              'jwk',
              createPrivateKey(key).export({ format: 'jwk' }),
              CERTIFICATE_ALGORITHM,
              false,
              ['sign'],
            )) as unknown as CryptoKey,
            signingAlgorithm: CERTIFICATE_ALGORITHM,
            extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
          });
          return made.toString('pem');
        },
      });
      await keepsTheSecret(future, future.code(), 'E_CLOCK', /Set the clock/);
    });
    it('who is no hub', async () => {
      const page = await FakeHub.start();
      page.ca = '<html>';
      await keepsTheSecret(page, hub.code(), 'E_UPSTREAM', /Is it a svc-hub\?/);
      const leaf = await FakeHub.start();
      const { pem } = await certificateRequest(newCertificateKey());
      leaf.ca = await issueCertificate(leaf.authority, pem, { client: 'n' }, Date.now());
      await keepsTheSecret(leaf, hub.code(), 'E_UPSTREAM', /Is it a svc-hub\?/);
    });
  });

  describe('broken on the way', () => {
    const hangUp = (at: string) => (res: ServerResponse, path: string) => {
      if (path !== at) return undefined;
      res.destroy();
      return 'spoilt' as const;
    };
    const worksAfterwards = async (): Promise<void> => {
      await unchanged();
      hub.before = () => undefined;
      hub.after = () => undefined;
      await enrolment.enrol(hub.url, hub.code());
      expect(enrolment.signing?.publicJwk).to.deep.equal(hub.nodes.get(NODE.id));
    };

    it('where nobody listens', async () => {
      const gone = await FakeHub.start();
      await gone.stop();
      await refuses(enrolment.enrol(gone.url, gone.code()), 'E_UPSTREAM_DOWN', /does not answer/);
      await worksAfterwards();
    });
    it('before the authority was shown', async () => {
      hub.before = hangUp('/v1/ca');
      await refuses(enrolment.enrol(hub.url, hub.code()), 'E_UPSTREAM_DOWN', /does not answer/);
      await worksAfterwards();
    });
    it('before the hub has stored the node', async () => {
      hub.before = hangUp('/v1/enroll');
      await refuses(enrolment.enrol(hub.url, hub.code()), 'E_UPSTREAM_DOWN', /does not answer/);
      expect(hub.nodes.size).to.equal(0);
      await worksAfterwards();
    });
    it('after the hub has stored it: the answer is lost, the code used up, another code works', async () => {
      hub.after = hangUp('/v1/enroll');
      const code = hub.code();
      await refuses(enrolment.enrol(hub.url, code), 'E_UPSTREAM_DOWN', /does not answer/);
      expect(hub.nodes.size).to.equal(1);
      hub.after = () => undefined;
      await refuses(enrolment.enrol(hub.url, code), 'E_CODE', /This code is used up/);
      await worksAfterwards();
    });
    it('by a policy that is not believed', async () => {
      const careful = await open({
        onPolicy: async () => Promise.reject(new NotBelieved('svc-policy: the signature is wrong')),
      });
      await refuses(careful.enrol(hub.url, hub.code()), 'E_UPSTREAM', /is not believed: .* signature/);
      await worksAfterwards();
    });
    it('by a disk that takes no file', async () => {
      await mkdir(paths.fleet);
      await refuses(enrolment.enrol(hub.url, hub.code()), 'E_STORE', /could not be written/);
      expect(enrolment.place()).to.equal(null);
    });

    const wrong: readonly (readonly [string, RegExp, (answer: Enrolled) => unknown])[] = [
      ['that is not JSON', /no enrolment/, () => undefined],
      ['without a certificate', /no enrolment/, (answer) => ({ ...answer, certificate: undefined })],
      ['with an unknown member', /no enrolment/, (answer) => ({ ...answer, root: true })],
      ['for another node', /another node/, (answer) => ({ ...answer, node: '0000000000d2' })],
      ['with a broker without TLS', /mqtts/, (answer) => ({ ...answer, broker: 'mqtt://127.0.0.1' })],
      ['with what is no certificate', /not of the fleet/, (answer) => ({ ...answer, certificate: 'x' })],
      [
        'with its authority as certificate',
        /not for this/,
        (answer) => ({ ...answer, certificate: answer.ca }),
      ],
      ['that is too long', /too much/, (answer) => ({ ...answer, policy: 'x'.repeat(3_000_000) })],
    ];
    for (const [name, words, spoil] of wrong)
      it(`by an answer ${name}`, async () => {
        hub.after = (res, path, answer) => {
          if (path !== '/v1/enroll') return undefined;
          res.end(JSON.stringify(spoil(answer as Enrolled)) ?? '<html>');
          return 'spoilt';
        };
        await refuses(enrolment.enrol(hub.url, hub.code()), 'E_UPSTREAM', words);
        await worksAfterwards();
      });

    it('by a certificate of another key, of another authority, in another name', async () => {
      const other = await newAuthority('svc fleet f-test', Date.now());
      const { pem } = await certificateRequest(newCertificateKey());
      const csrOf = (): string => (JSON.parse(hub.asked.at(-1)?.body ?? '') as { csr: string }).csr;
      const certificates: readonly (readonly [RegExp, () => Promise<string>])[] = [
        [/not for this/, async () => issueCertificate(hub.authority, pem, { client: NODE.id }, now)],
        [/not of the fleet/, async () => issueCertificate(other, csrOf(), { client: NODE.id }, now)],
        [/another name/, async () => issueCertificate(hub.authority, csrOf(), { client: 'hub' }, now)],
      ];
      for (const [words, make] of certificates) {
        hub.after = (res, path, answer) => {
          if (path !== '/v1/enroll') return undefined;
          make().then(
            (certificate) => res.end(JSON.stringify({ ...(answer as Enrolled), certificate })),
            () => res.destroy(),
          );
          return 'spoilt';
        };
        await refuses(enrolment.enrol(hub.url, hub.code()), 'E_UPSTREAM', words);
      }
      hub.after = (res, path, answer) => {
        if (path !== '/v1/enroll') return undefined;
        res.end(JSON.stringify({ ...(answer as Enrolled), ca: other.certificate }));
        return 'spoilt';
      };
      await refuses(enrolment.enrol(hub.url, hub.code()), 'E_UPSTREAM', /another certificate authority/);
      await worksAfterwards();
    });
    it('by an error of the hub, whose words it passes on', async () => {
      hub.before = (res, path) => {
        if (path !== '/v1/enroll') return undefined;
        res.statusCode = 503;
        res.end('{"code": "E_STORE", "detail": "My disk is full."}');
        return 'spoilt';
      };
      await refuses(enrolment.enrol(hub.url, hub.code()), 'E_UPSTREAM', /503: My disk is full/);
      await worksAfterwards();
    });
  });

  describe('the file', () => {
    it('that cannot be used is told, counts as not enrolled, and is only removed by leaving', async () => {
      for (const content of ['{', '{"version": 2}', '[]']) {
        await writeFile(paths.fleet, content, { mode: 0o600 });
        const broken = await open();
        expect(broken.place()).to.equal(null);
        expect(broken.view.problem).to.match(/fleet\.json cannot be used/);
        await refuses(broken.enrol(hub.url, hub.code()), 'E_STORE', /cannot be used/);
        expect(await readFile(paths.fleet, 'utf8')).to.equal(content);
        expect(await broken.leave()).to.equal(null);
        expect(broken.view).to.deep.include({ enrolled: false, problem: null });
      }
      expect(hub.asked).to.deep.equal([]);
    });
    it('is not used where others can read it, nor on another machine, nor with a foreign key', async () => {
      await enrolment.enrol(hub.url, hub.code());
      const text = await readFile(paths.fleet, 'utf8');
      const elsewhere = await open({ node: { ...NODE, id: '0000000000d2' } });
      expect(elsewhere.view.problem).to.match(/belongs to another node/);
      await writeFile(paths.fleet, JSON.stringify({ ...(await record()), key: newCertificateKey() }));
      expect((await open()).view.problem).to.match(/certificate is of another key/);
      await writeFile(paths.fleet, text);
      await chmod(paths.fleet, 0o644);
      expect((await open()).view.problem).to.match(/open to others/);
    });
  });

  it('leaves while the hub is away: keys, policy and queue are gone, and it is told', async () => {
    await refuses(enrolment.leave(), 'E_NOT_FOUND', /not in a fleet/);
    await enrolment.enrol(hub.url, hub.code());
    const rest = [
      paths.fleetPolicy,
      paths.fleetQueue,
      `${paths.fleetQueue}-wal`,
      `${paths.fleetQueue}-shm`,
      paths.flights,
    ];
    for (const file of rest) await writeFile(file, 'x');
    hub.before = (res) => {
      res.destroy();
      return 'spoilt';
    };
    const told = changed(enrolment);
    expect(await enrolment.leave()).to.equal('f-test');
    await told;
    expect(enrolment.place()).to.equal(null);
    expect(enrolment.signing).to.equal(null);
    for (const file of [paths.fleet, ...rest])
      expect(await stat(file).catch(() => null), file).to.equal(null);
  });

  describe('the certificate', () => {
    it('stays until half of its life is over, and is renewed then for the same keys', async () => {
      const quick = await open({ renewal: QUICK });
      await quick.enrol(hub.url, hub.code());
      const { signing } = quick;
      const first = quick.place();
      now += 180 * DAY_MS;
      expect(quick.view.certificate_renews_at).to.be.greaterThan(now);
      const told = changed(quick);
      now += 5 * DAY_MS;
      await told;
      const second = quick.place();
      expect(second?.certificate).to.not.equal(first?.certificate);
      expect(second).to.deep.equal({ ...first, certificate: second?.certificate });
      expect(quick.signing?.kid).to.equal(signing?.kid);
      expect(await record()).to.include({ certificate: second?.certificate, certified_at: now });
      expect(hub.paths.filter((path) => path === '/v1/renew')).to.have.length(1);
      expect((await open()).place()).to.deep.equal(second);
    });

    it('is asked for again while the hub is away, and meanwhile the old one holds', async () => {
      const quick = await open({ renewal: QUICK });
      await quick.enrol(hub.url, hub.code());
      const first = quick.place();
      let tries = 0;
      const thrice = new Promise<void>((resolve) => {
        hub.before = (res) => {
          res.destroy();
          if (++tries === 3) resolve();
          return 'spoilt';
        };
      });
      now += 200 * DAY_MS;
      await thrice;
      expect(quick.view.problem).to.match(/could not be renewed: The hub at .* does not answer/);
      expect(quick.place()).to.deep.equal(first);
      const told = changed(quick);
      hub.before = () => undefined;
      await told;
      expect(quick.view.problem).to.equal(null);
      expect(quick.place()?.certificate).to.not.equal(first?.certificate);
    });

    it('is not renewed by another hub, nor for a node that the hub has put out', async () => {
      const quick = await open({ renewal: QUICK });
      await quick.enrol(hub.url, hub.code());
      const first = quick.place();
      hub.nodes.clear();
      const refused = new Promise<void>((resolve) => {
        let renewals = 0;
        hub.after = (_res, path) => {
          if (path === '/v1/renew' && ++renewals === 2) resolve(); // the first one's refusal has been taken by then
          return undefined;
        };
      });
      now += 200 * DAY_MS;
      await refused;
      expect(quick.view.problem).to.match(/refuses this node/);
      expect(quick.place()).to.deep.equal(first);
      const elsewhere = await FakeHub.start();
      try {
        await quick.stop();
        await writeFile(paths.fleet, JSON.stringify({ ...(await record()), hub: elsewhere.url }));
        const moved = await open({ renewal: QUICK });
        while (moved.view.problem === null) await new Promise((resolve) => setImmediate(resolve));
        expect(moved.view.problem).to.match(/does not prove/);
        expect(elsewhere.asked).to.deep.equal([]);
      } finally {
        await elsewhere.stop();
      }
    });

    it('that comes after the node has left is not kept', async () => {
      let looked: () => void = () => undefined;
      const random = (): number => {
        looked(); // asked after every look
        return 0;
      };
      const quick = await open({ renewal: QUICK, random });
      await quick.enrol(hub.url, hub.code());
      policies.length = 0;
      let answer: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        hub.after = (res, path, value) => {
          if (path !== '/v1/renew') return undefined;
          answer = () => res.end(JSON.stringify(value));
          resolve();
          return 'spoilt';
        };
      });
      now += 200 * DAY_MS;
      await asked;
      await quick.leave();
      const over = new Promise<void>((resolve) => (looked = resolve));
      answer();
      await over;
      expect(quick.place()).to.equal(null);
      expect(policies).to.deep.equal([]);
      expect(await stat(paths.fleet).catch(() => null)).to.equal(null);
    });
  });
});
