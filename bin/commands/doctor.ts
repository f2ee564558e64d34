import { styleText } from 'node:util';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { type Asker, callNode } from '../client/local-client.ts';
import type { Check } from '../doctor/check.ts';
import { examine, examineRemote } from '../doctor/doctor.ts';

/** For a node that hangs; the check then says so. */
const ANSWER_MS = 5000;
const STYLE = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'dim' } as const;

class DoctorCommand extends NodeCommand {
  static override summary = 'Find problems of the node on this machine, running or not.';
  static override description =
    'Each check: ok, warn, fail or skip, what was found and what to do. Exit code 1 when something failed.';
  static override examples = ['<%= config.bin %> doctor', 'sudo <%= config.bin %> doctor --json'];

  async run(): Promise<{ readonly checks: readonly Check[] }> {
    await this.parse(DoctorCommand);
    const ask: Asker = async (route, more) =>
      callNode(this.address, route, { ...more, signal: AbortSignal.timeout(ANSWER_MS) });
    const checks = this.isElsewhere ? await examineRemote(ask) : await examine(this.paths, ask);
    if (checks.some(({ result }) => result === 'fail')) process.exitCode = EXIT.refused;
    for (const { name, result, found, advice } of checks) {
      this.log(`${styleText(STYLE[result], result.padEnd(4))} ${name}: ${printable(found)}`);
      if (advice !== null) this.log(`       ${advice}`);
    }
    return { checks };
  }
}

/** The last output of a process must not control the terminal. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

export default { doctor: DoctorCommand };
