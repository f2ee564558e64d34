import type { KeyObject } from 'node:crypto';

/** The key with which this node signs its replies. */
export interface FleetSigning {
  readonly key: KeyObject;
  /** RFC 7638 thumbprint of its public half. */
  readonly kid: string;
}
