import { existsSync, readFileSync } from 'node:fs';
import { GENESIS, verifyChain } from '../../shared/audit/chain.ts';
import { AUDIT_FILES } from './audit.ts';

/** Follows the chain through the audit's files, oldest first. */
export function verifyAuditFiles(path: string): { readonly ok: boolean; readonly sentence: string } {
  const names = Array.from({ length: AUDIT_FILES }, (_, index) => (index === 0 ? path : `${path}.${index}`))
    .filter((name) => existsSync(name))
    .toReversed();
  if (names.length === 0) return { ok: true, sentence: `${path} does not exist: nothing was recorded.` };
  const files = names.map((name) => ({ name, text: readFileSync(name, 'utf8') }));
  // The oldest file of a full set follows one that was rotated away.
  const verdict = verifyChain(files, names.length < AUDIT_FILES ? GENESIS : null);
  return verdict.ok
    ? { ok: true, sentence: `${verdict.records} records in ${names.length} files, unbroken.` }
    : { ok: false, sentence: `BROKEN: ${verdict.file} line ${verdict.line}: ${verdict.why}` };
}
