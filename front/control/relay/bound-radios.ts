import type { Made } from '../../../shared/schemas/made.ts';
import type { radioPairs } from '../../../shared/schemas/radio-pairing.ts';

/** One radio that is bound to this node's: on a drone its ground station's, on a ground station a drone's. */
export type BoundRadio = Made<typeof radioPairs>['pairs'][number];

/** What the relay needs to know of the bound radios. */
export interface BoundRadios {
  list(): readonly BoundRadio[];
  /** The key of the relay's TLS, 32 bytes; null if no radio of that node is bound. */
  relaySecret(deviceId: string): Buffer | null;
  /** Called after every change; a relay that was opened for a radio that is no longer bound has to end. */
  onChange(listener: () => void): () => void;
}
