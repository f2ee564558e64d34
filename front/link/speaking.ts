import type { Logger } from '../../shared/process/logger.ts';
import type { Clock } from './clock.ts';
import type { Encoder } from './encode.ts';
import type { Exchange } from './exchange.ts';
import type { Guard } from './vehicle/guard.ts';
import type { Vehicle } from './vehicle/vehicle.ts';

/** What every part has that speaks with the vehicle. */
export interface Speaking {
  readonly clock: Clock;
  readonly log: Logger;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly encoder: Encoder;
  /** @returns false when the bytes were dropped */
  readonly send: (bytes: Buffer) => boolean;
  /** Sends what the node asks on its own account (asking.ts). */
  readonly ask: (bytes: Buffer) => void;
  readonly exchange: Exchange;
}
