import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process';
import { on, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { ROOT, SAFE_PATH } from '../support/node.ts';
import {
  blocksOf,
  isAsShown,
  type ShownLine,
  shownLines,
  TYPED,
  TYPED_PAGES,
} from '../support/shown-shell.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** They say when they are there, and run until the page ends. */
const IN_BACKGROUND = /^(?:npm start|(?:npx )?svc-hub (?:--demo|serve))/;
/** They run until somebody ends them. */
const ENDLESS = /^(?:npx )?svc (?:logs tail|top$|plugin dev)/;
/** 1 is what they have found, as on a machine of tests they may. */
const FINDS = /^(?:npx )?svc (?:doctor|params diff|check)/;
/** What another machine shows otherwise: its processor and load, and what runs beside NetworkManager alone. */
const OF_A_MACHINE = /^(?:board|health|svc-machine) /;
const TRACKED = [
  'shared',
  'front',
  'residual',
  'bin',
  'connector',
  'deploy',
  'package.json',
  'tsconfig.json',
  '.gitignore',
];
const COMMANDS = ['svc', 'svc-hub', 'svc-mcp', 'svc-conformance'];
/** The longest that a page may take, s. */
const PAGE_S = 110;
const README = 'README.md';
const MARK = '@@line';
const END = '@@page';

/** A network of its own, so that the ports of the pages are free. */
const OWN_NETWORK = ['unshare', process.getuid?.() === 0 ? '-n' : '-rn'] as const;

/**
 * What a page says of a machine of its own, in a checkout. A processor that is too slow for the picture makes it smaller, which
 * begins another file of a recording: where tests run side by side it gets a picture that it can encode.
 */
const BEFORE: Readonly<Record<string, string>> = {
  'docs/guide/camera.md':
    'for part in width=640 height=360 fps=10; do svc config set video.hero."${part%=*}" "${part#*=}" >"$PAGES/hero" 2>&1 || exit; done',
  'docs/extensions.md':
    'export SVC_ETC_DIR="$PAGES/svc/.svc/etc" SVC_RUN_DIR="$PAGES/svc/.svc/run" SVC_STATE_DIR="$PAGES/svc/.svc/state"',
};

/** What a reader does not see and waits for all the same. */
const until = (found: string): string =>
  `for i in $(seq 300); do curl -s --unix-socket "$PAGES/svc/.svc/run/control.sock" http://localhost/api/telemetry | grep -q '${found}' && break; sleep 0.2; done`;
const AFTERWARDS: readonly (readonly [command: RegExp, script: string])[] = [
  [/^npm start/, until('"ok":true,"flags"')], // it has a position
  [/"cmd":"land"/, until('"armed":false')],
  [
    /^svc services restart svc-link/,
    'for i in $(seq 50); do svc status | grep -q link_down || break; sleep 0.1; done',
  ],
  [
    /^svc services restart svc-residual/,
    'for i in $(seq 300); do svc stream 2>/dev/null | grep -q running && break; sleep 0.2; done',
  ],
  // Whoever reads on has the key of the node, and has read the credential on the screen of the hub.
  [/^export SVC_KEY=/, 'echo "$SVC_KEY" >"$PAGES/key"'],
  [/svc-hub --demo/, 'export SVC_HUB_CREDENTIAL=$(grep -o "svc_op_[^ ]*" "$PAGES/said")'],
];

/** One command with the mark behind it, and its exit code. */
function scriptOf({ command }: ShownLine): string {
  const text = IN_BACKGROUND.test(command)
    ? `rm -f "$PAGES/said"\n{ ${command}\n} >"$PAGES/said" 2>&1 & started+=($!)\nfor i in $(seq 600); do grep -qs '^ *Ctrl-C stops' "$PAGES/said" && break; sleep 0.1; done; cat "$PAGES/said"`
    : ENDLESS.test(command)
      ? `timeout -s INT 4 ${command}`
      : command;
  const afterwards = AFTERWARDS.find(([pattern]) => pattern.test(command))?.[1] ?? '';
  return `${text}\nprintf '\\n${MARK} %s\\n' $?\n${afterwards}`;
}

/** @throws if the exit code is not what the page says: it shows an error, or none */
function expectCode(code: number, { command, output }: ShownLine, said: string): void {
  if (output.some((line) => line.startsWith('›   Error:'))) expect(code, said).to.be.oneOf([1, 2, 3]);
  // 124: ended by `timeout`.
  else expect(code, said).to.be.oneOf(ENDLESS.test(command) ? [0, 124] : FINDS.test(command) ? [0, 1] : [0]);
}

/** @returns the shown lines that did not come, in their order */
function missing(output: readonly string[], answer: string): readonly string[] {
  const came = answer.split('\n').map((line) => line.trim());
  let from = 0;
  return output.filter((shown) => {
    if (OF_A_MACHINE.test(shown)) return false;
    const at = came.findIndex((line, index) => index >= from && isAsShown(line, shown));
    if (at >= 0) from = at + 1;
    return at < 0;
  });
}

/** What of README any page needs: the node, and its key. */
const NODE = /^npm start|^export SVC_KEY=/;

/** The files that run pages, so that they run beside each other: each page is in one of them. */
const PARTS = {
  conformance: (page: string) => page === 'docs/conformance.md',
  guide: (page: string) => page.startsWith('docs/guide/'),
  rest: (page: string) => !PARTS.conformance(page) && !PARTS.guide(page),
} as const;

const linesOf = (page: string): readonly ShownLine[] =>
  blocksOf(readFileSync(join(ROOT, page), 'utf8'))
    .filter(({ language, notRun }) => TYPED.includes(language) && notRun === null)
    .flatMap(shownLines);

/** The pages of a part, on one node. */
export function typedPagesSuite(this: Mocha.Suite, part: keyof typeof PARTS): void {
  this.timeout(120_000);
  const pages = TYPED_PAGES.filter(PARTS[part]);
  let dir: string;
  let checkout: string;
  let shell: ChildProcessByStdio<Writable, Readable, null>;

  before(async function () {
    if (spawnSync(OWN_NETWORK[0], [OWN_NETWORK[1], 'true']).status !== 0) this.skip();
    dir = await tempDir();
    checkout = join(dir, 'svc');
    const bin = join(dir, 'bin');
    for (const name of TRACKED) await cp(join(ROOT, name), join(checkout, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
    await mkdir(bin);
    for (const name of COMMANDS) await symlink(join(checkout, 'bin', `${name}.js`), join(bin, name));
    git('init', '-q');
    await writeFile(join(checkout, '.git/info/exclude'), 'node_modules\n'); // here it is a link
    git('add', '-A');
    git('commit', '-qm', 'as cloned');
    shell = spawn(OWN_NETWORK[0], [OWN_NETWORK[1], 'bash'], {
      cwd: dir,
      env: {
        ...process.env,
        HOME: dir,
        PATH: `${bin}:${join(checkout, 'node_modules/.bin')}:${SAFE_PATH}`,
        NO_COLOR: '1',
        PAGES: dir,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    shell.stdin.write('ip link set lo up\n');
    if (pages.includes(README)) return;
    const lines = linesOf(README).filter(({ command }) => NODE.test(command));
    const text = await run('node', scriptFor(README, lines));
    expect(text.match(new RegExp(`^${MARK} 0$`, 'gm')), text).to.have.lengthOf(lines.length);
  });
  after(async () => {
    if (dir === undefined) return;
    shell.stdin.end(
      'read -r node <node && kill -INT -- "-$node" && while kill -0 "$node" 2>/dev/null; do sleep 0.1; done\n',
    );
    await once(shell, 'close');
    await removeDir(dir);
  });

  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: checkout,
      encoding: 'utf8',
    });

  /** Runs a script in the network of the pages. @returns what it wrote */
  const run = async (name: string, script: string): Promise<string> => {
    const file = join(dir, `${name.replaceAll(/\W/g, '-')}.sh`);
    await writeFile(file, script);
    shell.stdin.write(`timeout -k 5 ${PAGE_S} bash ${file} </dev/null 2>&1; printf '\\n${END}\\n'\n`);
    let text = '';
    for await (const [chunk] of on(shell.stdout, 'data', { close: ['close'] }) as AsyncIterable<[Buffer]>) {
      text += chunk.toString();
      if (text.endsWith(`\n${END}\n`)) break;
    }
    return text;
  };

  const folderOf = (page: string): string =>
    page === README ? checkout : join(dir, page.replaceAll(/\W/g, '-'));
  const scriptFor = (page: string, lines: readonly ShownLine[]): string =>
    [
      'set -m; started=(); [ -e key ] && export SVC_KEY=$(cat key)',
      `cd ${folderOf(page)}`,
      BEFORE[page] ?? '',
      ...lines.map(scriptOf),
      // The node is for all pages.
      page === README ? 'echo "${started[0]}" >"$PAGES/node"; started=("${started[@]:1}")' : '',
      'for pid in "${started[@]}"; do kill -INT -- "-$pid"; wait "$pid"; done',
    ].join('\n');

  for (const page of pages) {
    const lines = linesOf(page);
    if (lines.length === 0) continue;
    it(`${page}: every line runs as written, in order, and says what it shows`, async () => {
      await mkdir(folderOf(page), { recursive: true });
      const answers = (await run(page, scriptFor(page, lines))).split(new RegExp(`\n${MARK} (\\d+)\n`));
      for (const [index, line] of lines.entries()) {
        const answer = (answers[index * 2] ?? '').trim();
        const said = `${line.command}\n${answer}`;
        expectCode(Number(answers[index * 2 + 1]), line, said);
        expect(missing(line.output, answer), said).to.deep.equal([]);
      }
      if (page === README) expect(git('status', '--porcelain')).to.equal('');
    });
  }
}
