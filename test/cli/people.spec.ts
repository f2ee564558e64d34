import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import allCommands from '../../bin/cli/all-commands.ts';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { checkOwner, seedDemoConfig } from '../../bin/supervisor/demo.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc, svcEnv, svcTold } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const SVC = join(ROOT, 'bin/svc.js');
const KEYED = { 'x-svc-key': KEY };

describe('svc, for people', function () {
  this.timeout(120_000);
  let node: TestNode;
  before(async () => {
    node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
  });
  after(async () => node.stop());

  /** `svc pin set` with this on its stdin. */
  const pinSet = async (stdin: string) => svcTold(node.paths, stdin, 'pin', 'set');
  const opens = async (pin: string): Promise<number> =>
    (await node.post('/api/dashboard/pin/verify', { pin })).status;

  it('pin: set from stdin, changed, shown, cleared; never as an argument', async () => {
    expect((await svc(node.paths, 'pin', 'status')).stdout).to.equal('No PIN is set.\n');
    expect(await pinSet('271828\n')).to.deep.equal({ code: 0, stdout: 'PIN set.\n', stderr: '' });
    expect(await opens('271828')).to.equal(200);
    expect((await pinSet('31415')).code).to.equal(0);
    expect(await opens('271828')).to.equal(401);
    expect(await opens('31415')).to.equal(200);
    expect((await svc(node.paths, 'pin', 'status')).stdout).to.equal('A PIN is set.\n');
    expect(await pinSet('12\n')).to.include({ code: EXIT.usage });
    expect(await pinSet('')).to.include({ code: EXIT.usage });
    expect((await svc(node.paths, 'pin', 'set', '1234')).code).to.equal(EXIT.usage);
    expect(await opens('31415')).to.equal(200);
    expect((await svc(node.paths, 'pin', 'clear')).stdout).to.equal('No PIN is set.\n');
    const { body } = await node.json('/api/dashboard/pin/status', { headers: KEYED });
    expect(body['pin_set']).to.equal(false);
  });

  it('pin set in a terminal asks twice and shows nothing of what is typed', async () => {
    const child = spawn('script', ['-qefc', `${process.execPath} ${SVC} pin set`, '/dev/null'], {
      env: svcEnv(node.paths),
    });
    let text = '';
    const shows = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) text += String(((await once(child.stdout, 'data')) as [Buffer])[0]);
    };
    await shows('New PIN (4 to 12 digits): ');
    child.stdin.write('86420\r');
    await shows('The same again: ');
    child.stdin.write('86420\r');
    await shows('PIN set.');
    if (child.exitCode === null) await once(child, 'exit');
    expect(text).to.not.include('8642');
    expect(await opens('86420')).to.equal(200);
  });

  it('a script on stdin is left to the script: no command takes its argument from there', () => {
    const script = `"${process.execPath}" "${SVC}" config get >/dev/null\n"${process.execPath}" "${SVC}" cmd\necho "the end"\n`;
    const env = svcEnv(node.paths);
    const said = execFileSync('bash', {
      env,
      input: script,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    expect(said).to.equal('the end\n');
  });

  it('answers in JSON end with a newline: a value, one of the residual, an error, a refused upgrade, --json', async () => {
    const upgrade = [
      '-H',
      'connection: upgrade',
      '-H',
      'upgrade: websocket',
      '-H',
      'sec-websocket-version: 13',
    ];
    const key = ['-H', `x-svc-key: ${KEY}`];
    for (const [path, ...headers] of [
      ['/api/status', ...key],
      ['/api/config', ...key],
      ['/openapi.json', ...key],
      ['/api/status'],
      ['/api/nothing', ...key],
      ['/api/telemetry/ws', ...upgrade, '-H', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='],
    ] as const) {
      const { stdout } = await promisify(execFile)('curl', [
        '-s',
        '--max-time',
        '5',
        ...headers,
        `${node.url}${path}`,
      ]);
      expect(stdout, path).to.match(/^\{[^]*\}\n$/);
      expect(() => JSON.parse(stdout) as unknown).to.not.throw();
    }
    expect((await svc(node.paths, 'pin', 'status', '--json')).stdout).to.match(/\}\n$/);
    expect((await svc(node.paths, 'openapi')).stdout).to.match(/\}\n$/);
    expect((await svc(node.paths, 'params', 'get', 'NONE', '--json')).stdout).to.match(/\}\n$/);
  });

  it('svc status in a checkout takes less than 300 ms of CPU time', () => {
    // User and system time of the shell's children, from the second run on. The least: others may be at work here.
    const script = `for i in 1 2 3 4 5 6; do "$0" "$1" status >/dev/null || exit 1; times | tail -1; done`;
    const lines = execFileSync('bash', ['-c', script, process.execPath, SVC], {
      env: svcEnv(node.paths),
      encoding: 'utf8',
    });
    const seconds = lines
      .trim()
      .split('\n')
      .map((line) => [...line.matchAll(/([\d.]+)s/g)].reduce((sum, [, value]) => sum + Number(value), 0));
    const spent = seconds.slice(1).map((value, index) => value - (seconds[index] ?? 0));
    expect(spent).to.have.length(5);
    expect(Math.min(...spent), spent.join(' ')).to.be.below(0.3);
  });

  it('svc status asks the node where its set-up is, and reads no config by itself, which would take as long again', async () => {
    const unpaired = await TestNode.start({ simulated: false });
    try {
      const { code, stdout } = await svc({ ...unpaired.paths, etc: '/nonexistent' }, 'status');
      expect(code).to.equal(0);
      expect(stdout).to.match(
        new RegExp(`^not paired: its set-up is at http://\\S+:${unpaired.port}/setup$`, 'm'),
      );
    } finally {
      await unpaired.stop();
    }
  });
});

describe('svc help of a topic', function () {
  this.timeout(120_000);
  const nowhere = pathsFrom({
    SVC_ETC_DIR: '/nonexistent',
    SVC_RUN_DIR: '/nonexistent',
    SVC_STATE_DIR: '/nonexistent',
  });
  const ids = Object.keys(allCommands).map((id) => id.split(':'));
  for (const topic of new Set(ids.flatMap((words) => (words.length > 1 ? [words[0] ?? ''] : [])))) {
    it(`svc help ${topic} and svc ${topic} --help list its commands`, async () => {
      const [help, flag] = await Promise.all([svc(nowhere, 'help', topic), svc(nowhere, topic, '--help')]);
      expect([help.code, flag.code]).to.deep.equal([0, 0]);
      for (const words of ids)
        if (words[0] === topic && words.length === 2)
          expect(help.stdout).to.match(new RegExp(`^ {2}${words.join(' ')} +[A-Z]`, 'm'));
      expect(flag.stdout).to.equal(help.stdout);
    });
  }
});

describe('the demo nodes', () => {
  let dir: string;
  before(async () => {
    dir = await tempDir();
  });
  after(async () => removeDir(dir));

  it('drone and ground station share no port', async () => {
    const [drone, ground] = await Promise.all(
      [false, true].map(async (isGround) => {
        const paths = pathsFrom({ SVC_ETC_DIR: join(dir, String(isGround)) });
        await mkdir(paths.etc);
        await seedDemoConfig(paths, isGround);
        return parseConfig(readFileSync(paths.config, 'utf8'), paths.config);
      }),
    );
    expect(ground?.agent.profile).to.equal('ground-station');
    expect(ground?.api.port).to.not.equal(drone?.api.port);
    for (const endpoint of ground?.mavlink.endpoints ?? [])
      expect(drone?.mavlink.endpoints).to.not.include(endpoint);
  });

  it('a ground station whose own config names no profile and no port is none of a drone’s; what it names stays', async () => {
    const paths = pathsFrom({ SVC_ETC_DIR: join(dir, 'own'), SVC_STATE_DIR: join(dir, 'own-state') });
    await mkdir(paths.etc);
    const read = () => parseConfig(readFileSync(paths.config, 'utf8'), paths.config);
    await writeFile(paths.config, '# mine\nlogging:\n  level: warn\n');
    await seedDemoConfig(paths, true);
    expect([read().agent.profile, read().api.port]).to.deep.equal(['ground-station', 8081]);
    expect(readFileSync(paths.config, 'utf8')).to.include('# mine').and.to.include('level: warn');
    await writeFile(paths.config, 'agent:\n  profile: drone\napi:\n  port: 9000\n');
    await seedDemoConfig(paths, true);
    expect([read().agent.profile, read().api.port]).to.deep.equal(['drone', 9000]);
  });

  it('a folder with files of another user is refused at the start, with what to do', async () => {
    const folder = join(dir, 'owned');
    await mkdir(join(folder, 'state/log'), { recursive: true });
    await writeFile(join(folder, 'state/log/svc.log'), '');
    const own = process.getuid?.() ?? 0;
    await checkOwner(folder, own);
    await checkOwner(join(dir, 'none yet'), own);
    const error: unknown = await checkOwner(folder, own + 1).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.include(`sudo chown -R ${own + 1} ${folder}`);
  });
});

describe('a camera that is away', function () {
  this.timeout(120_000);

  it('is one warning, however often it is tried', async () => {
    const node = await TestNode.start({
      simulated: false,
      config: 'video:\n  source: v4l2:/dev/video99\n',
    });
    try {
      let restarts = 0;
      while (restarts < 4) restarts = Number((await node.json('/api/video')).body['restarts']);
      const warnings = node.stderr.split('\n').filter((line) => line.includes('v4l2:/dev/video99: '));
      expect(warnings, warnings.join('\n')).to.have.length(1);
    } finally {
      await node.stop();
    }
  });
});
