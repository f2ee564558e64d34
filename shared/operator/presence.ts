import { rm } from 'node:fs/promises';
import { ageOf, type BootTime } from '../boot-clock.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import { type OperatorFiles, readOwnJson } from './operator-files.ts';
import { isSignedByOperator, signAsOperator } from './operator-key.ts';

/**
 * The operator-present signal (docs/contract/connector.md): a person keeps `svc operator hold` running beside the vehicle. It is signed
 * with the operator's key. It goes stale by itself, so it ends if the command is killed, the machine sleeps or the terminal is
 * closed.
 */

export const RENEW_MS = 1000;
/** An older signal does not count. */
export const STALE_S = 10;

/** @throws Error without the operator's key */
export async function renewPresence(files: OperatorFiles, now: BootTime, pid: number): Promise<void> {
  const signature = signAsOperator(files, payload(now, pid));
  await writeAtomic(files.presence, JSON.stringify({ ...now, pid, signature }), 0o600);
}

export async function endPresence(files: OperatorFiles): Promise<void> {
  await rm(files.presence, { force: true });
}

/**
 * Seconds since the signal was renewed; null if there is none that the operator has signed. @throws Error for a file that
 * another user may have written
 */
export function presenceAge(files: OperatorFiles, now: BootTime): number | null {
  const signal = readOwnJson(files.presence);
  if (signal === null) return null;
  const { boot_id, uptime, pid, signature } = signal;
  if (typeof boot_id !== 'string' || typeof uptime !== 'number' || typeof pid !== 'number') return null;
  if (typeof signature !== 'string') return null;
  const at = { boot_id, uptime };
  return isSignedByOperator(files, payload(at, pid), signature) ? ageOf(at, now) : null;
}

function payload(at: BootTime, pid: number): Buffer {
  return Buffer.from(JSON.stringify(['svc/presence/v1', at.boot_id, at.uptime, pid]));
}
