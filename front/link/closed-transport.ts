import { newTransportCounters, type Transport } from './transport.ts';

/**
 * Stands for a source that this build cannot open. The process runs on without a vehicle, as it does with an empty USB
 * port: the front then reads "no flight controller, not armed" instead of "link down, maybe armed".
 */
export function closedTransport(): Transport {
  return {
    open: false,
    port: null,
    baud: null,
    counters: newTransportCounters(),
    start: () => undefined,
    stop: async () => Promise.resolve(),
    write: () => false,
  };
}
