import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { may } from '../api/node.ts';
import { useAsk } from '../parts/use-ask.ts';
import { place } from './route.ts';

const LOOK_MS = 5000;

/** A line above the page while a program waits for somebody's signature: the phone that shows it is not the one where the program runs. */
export function WaitingCalls(): JSX.Element | null {
  return may('confirmations.id.sign.post') ? <Line /> : null;
}

/** What is shown is loaded with the first call: most people never see one. */
function Line(): JSX.Element | null {
  const { data } = useAsk('confirmations.get', {}, LOOK_MS);
  const [Shown, setShown] = useState<ComponentType<{ code: string; tool: string }> | null>(null);
  const next = data?.confirmations.find(({ state }) => state === 'waiting');
  const isNeeded = next !== undefined;
  useEffect(() => {
    if (isNeeded) void import('./waiting-line.tsx').then((loaded) => setShown(() => loaded.default));
  }, [isNeeded]);
  if (next === undefined || Shown === null || place.value.rest[1] === next.code) return null;
  return <Shown code={next.code} tool={next.tool} />;
}
