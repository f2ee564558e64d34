import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EXIT } from '../../bin/cli/exit-codes.ts';
import { COMMANDS, type CommandSpec } from '../../shared/flight/command-catalogue.ts';
import { ROOT } from '../support/node.ts';
import { svc } from '../support/svc.ts';

const nowhere = { etc: '/nonexistent', run: '/nonexistent', state: '/nonexistent' } as Parameters<
  typeof svc
>[0];

describe('svc cmd', function () {
  this.timeout(60_000); // each call is a process of its own

  it('lists in its help every command with its arguments and what it does', async () => {
    const help = (await svc(nowhere, 'cmd', '--help')).stdout.replaceAll(/\s+/g, ' ');
    expect(help)
      .to.include('takeoff ALT [ARM]: Take off')
      .and.to.include('yaw ANGLE [RATE] [RELATIVE]: Turn');
    for (const [name, { description, args }] of Object.entries<CommandSpec>(COMMANDS)) {
      expect(help).to.include(description);
      const usage = new RegExp(
        ` ${[name, ...args.map((arg) => `\\[?${arg.name.toUpperCase()}\\]?`)].join(' ')}: `,
      );
      expect(help).to.match(usage);
    }
  });

  for (const [words, missing] of [
    ['takeoff', 'svc cmd takeoff ALT [ARM] needs ALT (m, 1 to 500).'],
    ['TAKEOFF --wait', 'svc cmd takeoff ALT [ARM] needs ALT (m, 1 to 500).'],
    ['goto 48.1', 'svc cmd goto LAT LON ALT needs LON (deg, -180 to 180).'],
    ['killSwitch', 'svc cmd killSwitch CONFIRM needs CONFIRM (KILL).'],
  ] as const)
    it(`svc cmd ${words} sends nothing, and says what is missing where nobody can be asked`, async () => {
      const { code, stderr } = await svc(nowhere, 'cmd', ...words.split(' '));
      expect(stderr.replaceAll(/[\s›]+/g, ' ')).to.include(missing);
      expect(code).to.equal(EXIT.usage);
    });

  it('asks for the height on a terminal, and goes on with it; for an empty answer it sends nothing', async () => {
    const typed = async (answer: string): Promise<string> => {
      const command = `${process.execPath} ${join(ROOT, 'bin/svc.js')} cmd takeoff --host 127.0.0.1:1; echo "ended with $?"`;
      const ended = promisify(execFile)('script', ['-qec', command, '/dev/null'], { timeout: 30_000 });
      ended.child.stdout?.once('data', () => ended.child.stdin?.end(answer));
      return (await ended).stdout;
    };
    expect(await typed('12\n'))
      .to.include('alt (m, 1 to 500): ')
      .and.to.include('No node answers at 127.0.0.1:1')
      .and.to.include(`ended with ${EXIT.noNode}`);
    expect(await typed('\n'))
      .to.include('Nothing was sent.')
      .and.to.include(`ended with ${EXIT.usage}`);
  });
});
