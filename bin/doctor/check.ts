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
