import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from '@oclif/core';
import { AUDIT_FILE, AUDIT_FILES } from '../../../front/stores/audit.ts';
import { GENESIS, type Verdict, verifyChain } from '../../../shared/audit/chain.ts';
import { EXIT } from '../../exit-codes.ts';
import { nodePaths } from '../../places.ts';

export default class AuditVerifyCommand extends Command {
  static override summary = 'Check that no record of the audit was changed, taken out or put in.';
  static override description =
    'Exit code 0: the chain is whole. 1: it is broken, at the line that is named.';
  static override enableJsonFlag = true;
  static override examples = ['<%= config.bin %> audit verify', '<%= config.bin %> audit verify --json'];

  async run(): Promise<Verdict> {
    await this.parse(AuditVerifyCommand);
    const directory = nodePaths(process.env).auditDir;
    const names = Array.from({ length: AUDIT_FILES }, (_, i) =>
      i === 0 ? AUDIT_FILE : `${AUDIT_FILE}.${i}`,
    ).toReversed();
    const found: { name: string; text: string }[] = [];
    for (const name of names) {
      const text = await readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (text !== null) found.push({ name, text });
    }
    // The first record ever follows nothing; once the oldest file was turned out, the first that is left follows a lost one.
    const complete = found.length < AUDIT_FILES;
    const verdict = verifyChain(found, complete ? GENESIS : null);
    if (verdict.ok) this.log(`${verdict.records} records, the chain is whole`);
    else this.log(`BROKEN at ${verdict.file} line ${verdict.line}: ${verdict.why}`);
    if (!verdict.ok) process.exitCode = EXIT.refused;
    return verdict;
  }
}
