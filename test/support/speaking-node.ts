import { connect, type MqttClient } from 'mqtt';
import { publicJwk, signStatement, thumbprint } from '../../shared/fleet/signed.ts';
import { callerOf, topics } from '../../shared/fleet/topics.ts';
import type { EnrolledNode } from './hub.ts';

/** As `fleet.ack_ms` of a node, shorter. */
const RESEND_MS = 1000;
const STATUS_MS = 2000;
const EVENT_MS = 100;

/**
 * A node as the broker sees one: there all the time, with a status again and again, and one event after the other, the next when the
 * hub has acknowledged the one before.
 */
export class SpeakingNode {
  readonly id: string;
  readonly stream = 's1';
  acknowledged = 0;
  /** Numbers of the policies it heard. */
  readonly policies: number[] = [];
  /** How often each call of a person came, by its number. */
  readonly calls = new Map<string, number>();
  readonly #node: EnrolledNode;
  readonly #client: MqttClient;
  readonly #timers: readonly NodeJS.Timeout[];
  #sent: { readonly seq: number; readonly at: number } | null = null;
  #pausedAt: number | null = null;

  constructor(node: EnrolledNode) {
    this.#node = node;
    this.id = node.id;
    const { fleet, broker, ca, certificate: cert } = node.enrolled;
    const said = { session: `${node.id}-1`, at: 1, version: '1', profile: 'drone', name: node.id };
    const presence = topics.told(fleet, node.id, 'presence');
    this.#client = connect(broker, {
      ca,
      cert,
      key: node.tlsKey,
      clientId: node.id,
      protocolVersion: 5,
      reconnectPeriod: 500,
      reconnectOnConnackError: true, // a broker that cannot take anybody at the moment
      queueQoSZero: false,
      will: {
        topic: presence,
        payload: Buffer.from(JSON.stringify({ ...said, online: false })),
        qos: 1,
        retain: true,
      },
    });
    this.#client.on('error', () => undefined); // it connects again
    this.#client.on('connect', () => {
      const { stream } = this.#client;
      const heard = [topics.ack(fleet, node.id), topics.policy(fleet), topics.personCalls(fleet, node.id)];
      this.#client.subscribe(heard, { qos: 1 }, (error) => {
        if (error !== null && error !== undefined) stream.destroy(); // as a node does: once more
      });
      this.#client.publish(presence, JSON.stringify({ ...said, online: true }), { qos: 1, retain: true });
      this.#status();
    });
    this.#client.on('message', (topic, payload) => this.#heard(topic, payload));
    this.#timers = [setInterval(() => this.#status(), STATUS_MS), setInterval(() => this.#event(), EVENT_MS)];
  }

  /** Sends no new event from now on, and resolves when all are acknowledged. */
  async settle(): Promise<number> {
    this.#pausedAt = this.#sent?.seq ?? this.acknowledged;
    while (this.acknowledged < this.#pausedAt) await new Promise((resolve) => setTimeout(resolve, EVENT_MS));
    return this.acknowledged;
  }

  /** New events again. */
  goOn(): void {
    this.#pausedAt = null;
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#client.end(true);
  }

  #say(what: 'status' | 'event', body: object, retain: boolean): void {
    if (!this.#client.connected) return;
    const topic = topics.told(this.#node.enrolled.fleet, this.id, what);
    this.#client.publish(topic, JSON.stringify(body), { qos: 1, retain }, () => undefined);
  }

  #status(): void {
    this.#say('status', { at: Date.now(), nonce: `${this.id}boot.1`, acknowledged: this.acknowledged }, true);
  }

  #event(): void {
    const now = performance.now();
    if (this.#sent !== null && this.#sent.seq > this.acknowledged) {
      if (now - this.#sent.at < RESEND_MS) return;
    } else if (this.#pausedAt !== null) return;
    const seq = this.acknowledged + 1;
    this.#sent = { seq, at: now };
    this.#say('event', { stream: this.stream, seq, at: seq, kind: 'vehicle.mode', detail: { seq } }, false);
  }

  #heard(topic: string, payload: Buffer): void {
    const text = Buffer.from(payload.toString().split('.')[1] ?? '', 'base64url').toString();
    const { seq, jti } = JSON.parse(text) as { readonly seq: number; readonly jti: string };
    const caller = callerOf(topic);
    if (caller !== null) void this.#answer(caller, jti);
    else if (topic.endsWith('/policy')) this.policies.push(seq);
    else this.acknowledged = Math.max(this.acknowledged, seq);
  }

  /** Once for each call, as a node does. */
  async #answer(caller: string, jti: string): Promise<void> {
    const times = (this.calls.get(jti) ?? 0) + 1;
    this.calls.set(jti, times);
    if (times > 1) return;
    const { enrolled, signingKey } = this.#node;
    const reply = { node: this.id, jti, status: 200, body: {} };
    const jws = await signStatement('svc-reply', reply, signingKey, await thumbprint(publicJwk(signingKey)));
    this.#client.publish(topics.reply(enrolled.fleet, caller, this.id), jws, { qos: 1 }, () => undefined);
  }
}
