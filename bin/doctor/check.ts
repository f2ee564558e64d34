import { codeOf, messageOf } from '../../shared/errors.ts';

/** One check of `svc doctor`. */
export interface Check {
  readonly name: string;
  readonly result: 'ok' | 'warn' | 'fail' | 'skip';
  /** The finding, in a sentence. */
  readonly found: string;
  /** What to do about it; null if nothing. */
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

/** A check that throws is a finding too; the others go on. */
export async function guarded(name: string, look: () => Promise<Check> | Check): Promise<Check> {
  try {
    return await look();
  } catch (error) {
    if (codeOf(error) === 'EACCES') return skip(name, `No permission: ${messageOf(error)}. Use sudo.`);
    return fail(name, `The check failed: ${messageOf(error)}`, 'Repair that, then run svc doctor again.');
  }
}
