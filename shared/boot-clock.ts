import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { codeOf } from './errors.ts';
import { recordOf } from './member.ts';

/** A time that is the same for every process of this machine, that cannot be set, and that is void after a reboot. */
export interface BootTime {
  readonly boot_id: string;
  /** Seconds since the boot. */
  readonly uptime: number;
}

export function bootTime(): BootTime {
  return { boot_id: bootId(), uptime: uptime() };
}

/** Seconds since `then`; null if it is of another boot, in the future or not a time. */
export function ageOf(then: unknown, now: BootTime): number | null {
  const { boot_id: boot, uptime: at } = recordOf(then);
  if (boot !== now.boot_id || typeof at !== 'number') return null;
  const age = now.uptime - at;
  return age >= -1 ? Math.max(0, age) : null;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'unknown'; // not Linux: the operator's laptop
    throw error;
  }
}
