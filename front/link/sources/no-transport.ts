import { newTransportCounters, type Transport } from './transport.ts';

/** Stands in for an unusable source, so that the node runs without a flight controller. */
export class NoTransport implements Transport {
  readonly open = false;
  readonly port = null;
  readonly baud = null;
  readonly counters = newTransportCounters();

  start(): void {
    // There is nothing to open.
  }

  async stop(): Promise<void> {
    // Nothing was opened.
  }

  write(): boolean {
    this.counters.txDropped++;
    return false;
  }
}
