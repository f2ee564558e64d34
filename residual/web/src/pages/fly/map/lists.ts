import { useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused } from '../../../api/client.ts';
import { may } from '../../../api/node.ts';
import { newest } from '../../../api/telemetry.ts';
import { type Item, itemsOf } from '../../../vehicle/vehicle-state.ts';

interface Lists {
  readonly mission: readonly Item[];
  readonly fence: readonly Item[];
  readonly rally: readonly Item[];
}

const ROWS = [
  ['mission.get', 'mission'],
  ['fence.get', 'fence'],
  ['rally.get', 'rally'],
] as const;
const TRIES = 5;
const AGAIN_MS = 2000;

/** The lists that the vehicle holds, one after the other: it can send but one. Again when it says that it holds another number. */
export function useLists(): Lists {
  const [lists, setLists] = useState<Lists>({ mission: [], fence: [], rally: [] });
  const total = useComputed(() => newest.value?.mission?.total ?? null).value;
  useEffect(() => {
    const stopper = new AbortController();
    const read = async ([id, member]: (typeof ROWS)[number]): Promise<void> => {
      for (let attempt = 0; attempt < TRIES && may(id) && !stopper.signal.aborted; attempt++) {
        try {
          const items = itemsOf(await call(id, { signal: stopper.signal }));
          setLists((held) => ({ ...held, [member]: items }));
          return;
        } catch (error) {
          if (!(error instanceof Refused) || error.code !== 'E_BUSY') return; // the map shows what it has
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    };
    const readAll = async (): Promise<void> => {
      for (const row of ROWS) await read(row);
    };
    if (total !== null) void readAll();
    return () => stopper.abort();
  }, [total]);
  return lists;
}
