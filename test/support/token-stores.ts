import { join } from 'node:path';
import { EndedCredentials } from '../../front/control/stores/ended.ts';
import { TokenStore, type TokenStoreOptions } from '../../front/control/stores/tokens.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { silentLog, TestClocks } from './pin-stores.ts';

export const DEVICE = 'abcdef0123456789';
export const PAIRING_KEY = 'svc_the-pairing-key-of-the-test';
export const DAY = 86_400;

/** A token store in a directory of the test's own, with a clock that moves only when told to. */
export class TokenNode {
  readonly clocks = new TestClocks();
  readonly dir: string;
  readonly file: string;
  pairingKey: string | null = PAIRING_KEY;
  readonly store: TokenStore;
  /** What each of its stores has seen expired. */
  readonly #ended: EndedCredentials[] = [];

  constructor(dir: string, change: Partial<TokenStoreOptions> = {}) {
    this.dir = dir;
    this.file = join(dir, 'mcp-token.json');
    this.clocks.wallMs = Date.UTC(2026, 5, 1);
    this.store = this.another(change);
  }

  /** A second store on the same file, as in another process. */
  another(change: Partial<TokenStoreOptions> = {}): TokenStore {
    const ended = new EndedCredentials(join(this.dir, 'ended'), silentLog);
    this.#ended.push(ended);
    return new TokenStore({
      file: this.file,
      ended,
      accept: true,
      pairingKey: () => this.pairingKey,
      deviceId: DEVICE,
      now: this.clocks.now,
      lived: this.clocks.lived,
      log: silentLog,
      ...change,
    });
  }

  /** Until what was seen expired is on the disk, as whoever is told of it waits. */
  async written(): Promise<void> {
    await Promise.all(this.#ended.map(async (ended) => ended.written()));
  }

  async mint(scopes: readonly Scope[] = ['read'], days: number | null = null, label = 'test') {
    return this.store.mint({
      label,
      scopes,
      ttlMs: days === null ? null : days * DAY * 1000,
      allowedNodes: [],
    });
  }
}
