/**
 * What the rest of the front needs from the radio. Slot 0 is the only one of a drone, and of a ground station with one drone.
 */
export interface Radio {
  /** Called whenever the JSON API reported decrypted packets of a slot's tunnel (its keepalive runs twice a second). */
  onHeard(listener: (slot: number) => void): () => void;
  /** The channel that the first card is on, read back from it; null without a card. */
  channel(): Promise<number | null>;
  /**
   * Puts all cards on a channel, until wfb-ng is restarted.
   * @throws ApiError E_RADIO_REFUSED with the kernel's reason, E_NOT_IMPLEMENTED (extra `missing`) without `iw`
   */
  tune(channel: number): Promise<{ readonly frequency_mhz: number }>;
  /** Writes the channel into the node's config and into wfb-ng's, so that a restart of either keeps it. */
  keepChannel(channel: number): Promise<void>;
}
