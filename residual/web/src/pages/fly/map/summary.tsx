import { useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fresh, isAwaited } from '../../../api/telemetry.ts';
import { bearing, distance } from '../../../map/projection.ts';
import { number } from '../../../parts/format.ts';
import { t } from '../../../strings.ts';
import { astrayText, here, home, lastPlace } from '../../../vehicle/vehicle-state.ts';
import { lengthText } from './lengths.ts';

const EVERY_MS = 3000;
const AT_HOME_M = 3;

/** Where the vehicle is, for whoever does not see the map. It is read when they come to the map, not as it changes. */
export function Summary({ id }: { readonly id: string }): JSX.Element {
  const [text, setText] = useState(summary);
  const isKnown = useComputed(() =>
    [here.value !== null, lastPlace.value !== null, home.value !== null].join(),
  ).value;
  useEffect(() => {
    setText(summary());
    const timer = setInterval(() => setText(summary()), EVERY_MS);
    return () => clearInterval(timer);
  }, [isKnown]);
  return (
    <p id={id} class="visually-hidden">
      {text}
    </p>
  );
}

function summary(): string {
  const words = t.map.away;
  const place = here.peek();
  const start = home.peek();
  if (place === null) {
    const astray = astrayText.peek();
    if (astray === null && isAwaited.peek()) return '';
    return [astray === null ? '' : `${astray}.`, words.unknown].join(' ').trim();
  }
  if (start === null) return words.noHome;
  const above = fresh('position', ({ position }) => position.alt_rel);
  const rounded = above === null ? 0 : Math.round(above);
  const height =
    rounded === 0
      ? ''
      : rounded > 0
        ? words.above({ metres: number(rounded) })
        : words.below({ metres: number(-rounded) });
  const metres = distance(start, place);
  if (metres < AT_HOME_M) return words.atHome({ height });
  const direction = t.map.directions[Math.round(bearing(start, place) / 45) % 8] ?? '';
  return words.from({ distance: lengthText(metres), direction, height });
}
