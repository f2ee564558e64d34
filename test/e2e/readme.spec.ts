import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT, SAFE_PATH } from '../support/node.ts';
import { isAsShown, shownLines } from '../support/shown-shell.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** Lines that run until somebody ends them. */
const ENDLESS = /^npx svc(?:-hub --demo| (?:logs tail|top))\b/;
/** Lines that need what this test does not have, and where they are tested. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npx svc operator hold': 'a terminal: test/connector/safety.spec.ts',
  'npx svc operator confirm 7KQ2MZPA': 'a call that waits: test/connector/safety.spec.ts',
};
/** What another machine or another run shows otherwise: its processor and load, secrets that are described. */
const OF_A_MACHINE = /^(?:board|health) |<\d+ characters>|…$/;
const TRACKED = [
  'shared',
  'front',
  'residual',
  'bin',
  'package.json',
  'tsconfig.json',
  '.gitignore',
  'README.md',
];
const MARK = '@@line';

/** A network of its own, so that the ports of the README are free. */
const OWN_NETWORK = ['unshare', process.getuid?.() === 0 ? '-n' : '-rn'] as const;

/** What a reader does not see and waits for all the same: that it has a position, that it has landed. */
const until = (found: string): string =>
  `for i in $(seq 300); do curl -s --unix-socket .svc/run/control.sock http://localhost/api/telemetry | grep -q '${found}' && break; sleep 0.2; done`;

describe('the README', function () {
  this.timeout(240_000);
  let dir: string;
  before(async function () {
    if (spawnSync(OWN_NETWORK[0], [OWN_NETWORK[1], 'true']).status !== 0) this.skip();
    dir = await tempDir();
    for (const name of TRACKED) await cp(join(ROOT, name), join(dir, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  });
  after(async () => (dir === undefined ? undefined : removeDir(dir)));

  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: dir,
      encoding: 'utf8',
    });

  it('every line of it runs as written, in order, says what it shows, and leaves `git status` clean', async () => {
    git('init', '-q');
    await writeFile(join(dir, '.git/info/exclude'), 'node_modules\n'); // here it is a link
    git('add', '-A');
    git('commit', '-qm', 'as cloned');
    const lines = shownLines(await readFile(join(dir, 'README.md'), 'utf8'));
    expect(lines.length).to.be.above(30);
    const [start, ...others] = lines.filter(
      ({ command }) => ELSEWHERE[command.split(' #')[0]?.trim() ?? ''] === undefined,
    );
    expect(start?.command).to.equal('npm start');
    const script = [
      'set -m',
      'ip link set lo up',
      `npm start >start.txt 2>&1 &`,
      'started=$!',
      'for i in $(seq 300); do grep -q "Ctrl-C stops everything" start.txt && break; sleep 0.1; done',
      until('"ok":true,"flags"'),
      ...others.flatMap((line) => [
        ENDLESS.test(line.command) ? `timeout -s INT 4 ${line.command}` : line.command,
        `printf '\\n${MARK} %s\\n' $?`,
        ...(line.command.includes('"cmd":"land"') ? [until('"armed":false')] : []),
      ]),
      'kill -INT -- -$started',
      'wait',
      'rm start.txt',
    ];
    const bin = join(dir, 'node_modules/.bin');
    const shell = spawn(OWN_NETWORK[0], [OWN_NETWORK[1], 'bash', '-c', script.join('\n')], {
      cwd: dir,
      env: { ...process.env, PATH: `${bin}:${SAFE_PATH}`, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
    const late = setTimeout(200_000, null, { ref: false }).then(() => {
      shell.kill();
      throw new Error(text);
    });
    await Promise.race([once(shell, 'close'), late]);

    const answers = text.split(new RegExp(`\n${MARK} (\\d+)\n`));
    for (const [index, { command, output }] of others.entries()) {
      const answer = (answers[index * 2] ?? '').trim();
      const code = Number(answers[index * 2 + 1]);
      const said = `${command}\n${answer}`;
      // 124: ended by `timeout`. svc doctor: 1 when it has found something, as it may on a machine of tests.
      expect(code, said).to.be.oneOf(
        ENDLESS.test(command) ? [0, 124] : command.includes('doctor') ? [0, 1] : [0],
      );
      const came = answer.split('\n').map((line) => line.trim());
      const shown = output
        .map((line) => line.trim())
        .filter((line) => line !== '' && !OF_A_MACHINE.test(line));
      const wrong = shown.filter((line) => !came.some((each) => isAsShown(each, line)));
      expect(wrong, said).to.deep.equal([]);
    }
    expect(git('status', '--porcelain')).to.equal('');
  });
});
