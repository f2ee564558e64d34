import type { Telemetry } from '../../../shared/rpc/telemetry.ts';

/** A word for each reason in `failsafe.reasons` that its name does not say. */
const WORDS: Readonly<Record<string, string>> = { estimator: 'its position', station: 'the ground station' };

/** Why an armed vehicle refuses what it else takes; null: no failsafe of it acts. */
export function failsafeHint({ failsafe, armed, mode }: Telemetry): string | null {
  if (failsafe.active !== true || armed !== true) return null;
  const reasons = failsafe.reasons.map((reason) => WORDS[reason] ?? reason.replaceAll('_', ' '));
  const because = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  return `A failsafe of the vehicle acts${because}: it stays in ${mode ?? 'its mode'} until that is over.`;
}
