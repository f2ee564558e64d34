import { createHmac } from 'node:crypto';

/** What a TURN server wants to know before it relays (RFC 8656 9.2, long-term credentials). */
interface TurnCredentials {
  readonly username: string;
  readonly credential: string;
}

/** Seconds that they are good for. An allocation outlives it: the server looks at the time only when it is asked for one. */
export const TURN_LIFE_S = 3600;

/**
 * Credentials that end, of the TURN REST API (draft-uberti-behave-turn-rest-00, coturn's `use-auth-secret`): the user name is
 * `<expiry>:<name>`, the password the base64 of its HMAC-SHA1 under the secret that is shared with the server.
 * @param expiry Unix seconds; the server compares it with its own clock when an allocation is asked for
 */
export function turnCredentials(secret: string, name: string, expiry: number): TurnCredentials {
  const username = `${Math.floor(expiry)}:${name}`;
  return { username, credential: createHmac('sha1', secret).update(username).digest('base64') };
}
