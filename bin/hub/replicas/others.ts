import { every } from '../../../shared/async/every.ts';
import type { BrokerRules } from '../broker/broker-rules.ts';
import type { Queries } from '../database/tables.ts';
import { type Fleet, NODES_REV } from '../fleet/fleet.ts';
import { DENIED_REV, type Denied } from '../stores/denied.ts';
import { readCounters } from '../stores/meta.ts';

/** Nobody who was ended at another replica is served here for longer than two of these. */
const LOOK_MS = 400;

interface OthersOptions {
  readonly db: Queries;
  readonly fleet: Fleet;
  readonly denied: Denied;
  readonly rules: BrokerRules;
  /** These ids have ended: credentials, operators, nodes. */
  readonly onDenied: (ids: readonly string[]) => void;
}

/** Notices what other replicas have done, in the database. */
export class Others {
  readonly #options: OthersOptions;
  #denied = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  constructor(options: OthersOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { db, rules } = this.#options;
    this.#denied = (await readCounters(db, [DENIED_REV]))[DENIED_REV];
    await rules.apply(); // whoever was denied before that
    this.#timer = every(LOOK_MS, 'other replicas', async () => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @throws the database's error; then it is looked at again from where it was */
  async #look(): Promise<void> {
    const { db, fleet, denied, rules, onDenied } = this.#options;
    const { denied_rev: rev, nodes_rev: count } = await readCounters(db, [DENIED_REV, NODES_REV]);
    const ids = await denied.between(this.#denied, rev);
    onDenied(ids);
    for (const id of ids) if (fleet.has(id)) await fleet.reload(id);
    const isNew = await fleet.catchUp(count);
    if (rev !== this.#denied || isNew) await rules.apply();
    this.#denied = rev;
  }
}
