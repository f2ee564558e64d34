import type { Refused } from '../api/client.ts';
import { number } from '../parts/format.ts';
import { t } from '../strings.ts';

/** Why a command was not done, for the page of the node and that of the fleet. */

/** @param result MAV_RESULT by its name; PX4 acknowledges (ACCEPTED), and then says why not. @param reasons may be the same more than once */
export function refusedText(result: string | null, reasons: readonly string[]): string {
  return t.fly.vehicleRefused({
    result: result === null || result === 'ACCEPTED' ? null : result.toLowerCase().replaceAll('_', ' '),
    words: [...new Set(reasons)].join('; ') || null,
  });
}

/** @param extras of the refusal E_TOO_FAR */
export function farText({ distance_m: distance, bound, limit_m: limit }: Refused['extras']): string {
  const metres = (value: unknown): string | null =>
    typeof value === 'number' ? number(Math.ceil(value)) : null;
  return t.fly.tooFar({ metres: metres(distance), bound: String(bound), limit: metres(limit) });
}
