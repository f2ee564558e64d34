import { mkdir, rm } from 'node:fs/promises';
import { writeAtomic } from '../files/atomic-write.ts';
import { ageOf, type BootTime } from './boot-clock.ts';
import { type OperatorFiles, readOwnJson } from './operator-files.ts';

/**
 * The operator-present signal (docs/contract.md 11): a person keeps `svc operator hold` running beside the vehicle. The signal
 * goes stale by itself, so it ends if the command is killed, the machine sleeps or the terminal is closed.
 */

export const RENEW_MS = 1000;
/** An older signal does not count. */
export const STALE_S = 10;

export async function renewPresence(files: OperatorFiles, now: BootTime, pid: number): Promise<void> {
  await mkdir(files.directory, { recursive: true, mode: 0o700 });
  await writeAtomic(files.presence, JSON.stringify({ ...now, pid }), 0o600);
}

export async function endPresence(files: OperatorFiles): Promise<void> {
  await rm(files.presence, { force: true });
}

/**
 * Seconds since the signal was renewed; null if there is no valid one. @throws Error for a file that another user may have
 * written
 */
export function presenceAge(files: OperatorFiles, now: BootTime): number | null {
  const signal = readOwnJson(files.presence);
  return signal === null ? null : ageOf(signal, now);
}
