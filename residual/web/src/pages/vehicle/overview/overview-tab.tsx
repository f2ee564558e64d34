import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { useAsk } from '../../../parts/use-ask.ts';
import { paramsOf } from '../../../vehicle/param.ts';
import { Ahead } from './ahead.tsx';
import css from './condition.module.css';
import { BatteryCard, EscCard, PositionCard, VibrationCard } from './figures.tsx';
import { Headline } from './headline.tsx';
import { Latest } from './latest.tsx';
import { Reasons } from './reasons.tsx';
import { Sensors } from './sensors.tsx';

/** How the vehicle is: what is wrong and what to do about it, then its figures, then what has never been set up. */
export function OverviewTab(): JSX.Element {
  const asked = useAsk('params.get');
  const { data } = asked;
  const value = useMemo(() => {
    const held = new Map(paramsOf(data?.params ?? {}, {}).map((each) => [each.name, each.value]));
    return (name: string): number | null => held.get(name) ?? null;
  }, [data]);
  return (
    <>
      <Headline />
      <div class={css['why']}>
        <Reasons />
      </div>
      <div class="columns">
        <BatteryCard />
        <PositionCard />
        <Sensors />
        <Ahead value={value} asked={asked} />
        <VibrationCard />
        <EscCard />
        <Latest />
      </div>
    </>
  );
}
