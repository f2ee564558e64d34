import { PenLine } from 'lucide';
import type { JSX } from 'preact';
import { may } from '../api/node.ts';
import { Icon } from '../parts/parts.tsx';
import { useAsk } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import { hrefOf, place } from './route.ts';

const LOOK_MS = 5000;

/** A line above the page while a program waits for somebody's signature: the phone that shows it is not the one where the program runs. */
export function WaitingCalls(): JSX.Element | null {
  return may('confirmations.id.sign.post') ? <Line /> : null;
}

function Line(): JSX.Element | null {
  const { data } = useAsk('confirmations.get', {}, LOOK_MS);
  const next = data?.confirmations.find(({ state }) => state === 'waiting');
  if (next === undefined || place.value.rest[1] === next.code) return null;
  return (
    <div class="banner warn" role="status">
      <Icon of={PenLine} />
      <a href={hrefOf('access', 'confirm', next.code)}>{t.app.waitingCall({ tool: next.tool })}</a>
    </div>
  );
}
