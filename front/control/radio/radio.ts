/** What the rest of the front needs from the radio. */
export interface Radio {
  /** The channel that the first card is on, read back from it; null without a card. */
  channel(): Promise<number | null>;
  /**
   * Puts all cards on a channel, until wfb-ng is restarted.
   * @throws ApiError E_RADIO_REFUSED with the kernel's reason, E_NOT_IMPLEMENTED (extra `missing`) without `iw`
   */
  tune(channel: number): Promise<{ readonly frequency_mhz: number }>;
  /**
   * Whether the region lets the cards send on a channel at once, without looking for radar first.
   * @throws ApiError E_RADIO_REFUSED with the reason
   */
  mayUse(channel: number): Promise<void>;
  /** Writes the channel into the node's config and into wfb-ng's, so that a restart of either keeps it. */
  keepChannel(channel: number): Promise<void>;
}
