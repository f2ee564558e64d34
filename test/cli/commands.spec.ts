import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import allCommands from '../../bin/cli/all-commands.ts';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { COMMAND_NAMES } from '../../shared/flight/command-catalogue.ts';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc, svcEnv } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const nowhere = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];

/** Without --json, and why. */
const NO_JSON: Readonly<Record<string, string>> = { openapi: 'what it prints is JSON, always' };

const commands = Object.entries(allCommands).toSorted(([a], [b]) => (a < b ? -1 : 1));

describe('every command', () => {
  for (const [id, command] of commands) {
    const name = id.replaceAll(':', ' ');
    it(`svc ${name} has a summary, an example and --json`, () => {
      expect(command.summary ?? '').to.match(/^[A-Z].+\.$/);
      expect(command.examples ?? []).to.not.have.length(0);
      expect(command.enableJsonFlag, NO_JSON[id]).to.equal(!Object.hasOwn(NO_JSON, id));
    });

    it(`svc ${name} ends with ${EXIT.usage} at a flag that it does not have, and does nothing`, async () => {
      const before = process.exitCode;
      const error: unknown = await command.run(['--no-such-flag'], ROOT).catch((thrown: unknown) => thrown);
      process.exitCode = before; // oclif leaves its own
      expect(error).to.have.nested.property('oclif.exit', EXIT.usage);
    });
  }
});

describe('a file in bin/commands', () => {
  const folder = join(ROOT, 'bin/commands');
  for (const file of globSync('*.ts', { cwd: folder }).toSorted()) {
    const word = basename(file, '.ts');
    it(`${file} has the commands that begin with ${word}, as svc looks for them there`, async () => {
      const { default: table }: { default: object } = await import(join(folder, file));
      expect(Object.keys(table)).to.not.have.length(0);
      expect(Object.keys(table).filter((id) => id.split(':')[0] !== word)).to.deep.equal([]);
    });
  }

  it('is the only one that is loaded for a command that is named first, or after help', () => {
    const tell = `import { registerHooks } from 'node:module';
      registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context); } });`;
    const env = {
      ...svcEnv(nowhere),
      NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(tell)}"`,
    };
    const loaded = (...words: readonly string[]): readonly string[] =>
      [
        ...spawnSync(process.execPath, [join(ROOT, 'bin/svc.js'), ...words], {
          env,
          encoding: 'utf8',
        }).stderr.matchAll(/\/bin\/commands\/([a-z-]+)\.[jt]s$/gm),
      ].map(([, word = '']) => word);
    expect(loaded('services', 'list', '--help')).to.deep.equal(['services']);
    expect(loaded('help', 'services')).to.deep.equal(['services']);
    expect(loaded('--demo', 'ground', 'status', '--help')).to.deep.equal(['status']);
    expect(loaded('pin', 'stat')).to.deep.equal(['pin']);
  });
});

describe('svc help', () => {
  it('says of every group of commands what it is about', async () => {
    const topics = new Set(commands.flatMap(([id]) => (id.includes(':') ? [id.split(':')[0]] : [])));
    const { code, stdout } = await svc(nowhere, 'help');
    expect(code).to.equal(0);
    const shown = [
      ...(/^TOPICS\n([^]*?)\n\n/m.exec(stdout)?.[1] ?? '').matchAll(/^ {2}([a-z-]+) {2,}[A-Z].*\.$/gm),
    ];
    expect(shown.map(([, topic]) => topic)).to.have.members([...topics]);
    expect((await svc(nowhere, '--help')).stdout).to.equal(stdout);
  });

  it('svc help mcp, svc mcp --help and svc mcp are the same: its commands with their summaries', async () => {
    const [help, flag, bare] = await Promise.all([
      svc(nowhere, 'help', 'mcp'),
      svc(nowhere, 'mcp', '--help'),
      svc(nowhere, 'mcp'),
    ]);
    expect(help.code).to.equal(0);
    expect(help.stdout)
      .to.include('$ svc mcp COMMAND')
      .and.to.match(/^ {2}mcp mint +Mint /m);
    expect([flag.stdout, bare.stdout]).to.deep.equal([help.stdout, help.stdout]);
  });

  it('svc help logs query is about that command; of one that is not there it says so', async () => {
    const query = await svc(nowhere, 'help', 'logs', 'query');
    expect(query.stdout).to.include('$ svc logs query').and.to.include('--cursor=<value>');
    expect((await svc(nowhere, 'nonsense')).stderr).to.include('command nonsense not found');
  });
});

describe('exit codes', () => {
  it('are documented by svc --help, and nowhere written as numbers', async () => {
    const { stdout } = await svc(nowhere, '--help');
    for (const code of Object.values(EXIT))
      expect(stdout.replaceAll(/\s+/g, ' ')).to.match(new RegExp(`[:;] ${code} `));
    const literal = globSync('bin/commands/**/*.ts', { cwd: ROOT }).filter((file) =>
      /exit: \d|exitCode = \d|this\.exit\(\d/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(literal).to.deep.equal([]);
  });

  it('a value that a flag turns down is wrong usage; no node is a code of its own', async () => {
    expect((await svc(nowhere, 'top', '--once', '--interval', '99')).code).to.equal(EXIT.usage);
    expect((await svc(nowhere, 'logs', 'query', '--level', 'loud')).code).to.equal(EXIT.usage);
    expect((await svc(nowhere, 'status', '--host', 'a b:c')).code).to.equal(EXIT.usage);
    expect((await svc(nowhere, 'status', '--json')).code).to.equal(EXIT.noNode);
  });

  it('a node that ends instead of an answer is no node, in words', async () => {
    const run = await tempDir();
    const ending = createServer((socket) => socket.once('data', () => socket.destroy()));
    ending.listen(join(run, 'control.sock'));
    await once(ending, 'listening');
    const { code, stderr } = await svc({ ...nowhere, run }, 'status');
    expect(stderr).to.include('The node closed the connection before it answered (ECONNRESET)');
    expect(code).to.equal(EXIT.noNode);
    ending.close();
    await removeDir(run);
  });
});

describe('svc completion', () => {
  let folder: string;
  before(async () => {
    folder = await tempDir();
    await mkdir(join(folder, 'bin'));
    await writeFile(
      join(folder, 'bin/svc'),
      `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, 'bin/svc.js')} "$@"\n`,
      { mode: 0o755 },
    );
  });
  after(async () => removeDir(folder));

  const complete = (line: string): readonly string[] =>
    execFileSync(
      'bash',
      [
        '-c',
        `source <(svc completion bash); COMP_WORDS=(${line}); [[ "${line}" == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8', env: { ...process.env, PATH: `${folder}/bin:${process.env['PATH'] ?? ''}` } },
    )
      .trim()
      .split('\n');

  it('bash completes words, the words below them, and flags', () => {
    expect(complete('svc lo')).to.deep.equal(['logs']);
    expect(complete('svc logs ')).to.include.members(['query', 'tail', 'export']);
    expect(complete('svc config di')).to.deep.equal(['diff']);
    expect(complete('svc top --int')).to.deep.equal(['--interval']);
  });

  it('bash completes choices: of an argument, of a flag, and goes on after a flag’s value', () => {
    expect(complete('svc completion ')).to.have.members(['bash', 'zsh', 'fish']);
    expect(complete('svc completion bash ')).to.deep.equal(['']); // one argument, and it stands
    expect(complete('svc logs query --level w')).to.deep.equal(['warn']);
    expect(complete('svc logs query --level = w')).to.deep.equal(['warn']); // as bash splits --level=w
    expect(complete('svc logs query --source status --lev')).to.deep.equal(['--level']);
    expect(complete('svc --host 192.168.4.1 con')).to.deep.equal(['config']);
    expect(complete('svc params get WPNAV_SPEED --js')).to.deep.equal(['--json']);
    expect(complete('svc params save --key status ')).to.deep.equal(['']); // bash falls back to file names
  });

  it('bash completes the flight commands, their words and the flags after them', () => {
    expect(complete('svc cmd take')).to.deep.equal(['takeoff']);
    expect(complete('svc cmd ')).to.have.members(COMMAND_NAMES);
    expect(complete('svc cmd killSwitch ')).to.deep.equal(['KILL']);
    expect(complete('svc cmd takeoff 10 --wa')).to.deep.equal(['--wait']);
    expect(complete('svc cmd --allow')).to.deep.equal(['--allow-far']);
  });

  it('zsh and fish have theirs', async () => {
    const paths = { etc: folder, run: folder, state: folder } as Parameters<typeof svc>[0];
    const zsh = (await svc(paths, 'completion', 'zsh')).stdout;
    expect(zsh).to.include('bashcompinit');
    expect(zsh).to.not.match(/\b(?:path|words)=/); // special in zsh: to set them is to lose $PATH
    const fish = (await svc(paths, 'completion', 'fish')).stdout;
    expect(fish).to.include("complete -c svc -f -n '__fish_use_subcommand' -a top");
    expect(fish).to.match(/-l level -x -a 'trace debug info warn error'/);
    for (const line of fish.trim().split('\n'))
      expect(line.replaceAll("\\'", '').split("'").length % 2).to.equal(1);
    expect((await svc(paths, 'completion', 'tcsh')).code).to.equal(2);
  });
});

describe('svc config diff and list', () => {
  it('show what differs from the defaults, and the settings by topic; secrets masked', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: 'logging:\n  level: debug\nvideo:\n  source: none\n  password: hunter22\n',
    });
    try {
      const { code, stdout } = await svc(node.paths, 'config', 'diff', '--json');
      expect(code).to.equal(0);
      const { differences } = JSON.parse(stdout) as { differences: readonly object[] };
      expect(differences).to.deep.include({ key: 'logging.level', value: 'debug', default: 'info' });
      expect(differences).to.deep.include({ key: 'video.password', value: '***', default: '' });
      expect(differences).to.deep.include({ key: 'api.port', value: node.port, default: 8080 });
      expect(stdout).to.not.include('hunter22');
      expect((await svc(node.paths, 'config', 'diff')).stdout).to.include(
        'logging.level: "debug"  (default "info")',
      );
      const list = (await svc(node.paths, 'config', 'list', 'log', 'level')).stdout;
      expect(list).to.include('Log level (Logs and storage)\nlogging.level: "debug"');
      expect(list).to.include('In force after: svc services restart svc-supervisor');
      const all = await svc(node.paths, 'config', 'list');
      expect(all.stdout).to.match(
        /^Logs and storage:\n {2}Log level +logging\.level: "debug" {2}\(default "info"\)$/m,
      );
      expect(all.stdout).to.match(/^ {2}Stored logs: Size of the store +logging\.store\.max_mb: 256 MB$/m);
      expect(all.stdout).to.not.include('hunter22');
      const none = await svc(node.paths, 'config', 'list', 'xyzzy');
      expect(none.code).to.not.equal(0);
      expect(none.stderr).to.include('No setting has xyzzy.');
    } finally {
      await node.stop();
    }
  });
});
