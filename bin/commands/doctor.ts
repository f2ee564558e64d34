import { styleText } from 'node:util';
import type { Check } from '../doctor/check.ts';
import { examine } from '../doctor/doctor.ts';
import { NodeCommand } from '../node-command.ts';

const STYLE = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'dim' } as const;

export default class DoctorCommand extends NodeCommand {
  static override summary = 'Look for what is wrong with the node on this machine, running or not.';
  static override description = 'Exit code 1 when something failed.';
  static override examples = ['<%= config.bin %> doctor', 'sudo <%= config.bin %> doctor --json'];

  async run(): Promise<{ readonly checks: readonly Check[] }> {
    await this.parse(DoctorCommand);
    const checks = await examine(this.paths, async (method, path) => this.api(method, path));
    if (checks.some(({ result }) => result === 'fail')) process.exitCode = 1;
    for (const { name, result, found, advice } of checks) {
      this.log(`${styleText(STYLE[result], result.padEnd(4))} ${name}: ${found}`);
      if (advice !== null) this.log(`       ${advice}`);
    }
    return { checks };
  }
}
