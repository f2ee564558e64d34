import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { headFile, readHead, readKey } from '../../../shared/audit/head.ts';
import { type FilesVerdict, verifyFiles } from '../../../shared/audit/verify.ts';
import { AUDIT_FILE, type Paths, PROGRAMS_FILE, STRANGERS_FILE } from '../../../shared/paths.ts';

/** How many files are kept: the open one and those before it. */
export const AUDIT_FILES = 5;
/** Of operators, while the oldest has a record of the last 30 days. */
export const MOST_AUDIT_FILES = 20;
export const PROGRAMS_FILES = 4;
export const STRANGERS_FILES = 3;

/** Where the audit is. */
export interface AuditPlaces {
  readonly directory: string;
  /** The key that signs the heads of the chains. */
  readonly keyFile: string;
  /** Where the heads are kept once more, outside of the directory. */
  readonly heads: string;
}

/** The check behind `svc audit verify`: operators, programs, strangers. */
export function verifyAudit({
  auditDir: directory,
  auditKey: keyFile,
  auditHeads: heads,
}: Pick<Paths, 'auditDir' | 'auditKey' | 'auditHeads'>): readonly FilesVerdict[] {
  return chainPlaces({ directory, keyFile, heads }).map(({ path, files, more }) =>
    verifyFiles(path, files, keyFile, more),
  );
}

/** Operators, programs, strangers, as the checks of a chain take them. */
export function chainPlaces(places: AuditPlaces) {
  const { directory, heads } = places;
  const place = (name: string, files: number, most = files) => {
    const anchor = anchorOf(heads, name);
    // An older version had no chain of programs.
    const isThere = name !== PROGRAMS_FILE || existsSync(anchor) || !isOfOlderVersion(places);
    return { path: join(directory, name), files, more: { most, anchor: isThere ? anchor : null } };
  };
  return [
    place(AUDIT_FILE, AUDIT_FILES, MOST_AUDIT_FILES),
    place(PROGRAMS_FILE, PROGRAMS_FILES),
    place(STRANGERS_FILE, STRANGERS_FILES),
  ];
}

/** Whether the operators' chain was last written by a version that kept no head outside of the folder. */
export function isOfOlderVersion({ directory, keyFile }: AuditPlaces): boolean {
  try {
    const key = readKey(keyFile);
    const head = key === null ? null : readHead(headFile(join(directory, AUDIT_FILE)), key);
    return head !== null && typeof head !== 'string' && !head.anchored;
  } catch {
    return false; // the check itself says what cannot be read
  }
}

export function anchorOf(heads: string, name: string): string {
  return join(heads, `${name}.head`);
}
