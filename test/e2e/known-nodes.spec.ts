import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { callTool, connectStdio, PROGRAM } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { type CliAnswer, svcEnv } from '../support/svc.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { openTerminal } from '../support/terminal.ts';

/** A person with a home of their own. */
interface Person {
  readonly home: string;
  readonly file: string;
  readonly svc: (...args: readonly string[]) => Promise<CliAnswer>;
  readonly mcp: (...args: readonly string[]) => Promise<CliAnswer>;
}

async function person(env: NodeJS.ProcessEnv = process.env): Promise<Person> {
  const home = await tempDir();
  const run = async (program: string, args: readonly string[]): Promise<CliAnswer> =>
    new Promise((resolve, reject) => {
      const own = { ...env, HOME: home, SVC_KEY: KEY, SVC_MCP_AGENT_KEY: KEY, NO_COLOR: '1' };
      execFile(
        process.execPath,
        [program, ...args],
        { env: own, timeout: 60_000 },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : error.code;
          // oclif breaks the lines of a sentence where it likes.
          const said = stderr.replaceAll(/\s*\n\s*›?\s*/g, ' ');
          if (typeof code === 'number') resolve({ code, stdout, stderr: said });
          else reject(error ?? new Error('it ended without an exit code'));
        },
      ).stdin?.end();
    });
  return {
    home,
    file: join(home, '.svc', 'known_nodes'),
    svc: async (...args) => run(join(ROOT, 'bin/svc.js'), args),
    mcp: async (...args) => run(PROGRAM, args),
  };
}

async function fingerprintOf(node: TestNode): Promise<string> {
  const { body } = await node.json('/api/tls');
  return String(body['authority_sha256']);
}

/** Takes what is sent to a port, as somebody in between would. */
async function listenAt(port: number): Promise<{ readonly server: Server; readonly heard: () => string }> {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // the client hangs up
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { server, heard: () => heard };
}

describe('known nodes', function () {
  this.timeout(180_000);
  let node: TestNode;
  let tlsPort: number;
  let url: string;
  let plain: string;
  let sha: string;

  before(async () => {
    tlsPort = await freePort();
    node = await TestNode.start({ simulated: false, pairing: { key: KEY }, tlsPort });
    url = `https://127.0.0.1:${tlsPort}`;
    plain = `127.0.0.1:${node.port}`;
    sha = await fingerprintOf(node);
  });

  after(async () => node.stop());

  it('without a terminal an unknown node is refused, and the flag is named; told the fingerprint, it is known', async () => {
    const { home, file, svc } = await person();
    try {
      const refused = await svc('status', '--host', url);
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.include(`--fingerprint ${sha}`).and.include('svc known-nodes add');
      const wrong = await svc('status', '--host', url, '--fingerprint', 'ab'.repeat(32));
      expect([wrong.code, wrong.stderr.includes('is not the one of --fingerprint')]).to.deep.equal([1, true]);
      const shown = sha.slice(0, 32).match(/.{4}/g)?.join(' ') ?? '';
      expect((await svc('status', '--host', url, '--fingerprint', shown)).code).to.equal(0);
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      expect((await svc('status', '--host', url)).code).to.equal(0);
      expect((await svc('stream', '--host', url)).stdout).to.include(`${url}/api/video/live.mp4`);
      const list = await svc('known-nodes', 'list');
      expect(list.stdout).to.include(shown).and.include(url);
      // By a name that is not in the certificate the same node is no other one, and still not believed.
      const named = await svc('status', '--host', `https://127.1.2.3:${tlsPort}`);
      expect([named.code, named.stderr.includes('is not for 127.1.2.3')]).to.deep.equal([1, true]);
    } finally {
      await removeDir(home);
    }
  });

  it('at a terminal it shows the fingerprint and asks', async () => {
    const { home, svc } = await person();
    try {
      const command = [process.execPath, join(ROOT, 'bin/svc.js'), 'known-nodes', 'add', plain];
      const terminal = openTerminal(command, { ...process.env, HOME: home });
      const said = await terminal.until('[y/N]');
      expect(said).to.include(sha.slice(0, 32).match(/.{4}/g)?.join(' '));
      terminal.child.stdin?.write('y\n');
      await terminal.until('is known');
      expect((await svc('status', '--host', plain)).code).to.equal(0);
      const clear = await svc('status', '--json', '--host', `http://${plain}`);
      expect(JSON.parse(clear.stdout)).to.include({ code: 'E_TLS_REQUIRED' });
    } finally {
      await removeDir(home);
    }
  });

  it('svc-mcp asks nobody: unknown it ends with the way out, known or told it works by HTTPS', async () => {
    const { home, svc, mcp } = await person();
    try {
      const refused = await mcp('--target', 'agent', url, '--verify');
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.include(`svc known-nodes add ${url}`).and.not.include(KEY);
      const told = await mcp('--target', 'agent', url, '--verify', '--fingerprint', sha);
      expect([told.code, told.stdout.includes(url)], told.stderr).to.deep.equal([0, true]);
      const client = await connectStdio({ args: ['--target', 'agent', url], home, key: KEY });
      expect((await callTool(client, 'status_get')).value).to.have.property('version');
      await client.close();
      expect((await svc('known-nodes', 'forget', `127.0.0.1:${tlsPort}`)).code).to.equal(0);
      const fleet = join(home, 'fleet.json');
      await writeFile(fleet, JSON.stringify([{ id: 'alpha', host: url, key: KEY }]), { mode: 0o600 });
      const many = await mcp('--target', 'local-fleet', fleet, '--verify');
      expect(many.code).to.equal(1);
      expect(many.stdout + many.stderr).to.include('svc known-nodes add');
    } finally {
      await removeDir(home);
    }
  });

  it('a file that is torn, a link, or open to others is no empty one: it is refused by name', async () => {
    const { home, file, svc } = await person();
    try {
      expect((await svc('known-nodes', 'add', url, '--fingerprint', sha)).code).to.equal(0);
      const good = await readFile(file, 'utf8');
      const refused = async (why: string): Promise<void> => {
        const answer = await svc('status', '--host', url);
        expect(answer.code).to.equal(1);
        expect(answer.stderr).to.include('known_nodes').and.include(why);
      };
      for (const text of [good.slice(0, 200), '{}', '[{}]', good.replace(sha, 'ab'.repeat(32))]) {
        await writeFile(file, text);
        await refused('is broken');
      }
      await writeFile(file, good);
      await chmod(file, 0o644);
      await refused('chmod 600');
      await removeDir(file);
      await writeFile(join(home, 'other'), good, { mode: 0o600 });
      await symlink(join(home, 'other'), file);
      await refused('symbolic link');
    } finally {
      await removeDir(home);
    }
  });

  it('svc pair keeps the authority that the claim tells, and prints its fingerprint', async () => {
    const secure = await freePort();
    const free = await TestNode.start({ simulated: false, tlsPort: secure });
    const { home, file, svc } = await person(svcEnv(free.paths));
    try {
      const own = await fingerprintOf(free);
      const at = `127.0.0.1:${free.port}`;
      const paired = await svc('pair', '--user', 'tester', '--host', at);
      expect(paired.code, paired.stderr).to.equal(0);
      expect(paired.stdout.trimEnd().split('\n').at(-1)).to.match(/^svc_[\w-]{43}$/);
      expect(paired.stdout).to.include(own.slice(0, 32).match(/.{4}/g)?.join(' '));
      const [{ authority_sha256, places }] = JSON.parse(await readFile(file, 'utf8'));
      expect(authority_sha256).to.equal(own);
      expect(places).to.have.length(1);
      expect(places).to.deep.include({ host: '127.0.0.1', port: free.port, tls_port: secure });
      expect((await svc('node', 'fingerprint')).stdout).to.include(own);
    } finally {
      await free.stop();
      await removeDir(home);
    }
  });

  it('another authority at a known place is an alarm, and a known node without HTTPS is never asked in the clear', async () => {
    const { home, svc, mcp } = await person();
    const [port, secure] = [await freePort(), await freePort()];
    const place = `127.0.0.1:${port}`;
    const first = await TestNode.start({ simulated: false, pairing: { key: KEY }, port, tlsPort: secure });
    expect(
      (await svc('known-nodes', 'add', place, '--fingerprint', await fingerprintOf(first))).code,
    ).to.equal(0);
    await first.stop();
    const second = await TestNode.start({ simulated: false, pairing: { key: KEY }, port, tlsPort: secure });
    try {
      for (const host of [place, `https://127.0.0.1:${secure}`]) {
        const alarm = await svc('status', '--host', host, '--fingerprint', await fingerprintOf(second));
        expect(alarm.code).to.equal(1);
        expect(alarm.stderr).to.include('CHANGED CERTIFICATE').and.include('svc known-nodes forget');
      }
      const other = await mcp('--target', 'agent', place, '--verify');
      expect(other.code).to.equal(1);
      expect(other.stdout + other.stderr).to.include('CHANGED CERTIFICATE');
    } finally {
      await second.stop();
    }
    const { server, heard } = await listenAt(port);
    try {
      for (const host of [place, `http://${place}`]) {
        const answer = await svc('status', '--host', host);
        expect(answer.code).to.be.oneOf([1, 3]);
        expect(answer.stderr).to.include('svc known-nodes forget');
        const agent = await mcp('--target', 'agent', host, '--verify');
        expect(agent.code).to.equal(1);
        expect(agent.stdout + agent.stderr).to.include('svc known-nodes forget');
      }
      expect(heard()).to.equal('');
    } finally {
      server.close();
    }
    const impostor = await listenAt(secure);
    try {
      const answer = await svc('status', '--host', place);
      expect([answer.code, answer.stderr.includes('There is no TLS')]).to.deep.equal([1, true]);
      expect(impostor.heard()).to.not.include(KEY);
    } finally {
      impostor.server.close();
      await removeDir(home);
    }
  });

  it('nobody who writes the file first is in the way of another', async () => {
    const { home, file, svc } = await person();
    try {
      await mkdir(join(home, '.svc'), { mode: 0o700 });
      const added = await Promise.all(
        [url, plain].map(async (host) => svc('known-nodes', 'add', host, '--fingerprint', sha)),
      );
      expect(added.map(({ code }) => code)).to.deep.equal([0, 0]);
      expect(JSON.parse(await readFile(file, 'utf8'))).to.have.length(1);
    } finally {
      await removeDir(home);
    }
  });
});
