import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { publicJwk } from '../../shared/fleet/signed.ts';
import { FakeHub } from '../support/fake-hub.ts';
import { TestNode } from '../support/node.ts';
import { type CliAnswer, svc } from '../support/svc.ts';

describe('svc fleet', function () {
  this.timeout(120_000);
  let node: TestNode;
  let hub: FakeHub;

  before(async () => {
    hub = await FakeHub.start();
    node = await TestNode.start({ simulated: false });
    await node.knowsArmed();
  });
  after(async () => {
    await node.stop();
    await hub.stop();
  });

  const fleet = async (...args: readonly string[]): Promise<CliAnswer> => svc(node.paths, 'fleet', ...args);
  const words = ({ stderr }: CliAnswer): string => stderr.replaceAll(/\s+[›»]?\s*/g, ' ');

  it('status and leave of a node in no fleet', async () => {
    expect(await fleet('status')).to.deep.include({ code: 0, stdout: 'In no fleet.\n' });
    const left = await fleet('leave');
    expect([left.code, words(left)]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === EXIT.refused && text.includes('This node is not in a fleet.'),
    );
  });

  it('enroll: refused with a sentence, and done', async () => {
    const wrong = await fleet('enroll', 'http://192.0.2.1', hub.code());
    expect(wrong.code).to.equal(EXIT.refused);
    expect(words(wrong)).to.include('plain http is only for a hub on this machine');
    expect((await fleet('enroll', hub.url)).code).to.equal(EXIT.usage);
    const code = hub.code();
    const done = await fleet('enroll', hub.url, code);
    expect(done.stdout, done.stderr).to.match(/^Enrolled with f-test as [0-9a-f]{12}\./);
    expect(words(done)).to.match(/This node is not paired, so it answers no call of the fleet yet.*svc pair/);
    expect(words(await fleet('enroll', hub.url, hub.code()))).to.include('Leave it first.');
    expect(node.stderr).to.not.include(code.slice(-32));
    const { stdout } = await fleet('status');
    expect(stdout).to.match(/^fleet {8}f-test as [0-9a-f]{12}$/m);
    expect(stdout).to.match(/^certificate {2}valid to \d{4}-\d\d-\d\d, renewed from \d{4}-\d\d-\d\d$/m);
    expect(JSON.parse((await fleet('status', '--json')).stdout)).to.nested.include({
      'enrollment.enrolled': true,
      'enrollment.hub': hub.url,
    });
  });

  it('operators: by key or by file, each name once, and removed', async () => {
    await node.knowsArmed();
    expect((await fleet('operators')).stdout).to.match(/^No operator/);
    const keys = [1, 2].map(() => generateKeyPairSync('ed25519'));
    // As a flag does.
    while (keys[0] !== undefined && !publicJwk(keys[0].publicKey).x.startsWith('-'))
      keys[0] = generateKeyPairSync('ed25519');
    const [ada = '', bob = ''] = keys.map(({ publicKey }) => publicJwk(publicKey).x);
    const file = join(node.base, 'key.pub');
    await writeFile(file, keys[1]?.publicKey.export({ type: 'spki', format: 'pem' }) ?? '');
    const added = await fleet('operators', 'add', 'ada', ada);
    const cap =
      'The fleet still flies nothing here. Its config key fleet.scopes lacks flight. On the node: ' +
      'svc config set fleet.scopes read,safe_write,admin,flight && svc services restart svc-control\n';
    expect(added.stdout, added.stderr).to.equal(`in force after: svc services restart svc-control\n${cap}`);
    expect((await fleet('operators', 'add', 'bob', file)).code).to.equal(EXIT.done);
    expect(JSON.parse((await fleet('operators', 'list', '--json')).stdout)).to.deep.equal([
      { name: 'ada', key: ada },
      { name: 'bob', key: bob },
    ]);
    const taken = await fleet('operators', 'add', 'ada', bob);
    expect([taken.code, words(taken)]).to.satisfy(
      ([code, text]: [number, string]) => code === EXIT.refused && text.includes('ada has another key.'),
    );
    const secret = join(node.base, 'key.pem');
    await writeFile(secret, keys[0]?.privateKey.export({ type: 'pkcs8', format: 'pem' }) ?? '');
    for (const [name, key, why] of [
      ['eve', secret, 'is the private half'],
      ['eve', join(node.base, 'nowhere'), 'is neither a public key'],
    ] as const) {
      const refused = await fleet('operators', 'add', name, key);
      expect(refused.code).to.equal(EXIT.usage);
      expect(words(refused)).to.include(why);
    }
    expect((await fleet('operators', 'add', 'e e', ada)).code).to.equal(EXIT.refused);
    expect((await fleet('operators', 'remove', 'ada')).code).to.equal(EXIT.done);
    expect((await fleet('operators', 'remove', 'ada')).code).to.equal(EXIT.refused);
    expect((await fleet('operators')).stdout).to.equal(`NAME  KEY\nbob   ${bob}\n${cap}`);
    // The command that it names does it.
    const scopes = 'read,safe_write,admin,flight';
    expect((await svc(node.paths, 'config', 'set', 'fleet.scopes', scopes)).code).to.equal(EXIT.done);
    expect((await fleet('operators')).stdout).to.equal(`NAME  KEY\nbob   ${bob}\n`);
  });

  it('leave: while the hub is away', async () => {
    hub.before = (res) => {
      res.destroy();
      return 'spoilt';
    };
    expect((await fleet('leave')).stdout).to.equal('Left f-test.\n');
    expect(existsSync(node.paths.fleet)).to.equal(false);
    expect((await fleet('status')).stdout).to.equal('In no fleet.\n');
  });
});
