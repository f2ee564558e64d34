/** Above this much of the video lost after FEC, % the picture breaks. */
export const POOR_PERCENT = 1;
/** Above this much it is destroyed, and the diagnosis says why. */
export const BAD_PERCENT = 20;

export const RADIO_QUALITIES = ['good', 'poor', 'bad', 'none'] as const;
export type RadioQuality = (typeof RADIO_QUALITIES)[number];

/**
 * How good the link is to its reader: `quality` of GET /api/wfb, which the page's chip, card and list of drones and the CLI go by. `state`
 * says only whether the other end is heard.
 * @param radio `loss_percent` after FEC, null where nothing is received
 */
export function radioQuality({
  state,
  loss_percent: loss,
}: {
  readonly state: 'active' | 'searching' | 'mis_keyed' | 'stale' | 'down' | 'absent';
  readonly loss_percent?: number | null | undefined;
}): RadioQuality {
  switch (state) {
    case 'active':
      return (loss ?? 0) > BAD_PERCENT ? 'bad' : (loss ?? 0) > POOR_PERCENT ? 'poor' : 'good';
    case 'searching':
    case 'stale':
      return 'poor';
    case 'mis_keyed':
    case 'down':
      return 'bad';
    case 'absent':
      return 'none';
  }
}
