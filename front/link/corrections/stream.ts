import { type LookupFunction, Socket } from 'node:net';
import { nearGuard } from '../../../shared/auth/asked-address.ts';
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
  readonly lookup?: LookupFunction;
}

/** `connect` of node:net, or of node:tls with what it needs. */
export type Connect = (address: Address) => Socket;

/** Connects to nothing that is on this machine or its cable unless it is listed. @param listed `security.near_hosts` */
export function farOnly(connect: Connect, listed: readonly string[]): Connect {
  return (address) => {
    try {
      return connect({ ...address, lookup: nearGuard(address.host, listed) });
    } catch (error) {
      const none = new Socket();
      setImmediate(() => none.destroy(error instanceof Error ? error : new Error(String(error))));
      return none;
    }
  };
}
