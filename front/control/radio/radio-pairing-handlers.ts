import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { radioRows } from '../../../shared/routes/radio.ts';
import type { PairStore } from './pair-store.ts';
import type { RadioPairing } from './radio-pairing.ts';

type RadioHandlers = HandlersOf<typeof radioRows, 'front'>;

export function radioPairingHandlers(
  pairing: RadioPairing,
  store: PairStore,
): Pick<RadioHandlers, Extract<keyof RadioHandlers, `wfb.pair.${string}`>> {
  return {
    'wfb.pair.get': () => {
      const pairs = store.list();
      return { paired: pairs.length > 0, pairs };
    },
    'wfb.pair.post': async ({ body }) => pairing.pair(body),
    'wfb.pair.delete': async ({ query }) => pairing.unpair(parseQuery(query)?.['device_id'] ?? ''),
  };
}
