import { every } from '../../../shared/async/every.ts';
import type { BrokerRules } from '../broker/broker-rules.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Denied } from '../stores/denied.ts';

/** Nobody who was ended at another replica is served here for longer than two of these. */
const LOOK_MS = 400;

interface OthersOptions {
  readonly fleet: Fleet;
  readonly denied: Denied;
  readonly rules: BrokerRules;
  /** These ids have ended: credentials, operators, nodes. */
  readonly onDenied: (ids: readonly string[]) => void;
}

/** Notices what other replicas have done, in the database. */
export class Others {
  readonly #options: OthersOptions;
  #denied: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | null = null;

  constructor(options: OthersOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { denied, rules } = this.#options;
    this.#denied = (await denied.since(null)).rev;
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
    const { fleet, denied, rules, onDenied } = this.#options;
    const { ids, rev } = await denied.since(this.#denied);
    onDenied(ids);
    for (const id of ids) if (fleet.has(id)) await fleet.reload(id);
    const isNew = await fleet.catchUp();
    if (ids.length > 0 || isNew) await rules.apply();
    this.#denied = rev;
  }
}
