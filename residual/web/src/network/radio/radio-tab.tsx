import type { JSX } from 'preact';
import { useAsk } from '../../parts/use-ask.ts';
import { Channel } from './channel.tsx';
import { Pairs } from './pairs.tsx';
import { RadioHistory } from './radio-history.tsx';
import { RadioState } from './radio-state.tsx';

const EVERY_MS = 1000;

/** The radio between drone and ground station, on either end. */
export function RadioTab(): JSX.Element {
  return (
    <div class="columns">
      <RadioCards />
    </div>
  );
}

/** Its cards, for a page that has others beside them. */
export function RadioCards(): JSX.Element {
  const radio = useAsk('wfb.get', {}, EVERY_MS);
  return (
    <>
      <RadioState radio={radio} />
      {radio.data === null || radio.data.state === 'absent' ? null : (
        <>
          <RadioHistory />
          <Channel radio={radio.data} onChange={radio.reload} />
        </>
      )}
      <Pairs />
    </>
  );
}
