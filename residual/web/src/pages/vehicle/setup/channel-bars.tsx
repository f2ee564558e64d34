import type { JSX } from 'preact';
import type { Spans } from '../../../../../../shared/flight/radio-calibration.ts';
import { number } from '../../../parts/format.ts';
import { t } from '../../../strings.ts';
import css from '../vehicle.module.css';

/** What a channel or an output can be, µs. */
const [LOWEST, HIGHEST] = [900, 2100] as const;

/** A bar for each channel of the radio, or for each output. */
export function ChannelBars({
  title,
  values,
  name = (at) => t.vehicle.setup.channel({ number: at }),
  seen = [],
}: {
  readonly title: string;
  readonly values: readonly number[];
  readonly name?: (at: number) => string;
  /** The ends so far. */
  readonly seen?: Spans;
}): JSX.Element {
  return (
    <ul class={css['bars']} aria-label={title}>
      {values.map((value, at) => {
        const span = seen[at] ?? null;
        return (
          <li key={at}>
            <span>{name(at + 1)}</span>
            <meter aria-label={name(at + 1)} min={LOWEST} max={HIGHEST} value={value} />
            <span>{value === 0 ? t.app.none : t.vehicle.setup.us({ value: number(value) })}</span>
            {span === null ? null : (
              <small>{t.vehicle.radioCalibration.soFar({ low: span.low, high: span.high })}</small>
            )}
          </li>
        );
      })}
    </ul>
  );
}
