import { bearing, distance, type Place } from '../../../map/projection.ts';
import { number } from '../../../parts/format.ts';
import { t } from '../../../strings.ts';

/** A length as a person reads it. @param metres null: not known */
export function lengthText(metres: number): string {
  if (metres < 1000) return t.map.m({ value: number(metres, metres < 10 ? 1 : 0) });
  return t.map.km({ value: number(metres / 1000, metres < 10_000 ? 2 : 1) });
}

/** Distance and direction from one place to another. */
export function legText(from: Place, to: Place): string {
  const degrees = Math.round(bearing(from, to)) % 360;
  return t.map.rulerLeg({
    distance: lengthText(distance(from, to)),
    degrees: String(degrees).padStart(3, '0'),
  });
}
