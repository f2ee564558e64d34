import { ApiError } from '../../shared/errors.ts';
import { type Readiness, readinessOf } from '../../shared/flight/readiness.ts';
import { seenIn } from '../../shared/flight/seen.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';

type Telemetry = Answer<'telemetry.get'>;

interface Check {
  readonly can_arm: boolean | null;
  readonly armed: boolean | null;
  readonly reasons: NonNullable<Telemetry['prearm']>['reasons'];
  readonly checked_at: string | null;
  /** Why the checks were not run anew; null: they were. */
  readonly not_run: string | null;
  readonly battery: Telemetry['battery'];
  readonly gps: Telemetry['gps'];
  readonly ekf_ok: boolean | null;
}

/** By GPS_FIX_TYPE. */
const FIXES = ['no GPS', 'no fix', '2D', '3D', 'DGPS', 'RTK float', 'RTK fixed', 'static', 'PPP'];

class CheckCommand extends NodeCommand {
  static override summary = 'Show whether the vehicle can arm, or why not; exit code 0 only if it can.';
  static override description =
    'Has the vehicle run its checks anew, which moves nothing; where that is refused, shows what it told last.';
  static override examples = ['<%= config.bin %> check', '<%= config.bin %> check --json'];

  async run(): Promise<Check> {
    await this.parse(CheckCommand);
    const before = await this.call('GET /api/telemetry');
    const notRun = await this.runChecks(before);
    const now = notRun === null ? await this.call('GET /api/telemetry') : before;
    const { prearm } = now;
    const check: Check = {
      can_arm: readinessOf(now)?.canArm ?? null,
      armed: now.armed,
      reasons: prearm?.reasons ?? [],
      checked_at: prearm?.checked_at ?? null,
      not_run: notRun,
      battery: now.battery,
      gps: now.gps,
      ekf_ok: now.ekf?.ok ?? null,
    };
    if (check.can_arm !== true) process.exitCode = EXIT.refused;
    this.print(check, readinessOf(now));
    return check;
  }

  /** @returns why they were not run, in words; null: they were */
  private async runChecks(before: Telemetry): Promise<string | null> {
    const { alive, armed } = seenIn(before);
    if (!alive) return 'nothing is heard of the flight controller';
    if (armed === true) return 'the vehicle is armed';
    try {
      const { status, ack } = await this.call('POST /api/command', { body: { cmd: 'runPrearmChecks' } });
      if (status === 'accepted') return null;
      const words = ack.statustext ?? ack.result_name ?? 'no acknowledgement';
      return `the vehicle did not run them: ${words}`;
    } catch (error) {
      // A token may read and not fly; what the vehicle told last is there all the same.
      if (error instanceof ApiError && error.code !== 'E_UPSTREAM_DOWN') return this.words(error);
      throw error;
    }
  }

  private print(check: Check, ready: Readiness | null): void {
    const { can_arm: canArm, reasons, not_run: notRun, battery, gps, ekf_ok: ekf } = check;
    const byMode = (ready?.first ?? null) !== null;
    const verdict =
      canArm === null
        ? check.armed === true
          ? 'it is armed'
          : 'not known'
        : canArm
          ? 'yes'
          : byMode
            ? 'not in this mode'
            : 'NO';
    this.row('can arm', verdict);
    for (const { text, source, at, help } of reasons) {
      this.row('', `${text}  (${source}, ${at})`);
      if (help !== null && help !== undefined) this.row('', `  ${help.text}`);
    }
    for (const { cmd, args } of ready?.help ?? []) this.row('', `  svc cmd ${cmd} ${args.join(' ')}`);
    if (byMode && typeof ready?.takeOffMode === 'string')
      this.row('', `  svc cmd takeoff 10 1  (arms, and takes off in ${ready.takeOffMode})`);
    if (notRun !== null) this.row('checks', `not run anew: ${notRun}`);
    this.row('told', check.checked_at ?? 'never');
    this.row('battery', `${measure(battery.voltage, ' V', 1)}, ${measure(battery.remaining, ' %', 0)}`);
    const fix = typeof gps.fix_type === 'number' ? (FIXES[gps.fix_type] ?? `fix ${gps.fix_type}`) : 'unknown';
    this.row('gps', `${fix}, ${measure(gps.satellites, ' satellites', 0)}`);
    this.row('estimator', ekf === null ? 'unknown' : ekf ? 'ok' : 'not sure of the position');
  }

  private row(name: string, text: string): void {
    this.log(`${name.padEnd(10)} ${text}`);
  }
}

function measure(value: number | null | undefined, unit: string, digits: number): string {
  return typeof value === 'number' ? `${value.toFixed(digits)}${unit}` : 'unknown';
}

export default { check: CheckCommand };
