import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../../../shared/errors.ts';
import { runProgram } from './run-program.ts';

/**
 * Units beside our own processes that may be seen and restarted over the API (reference/node-api.md 2.9): the radio, the
 * hotspot, the Wi-Fi client. Nothing else of the machine is.
 */
export const UNITS: readonly string[] = [
  'svc-wfb',
  'svc-wfb-rx',
  'svc-wfb-relay',
  'svc-wfb-receiver',
  'svc-hostapd',
  'svc-wifi-client',
];

const SHOW_MS = 3000;
const RESTART_MS = 20_000;
const PROOF_MS = 5000;
const LOOK_MS = 200;
const PROPERTIES = 'Id,LoadState,ActiveState,SubState,MainPID,ActiveEnterTimestampMonotonic';
const BOOT_MS = 5000;

/** A unit that systemd has loaded. */
export interface UnitStatus {
  readonly name: string;
  readonly active: string;
  readonly sub: string;
  readonly pid: number | null;
  /** us since boot; another one proves a restart. */
  readonly since: string;
}

/** The allow-listed units that are there; null where systemd does not run. */
export async function listUnits(): Promise<readonly UnitStatus[] | null> {
  try {
    return await show(UNITS);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/**
 * Restarts a unit and waits for the proof: another main process, or another time of activation.
 * @throws ApiError E_NOT_FOUND for one that is not allow-listed or not loaded, E_UPSTREAM when it did not come back
 */
export async function restartUnit(
  name: string,
): Promise<{ readonly pid_before: number | null; readonly pid_after: number | null }> {
  const before = UNITS.includes(name) ? (await show([name]))[0] : undefined;
  if (before === undefined) throw new ApiError('E_NOT_FOUND', `There is no service ${name} on this node.`);
  await runProgram('systemctl', ['restart', `${name}.service`], RESTART_MS);
  for (const end = performance.now() + PROOF_MS; performance.now() < end; ) {
    const [after] = await show([name]);
    if (after?.active === 'active' && (after.pid !== before.pid || after.since !== before.since))
      return { pid_before: before.pid, pid_after: after.pid };
    await wait(LOOK_MS);
  }
  throw new ApiError(
    'E_UPSTREAM',
    `${name} was told to restart and is not active after ${PROOF_MS / 1000} s.`,
  );
}

/** @throws ApiError E_NOT_IMPLEMENTED where systemd does not run, E_UPSTREAM when it refuses */
export async function powerAction(action: 'reboot' | 'poweroff'): Promise<void> {
  await runProgram('systemctl', [action], BOOT_MS);
}

async function show(names: readonly string[]): Promise<readonly UnitStatus[]> {
  const units = names.map((name) => `${name}.service`);
  const text = await runProgram('systemctl', ['show', '-p', PROPERTIES, ...units], SHOW_MS);
  return text
    .split(/\n\n+/)
    .map((block) => new Map(block.split('\n').map((line) => split(line))))
    .filter((unit) => unit.get('LoadState') === 'loaded')
    .map((unit) => ({
      name: (unit.get('Id') ?? '').replace(/\.service$/, ''),
      active: unit.get('ActiveState') ?? 'unknown',
      sub: unit.get('SubState') ?? 'unknown',
      pid: Number(unit.get('MainPID') ?? 0) || null,
      since: unit.get('ActiveEnterTimestampMonotonic') ?? '',
    }));
}

function split(line: string): [string, string] {
  const at = line.indexOf('=');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}
