/** What a transport tells its owner. None of the calls may throw. */
export interface TransportEvents {
  onOpen(): void;
  onData(chunk: Uint8Array): void;
  onClose(): void;
}

/**
 * The byte pipe to the flight controller: opens itself, and reopens until it is stopped. `write` never waits: bytes that do not
 * fit the bounded queue are dropped and counted.
 */
export interface Transport {
  readonly open: boolean;
  /** The open port, as in LinkState.fc_port; null while closed. */
  readonly port: string | null;
  /** Baud rate of a serial line, else null. */
  readonly baud: number | null;
  readonly counters: TransportCounters;
  start(events: TransportEvents): void;
  stop(): Promise<void>;
  /** @returns false when the bytes were dropped: closed, or the queue is full */
  write(bytes: Uint8Array): boolean;
}

interface TransportCounters {
  txFrames: number;
  txBytes: number;
  txDropped: number;
  /** Lost in the receive buffer of the kernel, as svc-link was too slow; null: not measured. */
  rxKernelDropped: number | null;
  /** Connections after the first one. */
  reconnects: number;
}

export function newTransportCounters(): TransportCounters {
  return { txFrames: 0, txBytes: 0, txDropped: 0, rxKernelDropped: null, reconnects: 0 };
}
