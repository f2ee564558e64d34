/** `unknown`: the newest heartbeat is older than 3 s. The armed guard treats it as armed. */
export type Armed = boolean | 'unknown';

/** Unknown counts as armed: without a heartbeat the motors may be running. */
export function refusesWhile(armed: Armed): boolean {
  return armed !== false;
}
