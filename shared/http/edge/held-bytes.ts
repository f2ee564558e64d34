import { ApiError } from '../../errors.ts';

const MIB = 1024 * 1024;
/** Of one address without a credential, or of one credential. */
const EACH = 16 * MIB;
/** Of all without a credential together, and of all together. */
const STRANGERS = 32 * MIB;
const ALL = 128 * MIB;

/**
 * What this process keeps in memory for its callers: bodies that have not come to their end, and answers that have not been read.
 * Each has a bound, so that nobody takes the memory of others; one thing alone may be larger. A caller without a credential is
 * counted by its address and with all others like it, one with a credential by that alone.
 */
export class HeldBytes {
  readonly #held = new Map<string, number>();

  /** @param who the credential's id, null for none @throws ApiError E_RATE_LIMITED where so many more are too many */
  check(peer: string, who: string | null, bytes: number): void {
    for (const [key, most] of boundsOf(peer, who)) {
      const held = this.#held.get(key) ?? 0;
      if (held === 0 || held + bytes <= most) continue;
      const detail = 'Too much is open. First read the answers that are under way.';
      throw new ApiError('E_RATE_LIMITED', detail, {}, { 'retry-after': '1' });
    }
  }

  /** Counts them. @returns what gives them back, once */
  hold(peer: string, who: string | null, bytes: number): () => void {
    const keys = boundsOf(peer, who).map(([key]) => key);
    const add = (more: number): void => {
      for (const key of keys) {
        const held = (this.#held.get(key) ?? 0) + more;
        if (held > 0) this.#held.set(key, held);
        else this.#held.delete(key);
      }
    };
    add(bytes);
    let isHeld = true;
    return () => {
      if (isHeld) add(-bytes);
      isHeld = false;
    };
  }
}

function boundsOf(peer: string, who: string | null): readonly (readonly [key: string, most: number])[] {
  const own: readonly (readonly [string, number])[] =
    who === null
      ? [
          [`address ${peer}`, EACH],
          ['strangers', STRANGERS],
        ]
      : [[`credential ${who}`, EACH]];
  return [...own, ['all', ALL]];
}
