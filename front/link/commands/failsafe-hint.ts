import { failsafeText } from '../../../shared/flight/failsafe-text.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';

/** Why an armed vehicle refuses what it else takes; null: no failsafe of it acts. */
export function failsafeHint({ failsafe, armed, mode }: Telemetry): string | null {
  if (failsafe.active !== true || armed !== true) return null;
  const why = failsafeText(failsafe.reasons);
  const because = why === '' ? '' : ` (${why})`;
  return `A failsafe of the vehicle acts${because}: it stays in ${mode ?? 'its mode'} until that is over.`;
}
