import type { BrokerConnection, SubscribeOptions } from '../../../shared/fleet/broker-connection.ts';

/** Topics of one packet. */
const TOPICS = 300;

/** Presence and status, and events; or telemetry and pictures, which are heard only while somebody looks. */
type Kind = 'always' | 'looked at';

/** What one connection to the broker has subscribed to, of nodes. */
export class Subscriptions {
  readonly #connection: BrokerConnection;
  readonly #heard: Readonly<Record<Kind, Set<string>>> = { always: new Set(), 'looked at': new Set() };

  constructor(connection: BrokerConnection) {
    this.#connection = connection;
  }

  /** From now on these of this kind, and no others. One call at a time. @throws Error where the broker does not take it in time */
  async follow(
    kind: Kind,
    wanted: ReadonlySet<string>,
    how: (topic: string) => SubscribeOptions,
  ): Promise<void> {
    const heard = this.#heard[kind];
    const gone = [...heard.difference(wanted)];
    const fresh = [...wanted].filter((topic) => !heard.has(topic));
    for (let at = 0; at < gone.length; at += TOPICS) {
      const topics = gone.slice(at, at + TOPICS);
      await this.#connection.unsubscribe(topics);
      for (const topic of topics) heard.delete(topic);
    }
    for (let at = 0; at < fresh.length; at += TOPICS) {
      const topics = fresh.slice(at, at + TOPICS);
      await this.#connection.subscribe(topics, how);
      for (const topic of topics) heard.add(topic);
    }
  }
}
