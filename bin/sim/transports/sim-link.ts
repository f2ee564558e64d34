import type { Sink } from '../mavlink/channel.ts';
import type { Frame } from '../mavlink/wire.ts';

/** What a link tells about its one client. */
export interface ClientEvents {
  /** `undefined` when the client has gone. */
  connected(sink: Sink | undefined): void;
  received(frame: Frame): void;
}

/** Where a link is open. */
export interface LinkAddress {
  readonly host: string;
  /** 0 for what has none. */
  readonly port: number;
  /** For the person who starts the simulator by hand. */
  readonly text: string;
}

/** The way to a vehicle: one client at a time. */
export interface SimLink {
  start(): Promise<LinkAddress>;
  /** The vehicle reboots: a connection ends, what has none stays as it is. */
  hangUp(): void;
  stop(): Promise<void>;
}
