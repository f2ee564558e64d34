import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Failure, failsafesOf } from '../../../../../shared/flight/failsafes.ts';
import type { Family } from '../../../../../shared/flight/modes.ts';
import { call, Refused } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { failsafeSentence } from '../../vehicle/failsafe-sentence.ts';
import { family, phase } from '../../vehicle/vehicle-state.ts';

/** What the vehicle will do when nobody is heard any more, from its own parameters: asked while it can still be asked. */

type Param = Answer<'params.name.get'>;
const SHOWN: ReadonlySet<Failure> = new Set(['station', 'radio']);

/** Sentences; null: its parameters are not known. */
export const foreseen = signal<readonly string[] | null>(null);

/** Asks when a flight begins, and when the page is opened. */
export function useForeseen(): void {
  const kind = family.value;
  const isFlying = phase.value !== 'disarmed';
  useEffect(() => {
    if (kind === null || !may('params.name.get')) return;
    const stopper = new AbortController();
    void read(kind, stopper.signal).then((sentences) => {
      if (!stopper.signal.aborted && sentences !== null) foreseen.value = sentences;
    });
    return () => stopper.abort();
  }, [kind, isFlying]);
}

async function read(kind: Family, stop: AbortSignal): Promise<readonly string[] | null> {
  const names = new Set<string>();
  // Asked for each, the rules tell what they read.
  failsafesOf(kind, (name) => {
    names.add(name);
    return 1;
  });
  const known = new Map<string, Param>();
  for (const name of names) {
    if (name.startsWith('BAT') || name.startsWith('GF_') || name.startsWith('FENCE')) continue;
    try {
      known.set(name, await call('params.name.get', { params: { name }, signal: stop }));
    } catch (error) {
      if (!(error instanceof Refused) && !stop.aborted) throw error; // this vehicle has none of this name
      if (stop.aborted) return null;
    }
  }
  if (known.size === 0) return null;
  return failsafesOf(kind, (name) => known.get(name)?.value ?? null)
    .filter(({ failure }) => SHOWN.has(failure))
    .map((each) => failsafeSentence(each, asParam(known.get(each.param))));
}

function asParam(param: Param | undefined): Parameters<typeof failsafeSentence>[1] {
  return param === undefined ? undefined : { details: param };
}
