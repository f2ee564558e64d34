import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'mocha';

/** What specs of `npm test` ask of a machine beyond Node; a machine without it skips them. */
const PROGRAMS = [
  'avahi-daemon',
  'bwrap',
  'dbus-daemon',
  'fsfreeze',
  'git',
  'ip',
  'minisign',
  'mkfs.ext4',
  'mosquitto',
  'openssl',
  'pgbouncer',
  'python3',
  'socat',
  'systemd-analyze',
  'systemd-sysusers',
  'xz',
] as const;
export type Need = (typeof PROGRAMS)[number] | 'root' | 'loop';

/** Programs of the system stand in folders that are not on everybody's path. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin'];

function isThere(need: Need): boolean {
  if (need === 'root') return process.getuid?.() === 0;
  if (need === 'loop') return existsSync('/dev/loop-control');
  return findProgram(need) !== null;
}

/** Where it is; null: nowhere. */
export function findProgram(name: string): string | null {
  const found = FOLDERS.find((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found === undefined ? null : join(found, name);
}

/** Skips a test where this machine lacks something; the reporter names at the end what it was. */
export function needs(test: Context, ...what: readonly Need[]): void {
  if (!what.every(isThere)) test.skip();
}

/** `describe` where this machine has it all; else a suite that is skipped. */
export function describeWith(...what: readonly Need[]): Mocha.SuiteFunction | Mocha.PendingSuiteFunction {
  return what.every(isThere) ? describe : describe.skip;
}

/** What this machine lacks of all that specs need. */
export function lacking(): readonly string[] {
  return (['root', 'loop', ...PROGRAMS] as const).filter((need) => !isThere(need));
}
