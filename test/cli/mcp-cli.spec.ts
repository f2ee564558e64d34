import { spawn } from 'node:child_process';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pathsFrom } from '../../shared/paths.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('svc mcp', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, config: '# kept by every command\n' });
  });
  after(async () => node.stop());

  const run = async (...args: string[]) => svc(node.paths, 'mcp', ...args);

  it('status: posture, and that there are no tokens', async () => {
    const { code, stdout } = await run('status');
    expect(code).to.equal(0);
    expect(stdout).to.equal('token acceptance: disabled\nno tokens minted\n');
    expect(JSON.parse((await run('status', '--json')).stdout)).to.deep.equal({
      accept_enabled: false,
      any_minted: false,
      tokens: [],
      problem: null,
    });
  });

  it('mint: a banner, then the token alone on its line; status lists it without its secret', async () => {
    const { code, stdout, stderr } = await run(
      'mint',
      '--label',
      'laptop',
      '--scope',
      'read',
      '--scope',
      'flight',
      '--node',
      'n1',
      '--node',
      'n2',
    );
    expect(code, stderr).to.equal(0);
    const [banner = '', token = '', ...rest] = stdout.split('\n');
    expect(rest).to.deep.equal(['']);
    expect(banner).to.match(/^Token mct_[0-9a-f]{24} \(read, flight\), until .* not shown again:$/);
    expect(token).to.match(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
    const claims = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    expect(claims).to.deep.include({
      label: 'laptop',
      scopes: ['read', 'flight'],
      allowedNodes: ['n1', 'n2'],
    });
    expect(Number(claims['expiresAt'])).to.be.closeTo(Date.now() + 30 * 86_400_000, 60_000);
    const status = await run('status');
    expect(status.stdout).to.include(`${String(claims['tokenId'])}  laptop  scopes=read,flight\n`);
    expect(status.stdout).to.not.include(token);
  });

  it('mint --preset fly: what flying needs', async () => {
    const { stdout } = await run('mint', '--preset', 'fly', '--scope', 'read', '--scope', 'admin', '--json');
    expect((JSON.parse(stdout) as Record<string, unknown>)['scopes']).to.deep.equal([
      'read',
      'admin',
      'flight',
    ]);
  });

  it('mint: 30 days, at least one; --json is the answer of the API', async () => {
    for (const [days, want] of [
      ['0', 1],
      ['-5', 1],
      ['0.5', 1],
      ['1e6', 365],
      ['7', 7],
    ] as const) {
      const { stdout } = await run('mint', '--scope', 'read', `--ttl-days=${days}`, '--json');
      const minted = JSON.parse(stdout) as Record<string, unknown>;
      expect(minted).to.have.all.keys('token_id', 'token', 'expires_at', 'scopes', 'label');
      expect(Number(minted['expires_at'])).to.be.closeTo(Date.now() + want * 86_400_000, 60_000);
    }
    expect((await run('status')).stdout).to.include('  (no label)  scopes=read\n');
  });

  it('wrong usage ends with 2 and says what is right', async () => {
    for (const [args, says] of [
      [['mint'], /--scope, or --preset fly/],
      [['mint', '--preset', 'all'], /fly/],
      [['mint', '--scope', 'root'], /read, safe_write, admin, flight, destructive, secret_read/],
      [['mint', '--scope', 'read', '--ttl-days', 'x'], /number of days/],
      [['revoke'], /one token id, or --all/],
      [['revoke', 'mct_x', '--all'], /not both/],
    ] as const) {
      const { code, stderr } = await run(...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(stderr.replaceAll(/\s+›?\s*/g, ' ')).to.match(says);
    }
  });

  it('revoke one, an unknown one, all', async () => {
    const { stdout } = await run('mint', '--scope', 'read', '--label', 'short', '--json');
    const { token_id: id } = JSON.parse(stdout) as { token_id: string };
    expect(await run('revoke', id)).to.include({ code: 0, stdout: 'Revoked.\n' });
    expect((await run('status')).stdout).to.include(`${id}  short  scopes=read  [revoked]\n`);
    const unknown = await run('revoke', 'mct_unknown');
    expect(unknown.code).to.equal(1);
    expect(unknown.stderr).to.include('No such token');
    expect((await run('revoke', '--all')).stdout).to.match(/^Every token is revoked/);
    const lines = (await run('status')).stdout.trimEnd().split('\n').slice(1);
    expect(lines.length).to.be.greaterThan(3);
    for (const line of lines) expect(line).to.match(/\[revoked\]$/);
  });

  it('C10 enable restarts svc-control alone; --no-restart leaves it; comments stay', async () => {
    const link = node.pid('svc-link');
    const front = node.pid('svc-control');
    const left = await run('enable', '--no-restart');
    expect(left.code, left.stderr).to.equal(0);
    expect(left.stdout).to.include('from the next start');
    expect(node.pid('svc-control')).to.equal(front);
    expect((await run('status')).stdout).to.match(/^token acceptance: disabled/);
    const text = await readFile(node.paths.config, 'utf8');
    expect(text).to.include('# kept by every command').and.include('token_accept_enabled: true');
    expect((await stat(node.paths.config)).mode & 0o777).to.equal(0o600);

    const enabled = await run('enable', '--json');
    expect(enabled.code, enabled.stderr).to.equal(0);
    const change = JSON.parse(enabled.stdout) as { front: string; pid: number };
    expect(change.front).to.equal('restarted');
    expect(change.pid).to.not.equal(front);
    await node.until(() => node.service('svc-control').state === 'running');
    expect(node.pid('svc-control')).to.equal(change.pid);
    expect(node.pid('svc-link')).to.equal(link);
    expect((await run('status')).stdout).to.match(/^token acceptance: enabled/);

    expect((await run('disable')).stdout)
      .to.include('refused')
      .and.include('was restarted');
    expect((await run('status')).stdout).to.match(/^token acceptance: disabled/);
    expect(node.pid('svc-link')).to.equal(link);
    expect(await readFile(node.paths.config, 'utf8')).to.include('# kept by every command');
  });

  it('the supervisor restarts one process by name, joins two such wishes, and knows no other names', async () => {
    const client = clientOf(SUPERVISOR, { path: node.paths.supervisorSocket });
    await client.connectOnce();
    try {
      const before = node.pid('svc-residual');
      const restarts = node.service('svc-residual').restarts;
      const answers = await Promise.all(
        [1, 2].map(async () => client.calls.restart({ name: 'svc-residual' })),
      );
      expect(answers[0]).to.deep.equal(answers[1]);
      expect(answers[0]).to.include({ pid_before: before });
      await node.until(() => node.service('svc-residual').state === 'running');
      expect(answers[0]).to.include({ pid_after: node.pid('svc-residual') });
      expect(node.service('svc-residual').restarts).to.equal(restarts + 1);
      for (const name of ['svc-nothing', '', '__proto__']) {
        const error: unknown = await client.calls.restart({ name }).catch((reason: unknown) => reason);
        expect(error, name).to.include({ code: 'E_NOT_FOUND' });
      }
    } finally {
      client.stop();
    }
  });

  it('six restarts in a row are no failures: nothing is parked', async () => {
    for (let i = 0; i < 6; i++) expect((await run('disable')).code).to.equal(0);
    expect(node.service('svc-control').state).to.equal('running');
  });
});

describe('svc mcp without a node', () => {
  let dir: string;
  before(async () => {
    dir = await tempDir();
  });
  after(async () => removeDir(dir));

  const paths = () =>
    pathsFrom({
      SVC_ETC_DIR: join(dir, 'etc'),
      SVC_RUN_DIR: join(dir, 'run'),
      SVC_STATE_DIR: join(dir, 'state'),
    });

  it('enable writes the config and says from when it holds (needs root)', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const { code, stdout, stderr } = await svc(paths(), 'mcp', 'enable');
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('from the next start of the node');
    expect(await readFile(paths().config, 'utf8')).to.include('token_accept_enabled: true');
  });

  it('the config is the service’s user’s when root writes it, also one that root has made (needs root)', async function () {
    if (process.getuid?.() !== 0) this.skip();
    await mkdir(join(dir, 'etc'), { recursive: true });
    await chown(join(dir, 'etc'), 65534, 65534);
    await writeFile(paths().config, '{}\n'); // an empty one beside a good copy is what a power cut leaves
    for (const [before, verb] of [
      [65534, 'enable'],
      [0, 'disable'],
    ] as const) {
      await chown(paths().config, before, before);
      expect((await svc(paths(), 'mcp', verb)).code).to.equal(0);
      const found = await stat(paths().config);
      expect([found.uid, found.gid, found.mode & 0o777]).to.deep.equal([65534, 65534, 0o600]);
    }
  });

  it('a broken config is not written over (needs root)', async function () {
    if (process.getuid?.() !== 0) this.skip();
    await writeFile(paths().config, 'mcp: [');
    const { code, stderr } = await svc(paths(), 'mcp', 'enable');
    expect(code).to.equal(1);
    expect(stderr).to.include('broken');
    expect(await readFile(paths().config, 'utf8')).to.equal('mcp: [');
  });

  it('status, mint and revoke end with 3', async () => {
    for (const args of [['status'], ['mint', '--scope', 'read'], ['revoke', '--all']])
      expect((await svc(paths(), 'mcp', ...args)).code, args.join(' ')).to.equal(3);
  });

  it('anybody but root is refused, though the file is his (needs root, to become nobody)', async function () {
    if (process.getuid?.() !== 0) this.skip();
    await chmod(dir, 0o755);
    await mkdir(join(dir, 'etc'), { recursive: true });
    await writeFile(paths().config, '');
    await chown(paths().config, 65534, 65534);
    const script = `
      process.setgid(65534); process.setuid(65534);
      const { setTokenPosture } = await import(${JSON.stringify(join(ROOT, 'bin/commands/mcp/token-posture.ts'))});
      const { pathsFrom } = await import(${JSON.stringify(join(ROOT, 'shared/paths.ts'))});
      await setTokenPosture(pathsFrom(process.env), true, false).catch((error) => console.log(error.code));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        ...process.env,
        SVC_ETC_DIR: paths().etc,
        SVC_RUN_DIR: paths().run,
        SVC_STATE_DIR: paths().state,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    for await (const chunk of child.stdout) out += String(chunk);
    expect(out).to.equal('E_ROOT_ONLY\n');
    expect(await readFile(paths().config, 'utf8')).to.equal('');
  });
});
