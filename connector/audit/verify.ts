import { existsSync } from 'node:fs';
import { verifyFiles } from '../../shared/audit/verify.ts';
import { AUDIT_FILES, keyFileOf } from './audit.ts';

/** Checks the chain through the audit's files, oldest first, up to its signed head. */
export function verifyAuditFiles(path: string): { readonly ok: boolean; readonly sentence: string } {
  const verdict = verifyFiles(path, AUDIT_FILES, keyFileOf(path));
  if (!verdict.ok)
    return { ok: false, sentence: `BROKEN: ${verdict.file} line ${verdict.line}: ${verdict.why}` };
  if (!existsSync(path) && verdict.records === 0)
    return { ok: true, sentence: `${path} does not exist: nothing was recorded.` };
  const unchecked =
    verdict.head_not_checked === null
      ? ''
      : ` The end of the chain was not checked: ${verdict.head_not_checked}.`;
  return { ok: true, sentence: `${verdict.records} records, unbroken.${unchecked}` };
}
