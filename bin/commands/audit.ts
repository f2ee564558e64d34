import { Command } from '@oclif/core';
import { verifyAudit } from '../../front/control/stores/audit-files.ts';
import type { FilesVerdict } from '../../shared/audit/verify.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { demoFlag } from '../cli/node-command.ts';
import { nodePaths } from '../places.ts';

class AuditVerifyCommand extends Command {
  static override summary = 'Check that no record of the audit was changed, taken out, put in or cut off.';
  static override description =
    'Exit code 0: the chains are whole. 1: one is broken, at the line that is named.';
  static override enableJsonFlag = true;
  static override flags = { demo: demoFlag };
  static override examples = ['<%= config.bin %> audit verify', '<%= config.bin %> audit verify --json'];

  async run(): Promise<FilesVerdict> {
    const { flags } = await this.parse(AuditVerifyCommand);
    const verdicts = verifyAudit(nodePaths(process.env, flags.demo ?? null));
    const broken = verdicts.find(({ ok }) => !ok);
    const [operators, programs, strangers] = verdicts;
    if (broken !== undefined && !broken.ok) {
      const where = broken.line === 0 ? '' : ` line ${broken.line}`;
      this.log(`BROKEN at ${broken.file}${where}: ${broken.why}`);
      process.exitCode = EXIT.refused;
      return broken;
    }
    if (operators?.ok !== true || programs?.ok !== true || strangers?.ok !== true)
      throw new Error('there are three chains');
    this.log(`${operators.records} records, the chain is whole`);
    this.log(`${programs.records} records of tokens, extensions and others, the chain is whole`);
    this.log(`${strangers.records} records of strangers, the chain is whole`);
    if (operators.head_not_checked !== null)
      this.log(`Whether an end was cut off was not checked: ${operators.head_not_checked}. Use sudo.`);
    return operators;
  }
}

export default { 'audit:verify': AuditVerifyCommand };
