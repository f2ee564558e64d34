import { messageOf } from '../../shared/errors.ts';

/** One thing that `svc doctor` looked at. */
export interface Check {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail' | 'skip';
  /** What was found, in a sentence. */
  readonly found: string;
  /** What to do about it; null where nothing is to be done. */
  readonly advice: string | null;
}

export function ok(name: string, found: string): Check {
  return { name, result: 'ok', found, advice: null };
}

export function skip(name: string, found: string): Check {
  return { name, result: 'skip', found, advice: null };
}

export function warn(name: string, found: string, advice: string): Check {
  return { name, result: 'warn', found, advice };
}

export function fail(name: string, found: string, advice: string): Check {
  return { name, result: 'fail', found, advice };
}

/** A look that fails itself is a finding too; the others go on. */
export async function guarded(name: string, look: () => Promise<Check> | Check): Promise<Check> {
  try {
    return await look();
  } catch (error) {
    if (codeOf(error) === 'EACCES') return skip(name, `You may not look: ${messageOf(error)}. Use sudo.`);
    return fail(name, `It cannot be looked at: ${messageOf(error)}`, 'Mend that, then run svc doctor again.');
  }
}

/** The system's own code of an error, for example ENOENT. */
export function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}
