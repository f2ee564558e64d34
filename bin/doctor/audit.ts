import { access, constants } from 'node:fs/promises';
import { verifyAudit } from '../../front/control/stores/audit-files.ts';
import { codeOf } from '../../shared/errors.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Asker } from '../client/local-client.ts';
import { type Check, fail, ok, skip } from './check.ts';

const NAME = 'audit';

/** Checks the chains on the disk. */
export async function auditFiles(paths: Paths): Promise<Check> {
  await access(paths.auditDir, constants.R_OK | constants.X_OK).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error; // a folder that is gone is for the check to judge
  });
  const verdicts = verifyAudit(paths);
  for (const verdict of verdicts) {
    if (!verdict.ok)
      return fail(
        NAME,
        `${verdict.file} line ${verdict.line}: ${verdict.why}.`,
        'Records were changed or removed: keep a copy of the folder, and find out by whom.',
      );
  }
  const records = verdicts.reduce((sum, verdict) => sum + (verdict.ok ? verdict.records : 0), 0);
  if (records === 0) return skip(NAME, 'Nothing was recorded yet.');
  return ok(NAME, `${records} records, the chains are whole.`);
}

/** Whether the running node can write the audit. */
export async function auditOfNode(api: Asker): Promise<Check> {
  const name = 'audit of the node';
  const { audit } = await api('GET /api/v1/diagnostics');
  if (audit === undefined) return skip(name, 'This node does not say.');
  if (audit.problem !== null)
    return fail(
      name,
      `It cannot be written: ${audit.problem}. Flight, settings and secrets are refused until then.`,
      'Make room on the disk, or repair the folder of the audit.',
    );
  if (audit.lost > 0)
    return fail(name, `${audit.lost} records were lost since the start.`, 'Find out what filled the disk.');
  return ok(name, 'Every record was written.');
}
