import type { Socket } from 'node:net';
import type { Mountpoint } from '../../../shared/rpc/link-answers.ts';

/** What a stream of corrections tells. Nothing comes after `onEnd`, and nothing after `close`. */
export interface StreamEvents {
  /** It is connected: what comes are corrections. */
  onOpen(): void;
  onData(chunk: Buffer): void;
  /**
   * @param problem a sentence: what is wrong, and what helps
   * @param mountpoints what a caster has instead of what was asked for
   */
  onEnd(problem: string, mountpoints?: readonly Mountpoint[]): void;
}

export interface Stream {
  close(): void;
}

/** Begins to open a stream; its events come later. */
export type OpenStream = (events: StreamEvents) => Stream;

interface Address {
  readonly host: string;
  readonly port: number;
  readonly noDelay: true;
}

/** `connect` of node:net, or of node:tls with what it needs. */
export type Connect = (address: Address) => Socket;
