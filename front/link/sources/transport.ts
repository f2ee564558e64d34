import type { Frame } from '../../../shared/mavlink/frame.ts';
import type { FrameTarget } from '../router/addresses.ts';

/** What a transport tells its owner. None of the calls may throw. */
export interface TransportEvents {
  onOpen(): void;
  /** @param from names the sender, where a line has several */
  onData(chunk: Uint8Array, from?: string): void;
  /** A sender of several has left: what it began to say is void. */
  onGone?(from: string): void;
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
  /** Where a line has several senders: who was heard from where. @param isVehicle it is the vehicle's own frame */
  learn?(frame: Frame, from: string, isVehicle: boolean): void;
  /**
   * @param target whom the frame is for; absent: everybody. A line with one other end sends it there in any case
   * @returns false when the bytes were dropped: closed, or the queue is full
   */
  write(bytes: Uint8Array, target?: FrameTarget): boolean;
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
