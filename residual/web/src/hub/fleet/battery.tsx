import { Battery, BatteryFull, BatteryLow, BatteryMedium, BatteryWarning } from 'lucide';
import type { JSX } from 'preact';
import { number } from '../../parts/format.ts';
import { Icon } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from '../hub.module.css';

/** How full it is, as a picture and a figure. @param percent null: not known */
export function BatteryFigure({ percent }: { readonly percent: number | null }): JSX.Element {
  const icon =
    percent === null
      ? Battery
      : percent >= 75
        ? BatteryFull
        : percent >= 30
          ? BatteryMedium
          : percent >= 15
            ? BatteryLow
            : BatteryWarning;
  const tone = percent === null || percent >= 30 ? '' : percent >= 15 ? 'warn' : 'bad';
  return (
    <span class={`${css['battery']} ${tone}`} title={t.app.vehicle.batteryLabel}>
      <Icon of={icon} />
      {percent === null ? t.app.none : `${number(percent)} %`}
    </span>
  );
}
