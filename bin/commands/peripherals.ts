import { Flags } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';

type List = Answer<'peripherals.get'>;
type Users = List['peripherals'][number]['used_by'];

class PeripheralsCommand extends NodeCommand {
  static override summary = 'List what is connected to the node, who uses it, and what was unplugged.';
  static override examples = ['<%= config.bin %> peripherals', '<%= config.bin %> peripherals --kind serial'];
  static override flags = {
    kind: Flags.string({
      summary: 'only one kind',
      options: ['serial', 'usb', 'camera', 'i2c', 'gpio', 'network'],
    }),
  };

  async run(): Promise<List> {
    const { kind } = (await this.parse(PeripheralsCommand)).flags;
    const answer = await this.call('GET /api/peripherals');
    const shown = answer.peripherals.filter((each) => kind === undefined || each.kind === kind);
    for (const {
      kind: what,
      name,
      connected,
      device_paths: paths,
      used_by: users,
      last_seen: seen,
    } of shown) {
      const state = connected ? usersOf(users, paths) : `unplugged, last seen ${seen ?? 'never'}`;
      this.log(`${what.padEnd(8)} ${name}`);
      this.log(`${' '.repeat(9)}${[paths[0], state].filter(Boolean).join('  ')}`);
    }
    if (shown.length === 0) this.log('Nothing is connected.');
    for (const { name, ok, error } of answer.sources)
      if (!ok) this.warn(`${name} could not be read: ${error ?? 'no reason given'}`);
    return { ...answer, peripherals: shown };
  }
}

function usersOf(users: Users, paths: readonly string[]): string {
  if (paths.length === 0) return '';
  if (users === null) return 'used by: not known';
  if (users.length === 0) return 'not used';
  return `used by ${users.map(({ pid, process, ours }) => `${ours ?? process} (${pid})`).join(', ')}`;
}

export default { peripherals: PeripheralsCommand };
