import type { Failsafe } from '../../../../shared/flight/failsafes.ts';
import { number } from '../parts/format.ts';
import { t } from '../strings.ts';
import { meaning, type Param } from './param.ts';

/** @param param what says what is done, with its description */
export function failsafeSentence(
  { failure, value, off, after }: Failsafe,
  param: Pick<Param, 'details'> | undefined,
): string {
  const { nothing, named, setTo, or, returns, lands } = t.vehicle.setup;
  const label = meaning(value, param?.details ?? null);
  // What the vehicle calls "Enabled always RTL" is read in the worst minute: the two that are usual are said in words.
  const usual = /^(?:enabled )?(?:always )?(rtl|land)$/i.exec(label ?? '')?.[1]?.toLowerCase();
  const done = off
    ? nothing
    : label === null
      ? setTo({ value })
      : usual === undefined
        ? named({ label })
        : usual === 'rtl'
          ? returns
          : lands;
  const when = after
    .map((each) => `${number(each.value, Number.isInteger(each.value) ? 0 : 1)} ${each.unit}`)
    .reduce<string | null>((one, other) => (one === null ? other : or({ one, other })), null);
  return t.vehicle.setup.failsafe[failure]({ done, when });
}
