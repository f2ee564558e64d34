/** Wi-Fi channels of the bands at 2.4 and 5 GHz (IEEE 802.11-2020, 15.4.4.3 and 21.3.14). */

const JAPAN = { channel: 14, mhz: 2484 } as const;

/** MHz, the middle of a channel of 20 MHz. */
export function frequencyOf(channel: number): number {
  if (channel === JAPAN.channel) return JAPAN.mhz;
  return channel < JAPAN.channel ? 2407 + 5 * channel : 5000 + 5 * channel;
}

/** @returns null for a frequency that is no channel's */
export function channelOf(mhz: number): number | null {
  if (mhz === JAPAN.mhz) return JAPAN.channel;
  const channel = (mhz - (mhz < 5000 ? 2407 : 5000)) / 5;
  return Number.isInteger(channel) && channel > 0 && frequencyOf(channel) === mhz ? channel : null;
}
