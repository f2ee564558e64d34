import { setTimeout as wait } from 'node:timers/promises';
import { ApiError } from '../../../shared/errors.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import type { Helper } from '../../../shared/rpc/helper-client.ts';
import { UNITS } from '../../../shared/units.ts';

const SHOW_MS = 3000;
const PROOF_MS = 5000;
const LOOK_MS = 200;
const PROPERTIES = 'Id,LoadState,ActiveState,SubState,MainPID,ActiveEnterTimestampMonotonic';

/** A unit that systemd has loaded. */
interface UnitStatus {
  readonly name: string;
  readonly active: string;
  readonly sub: string;
  readonly pid: number | null;
  /** us since boot; a change proves a restart. */
  readonly since: string;
}

/** The listed units that are loaded; null if systemd does not run. */
export async function listUnits(): Promise<readonly UnitStatus[] | null> {
  try {
    return await show(UNITS);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/**
 * Restarts a unit and waits for the proof: a new main process or activation time.
 * @throws ApiError E_NOT_FOUND for a unit that is not listed or not loaded, E_UPSTREAM if it did not start again, and the
 *   helper's errors
 */
export async function restartUnit(
  helper: Helper,
  wanted: string,
): Promise<{ readonly pid_before: number | null; readonly pid_after: number | null }> {
  const name = UNITS.find((unit) => unit === wanted);
  const before = name === undefined ? undefined : (await show([name]))[0];
  if (name === undefined || before === undefined)
    throw new ApiError('E_NOT_FOUND', `No service ${wanted} on this node.`);
  await helper.unit_restart({ name });
  for (const end = performance.now() + PROOF_MS; performance.now() < end; ) {
    const [after] = await show([name]);
    if (after?.active === 'active' && (after.pid !== before.pid || after.since !== before.since))
      return { pid_before: before.pid, pid_after: after.pid };
    await wait(LOOK_MS);
  }
  throw new ApiError('E_UPSTREAM', `${name} was restarted but is not active after ${PROOF_MS / 1000} s.`);
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
