import type { Principal } from '../../shared/auth/principal.ts';

/** What a caller's right to an open WebSocket hangs on. */
export interface LivenessSources {
  readonly paired: boolean;
  readonly keyHash: Buffer | null;
}

/** A question that can be asked again and again: does what let this caller in still hold? */
export function holdsAs(principal: Principal, pairing: LivenessSources): () => boolean {
  const { keyHash } = pairing;
  switch (principal.kind) {
    case 'local':
    case 'onbox':
    case 'anonymous':
      return () => true;
    case 'gate':
      return () => !pairing.paired;
    case 'key':
    case 'relay':
    case 'session':
    case 'ticket':
    case 'token':
      // The pairing store makes another hash object only for another pairing.
      return () => pairing.keyHash === keyHash;
  }
}
