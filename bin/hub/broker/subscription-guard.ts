import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import { HUB_IDS, topics } from '../../../shared/fleet/topics.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/** Of mosquitto.conf(5) `log_type subscribe`: who, which quality of service, to what; a longer line is cut off there. */
const LINE = /^(\S+) [012] (.+)$/;

/** To throw one off. */
const TRIES = 3;

interface SubscriptionGuardOptions {
  readonly fleet: string;
  /** Ends the connection of this client. */
  readonly throwOff: (id: string) => Promise<void>;
  /** It has asked for what is not its own. */
  readonly onForeign: (id: string) => void;
  readonly log: Logger;
}

/**
 * Throws off whoever subscribes to what is not its own. Mosquitto asks its rules only when it delivers: any number of subscriptions,
 * each of up to 64 kB, would fill its memory. The hub reads in its log what it was asked for.
 */
export class SubscriptionGuard {
  readonly #options: SubscriptionGuardOptions;
  readonly #turn = new Serial();
  /** They are being thrown off. */
  readonly #under = new Set<string>();

  constructor(options: SubscriptionGuardOptions) {
    this.#options = options;
  }

  /** @returns whether this line of the log was about a subscription */
  saw(line: string): boolean {
    const [, id = '', topic = ''] = LINE.exec(line) ?? [];
    if (id === '') return false;
    if (HUB_IDS.includes(id) || this.#own(id).includes(topic) || this.#under.has(id)) return true;
    this.#under.add(id);
    void this.#throwOff(id);
    return true;
  }

  /** What a node or a caller of this id listens to. */
  #own(id: string): readonly string[] {
    const { fleet } = this.#options;
    return [
      topics.policy(fleet),
      topics.told(fleet, id, 'presence'),
      topics.ack(fleet, id),
      topics.watch(fleet, id),
      topics.machineCalls(fleet, id),
      topics.personCalls(fleet, id),
      topics.replies(fleet, id),
    ];
  }

  async #throwOff(id: string): Promise<void> {
    const { throwOff, onForeign, log } = this.#options;
    for (let left = TRIES; left > 0; left--)
      try {
        await this.#turn.run(async () => throwOff(id));
        onForeign(id);
        break;
      } catch (error) {
        // A broker that is being filled may be late.
        log.error(
          `${id} has subscribed to what is not its own, and is still at the broker: ${messageOf(error)}`,
        );
      }
    this.#under.delete(id);
  }
}
