/** One radio that is bound to this node's: on a drone its ground station's, on a ground station a drone's. */
export interface BoundRadio {
  /** 0 is the single drone; slot s has tunnel 10.5.s.1/.2, MAVLink 14550 + s, video 5600 + s. */
  readonly slot: number;
  /** The other node's id. */
  readonly device_id: string;
  readonly name: string;
  /** First 32 hexadecimal digits of SHA-256 over both public keys, sorted, in groups of four. */
  readonly fingerprint: string;
  /** RFC 3339 */
  readonly paired_at: string;
  /** Whether the link with this key has carried data. */
  readonly proved: boolean;
}

/** What the relay needs to know of the bound radios. */
export interface BoundRadios {
  list(): readonly BoundRadio[];
  /** The key of the relay's TLS, 32 bytes; null if no radio of that node is bound. */
  relaySecret(deviceId: string): Buffer | null;
  /** Called after every change; a relay that was opened for a radio that is no longer bound has to end. */
  onChange(listener: () => void): () => void;
}
