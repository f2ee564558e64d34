import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

interface CommandClass {
  readonly summary?: string;
  readonly examples?: readonly unknown[];
  readonly enableJsonFlag?: boolean;
}

/** Their output is a document of another kind. */
const NO_JSON: readonly string[] = ['mcp/mint', 'mcp/enable', 'mcp/disable', 'mcp/revoke', 'openapi'];

describe('every command', () => {
  for (const file of globSync('bin/commands/**/*.ts', { cwd: ROOT }).toSorted()) {
    const name = file.slice('bin/commands/'.length, -'.ts'.length);
    it(`svc ${name.replaceAll('/', ' ')} has a summary, an example and --json`, async () => {
      const { default: command } = (await import(join(ROOT, file))) as { default: CommandClass };
      expect(command.summary ?? '').to.match(/^[A-Z].+\.$/);
      expect(command.examples ?? []).to.not.have.length(0);
      if (!NO_JSON.includes(name)) expect(command.enableJsonFlag).to.equal(true);
    });
  }
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

  it('zsh and fish have theirs', async () => {
    const paths = { etc: folder, run: folder, state: folder } as Parameters<typeof svc>[0];
    expect((await svc(paths, 'completion', 'zsh')).stdout).to.include('bashcompinit');
    const fish = (await svc(paths, 'completion', 'fish')).stdout;
    expect(fish).to.include("complete -c svc -f -n '__fish_use_subcommand' -a top");
    expect((await svc(paths, 'completion', 'tcsh')).code).to.equal(2);
  });
});

describe('svc config diff', () => {
  it('shows what differs from the defaults, secrets masked', async () => {
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
    } finally {
      await node.stop();
    }
  });
});
