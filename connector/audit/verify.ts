import { existsSync } from 'node:fs';
import { headFile } from '../../shared/audit/head.ts';
import { verifyFiles } from '../../shared/audit/verify.ts';
import { AUDIT_FILES, keyFileOf, placesOf } from './places.ts';

/** Checks the chains of all connectors with this path, through their files, oldest first, up to their signed heads. */
export function verifyAuditFiles(path: string): { readonly ok: boolean; readonly sentence: string } {
  const used = placesOf(path).filter((place) => existsSync(place) || existsSync(headFile(place)));
  if (used.length === 0) return { ok: true, sentence: `${path} does not exist: nothing was recorded.` };
  const verdicts = used.map((place) => verifyFiles(place, AUDIT_FILES, keyFileOf(place)));
  const broken = verdicts.flatMap((verdict) =>
    verdict.ok ? [] : [`BROKEN: ${verdict.file} line ${verdict.line}: ${verdict.why}`],
  );
  if (broken.length > 0) return { ok: false, sentence: broken.join('\n') };
  const records = verdicts.reduce((sum, verdict) => sum + (verdict.ok ? verdict.records : 0), 0);
  const unchecked = verdicts.flatMap(({ head_not_checked: why }) =>
    why === null ? [] : [` The end of the chain was not checked: ${why}.`],
  );
  const chains = used.length === 1 ? '' : ` in ${used.length} chains`;
  return { ok: true, sentence: `${records} records${chains}, unbroken.${unchecked.join('')}` };
}
