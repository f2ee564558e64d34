import type { DatabaseSync } from 'node:sqlite';
import { Serial } from '../../../shared/async/serial.ts';
import type { Denied } from '../stores/denied.ts';
import { number } from '../stores/grant-columns.ts';
import type { Signer } from './signer.ts';

const SEQ = 'policy_seq';

/** The hub's policy: its keys and the credentials that it has ended. Nodes keep the one with the highest number. */
export class PolicyMaker {
  readonly #db: DatabaseSync;
  readonly #fleet: string;
  readonly #signer: Signer;
  readonly #denied: Denied;
  readonly #now: () => number;
  readonly #turn = new Serial();
  #current: string | null = null;

  constructor(db: DatabaseSync, fleet: string, signer: Signer, denied: Denied, now: () => number) {
    this.#db = db;
    this.#fleet = fleet;
    this.#signer = signer;
    this.#denied = denied;
    this.#now = now;
  }

  /** 0 before the first. */
  get seq(): number {
    const row = this.#db.prepare('SELECT value FROM meta WHERE key = ?').get(SEQ);
    return row === undefined ? 0 : number(row, 'value');
  }

  /** The newest. */
  async current(): Promise<string> {
    return this.#current ?? this.renew();
  }

  /**
   * A new one, with what is true now. Its number is at least the second of this moment, so that a hub whose database was restored
   * from a backup does not begin with numbers that the nodes have seen.
   */
  async renew(): Promise<string> {
    return this.#turn.run(async () => {
      const iat = Math.floor(this.#now() / 1000);
      const seq = Math.max(this.seq + 1, iat);
      this.#db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(SEQ, seq);
      const keys = [...this.#signer.publicKeys];
      const revoked = [...this.#denied.revoked()];
      this.#current = await this.#signer.sign('svc-policy', { fleet: this.#fleet, seq, iat, keys, revoked });
      return this.#current;
    });
  }
}
