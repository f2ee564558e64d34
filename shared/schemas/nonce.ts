/**
 * How long a nonce is good, ms on the clock of the node that made it; a call says for how much of it, by when its caller gives up.
 */
export const NONCE_MS = 30_000;
