/** How offers and candidates get to a node; the hub's page has another way than HTTP. */
export interface Whep {
  /** @throws Refused */
  readonly offer: (sdp: string) => Promise<{
    readonly answer: string;
    readonly session: string;
    readonly servers: RTCIceServer[];
  }>;
  /**
   * @param fragment `application/trickle-ice-sdpfrag`
   * @param restart whether its ICE credentials are new ones (`If-Match: *`)
   * @returns HTTP status, 0 for no answer; the node's fragment of a restart
   */
  readonly patch: (
    session: string,
    fragment: string,
    restart: boolean,
  ) => Promise<{ readonly status: number; readonly fragment: string; readonly servers: RTCIceServer[] }>;
  /** Also while the page is being left. It never fails: the node notices by itself. */
  readonly end: (session: string) => void;
}
