import type { IClientSubscribeOptions, MqttClient } from 'mqtt';
import { within } from '../../../shared/async/within.ts';

/** Topics of one packet. */
const TOPICS = 300;
const ANSWER_MS = 10_000;

/** Presence and status, and events; or telemetry and pictures, which are heard only while somebody looks. */
type Kind = 'always' | 'looked at';

/** What one connection to the broker has subscribed to, of nodes. */
export class Subscriptions {
  readonly #client: MqttClient;
  readonly #heard: Readonly<Record<Kind, Set<string>>> = { always: new Set(), 'looked at': new Set() };

  constructor(client: MqttClient) {
    this.#client = client;
  }

  /** From now on these of this kind, and no others. One call at a time. @throws Error where the broker does not take it in time */
  async follow(
    kind: Kind,
    wanted: ReadonlySet<string>,
    how: (topic: string) => IClientSubscribeOptions,
  ): Promise<void> {
    const heard = this.#heard[kind];
    const gone = [...heard.difference(wanted)];
    const fresh = [...wanted].filter((topic) => !heard.has(topic));
    for (let at = 0; at < gone.length; at += TOPICS) {
      const topics = gone.slice(at, at + TOPICS);
      await answered(this.#client.unsubscribeAsync(topics));
      for (const topic of topics) heard.delete(topic);
    }
    for (let at = 0; at < fresh.length; at += TOPICS) {
      const topics = fresh.slice(at, at + TOPICS);
      const asked = topics.map((topic) => [topic, how(topic)] as const);
      await answered(this.#client.subscribeAsync(Object.fromEntries(asked)));
      for (const topic of topics) heard.add(topic);
    }
  }
}

/** @throws Error where the broker does not answer in time */
export async function answered(asked: Promise<unknown>): Promise<void> {
  await within(asked, ANSWER_MS, () => new Error('the broker does not answer to a subscription'));
}
