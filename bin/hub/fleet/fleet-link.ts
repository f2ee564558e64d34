import { contained, every } from '../../../shared/async/every.ts';
import { Retry } from '../../../shared/async/retry.ts';
import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import { BrokerConnection, type SubscribeOptions } from '../../../shared/fleet/broker-connection.ts';
import { BrokerWays } from '../../../shared/fleet/broker-ways.ts';
import { MAX_PICTURE_BYTES } from '../../../shared/fleet/told.ts';
import {
  HUB_ID,
  NODE_TOPICS,
  type NodeTopic,
  parseTold,
  replierOf,
  topics,
} from '../../../shared/fleet/topics.ts';
import { HostileJson } from '../../../shared/foreign-json.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Ack } from '../../../shared/schemas/fleet-statements.ts';
import type { KeyPair } from '../keys/certificates.ts';
import type { Signer } from '../keys/signer.ts';
import type { Events } from './events.ts';
import type { Fleet } from './fleet.ts';
import type { NodeQuota } from './node-quota.ts';
import type { Share } from './share.ts';
import { Subscriptions } from './subscriptions.ts';
import { parseBody } from './told-bodies.ts';

/** From the first event to the commit of all that came until then. */
const COMMIT_MS = 25;
/** A place in the database is at most so old, and one step of a broker and a hub; alone, nobody else reads it. */
const SAVE_MS = 5000;
const SAVE_ALONE_MS = 30_000;
/** Others see who came and went. */
const SAVE_URGENT_MS = 1000;
const PRUNE_MS = 60_000;
/** So long after it was asked has the broker said what it keeps. */
const SETTLE_MS = 3000;
/** What is heard of each node all the time; the rest only while somebody looks. */
const ALWAYS = ['presence', 'status', 'event'] as const satisfies readonly NodeTopic[];
const LOOKED_AT = ['telemetry', 'picture'] as const satisfies readonly NodeTopic[];
const LIMITS = { connectMs: 10_000, keepaliveMs: 15_000 } as const;
/** Between two attempts: 1 to 3 s. */
const RETRY_MS = 1000;
/** How one begins. */
const JPEG = 0xffd8;
/** Turns of looking for what the broker keeps of a node that is removed. */
const FORGET_TURNS = 10;
/** Retained messages of all nodes come at once. */
const RECEIVE_MAXIMUM = 1000;
const TWIN = 'two machines with one key';
const WRONG = { twin: TWIN, audit: 'its audit went back' } as const;
const TRIMMED = {
  tracks: 'more tracks than the hub keeps of one node: those of its oldest flights are deleted',
  flights: 'more flights than the hub keeps of one node: its oldest are deleted',
} as const;
const STRANGE = 'what no node sends, so nothing more of it is taken';
const FLOOD = 'more than the hub takes of one node';
const RETAINED = 'it has the broker keep what is not kept';

interface FleetLinkOptions {
  /** The broker's addresses, tried in this order. */
  readonly urls: readonly string[];
  readonly fleetId: string;
  readonly ca: string;
  /** For the name that it has. */
  readonly identity: (name: string) => Promise<KeyPair>;
  readonly share: Share;
  readonly fleet: Fleet;
  readonly events: Events;
  readonly signer: Signer;
  /** What is published whenever the broker is there again. */
  readonly policy: () => Promise<string>;
  /** The broker has this policy now. @returns what has to be there instead; null: nothing */
  readonly onPolicy: (jws: string) => Promise<string | null>;
  readonly quota: NodeQuota;
  /** The connection has ended. */
  readonly onLost: () => void;
  /** A node has answered a call that the hub carries for a person. */
  readonly onReply: (topic: string, payload: Buffer) => void;
  /** A picture of this node, as JPEG. */
  readonly onPicture: (node: string, jpeg: Buffer) => void;
  /** What is wrong with this node, in a few words. */
  readonly onAlarm: (node: string, what: string) => void;
  readonly random: () => number;
  readonly log: Logger;
}

/** The hub at the broker: hears what the nodes say, stores their events, and acknowledges what is stored. */
export class FleetLink {
  readonly #options: FleetLinkOptions;
  readonly #ways: BrokerWays;
  readonly #retry: Retry;
  #opening = 0;
  #connection: BrokerConnection | null = null;
  #timers: readonly NodeJS.Timeout[] = [];
  #problem: string | null = null;
  #commitTimer: NodeJS.Timeout | null = null;
  readonly #committing = new Serial();
  readonly #commitContained = contained('events', async () => this.#commit());
  /** Nodes that somebody looks at. */
  #looked: ReadonlySet<string> = new Set();
  /** Of the present connection; null while there is none. */
  #subscriptions: Subscriptions | null = null;
  /** The nodes that it hears all the time may be others than before. */
  #isMoved = true;
  readonly #subscribing = new Serial();
  #unlisten: () => void = () => undefined;
  readonly #syncContained = contained('subscriptions', async () => this.sync());
  /** Those that stand as away, and have told one status since. */
  readonly #doubted = new Set<string>();
  /** Nodes of which the broker is to keep nothing, and how much of them was found and removed. */
  readonly #forgotten = new Map<string, number>();
  /** Of which nodes it was said that the hub deletes what of theirs, since the start. */
  readonly #saidTrims = new Set<string>();
  readonly dropped = { unknown: 0, malformed: 0 };

  constructor(options: FleetLinkOptions) {
    this.#options = options;
    const { urls, random } = options;
    this.#ways = new BrokerWays(urls, null);
    this.#retry = new Retry(() => void this.#attempt(), {
      firstMs: RETRY_MS * (1 + 2 * random()),
      capMs: RETRY_MS * 3,
    });
  }

  get connected(): boolean {
    return this.#connection?.connected ?? false;
  }

  /** Why it is not connected; null while it is, or before the first attempt has failed. */
  get problem(): string | null {
    return this.connected ? null : this.#problem;
  }

  async start(): Promise<void> {
    const { events, fleet, share, log } = this.#options;
    this.#timers = [
      every(share.alone ? SAVE_ALONE_MS : SAVE_MS, 'nodes', async () => fleet.save()),
      ...(share.alone ? [] : [every(SAVE_URGENT_MS, 'presence', async () => fleet.saveUrgent())]),
      every(PRUNE_MS, 'retention', async () => {
        if (share.upkeep) await events.prune();
        for (const node of await events.pruneShares()) this.#floods(node);
        for (const { node, what } of await events.flights.prune()) this.#trims(node, TRIMMED[what]);
      }),
    ];
    this.#unlisten = fleet.onMembers(() => {
      this.#isMoved = true;
      if (this.#subscribing.size < 2) this.#syncContained(); // one that waits sees all that has come until then
    });
    this.#retry.start();
    log.info('connecting to the broker');
  }

  /** From now on the telemetry and the pictures of these, and of no others. */
  look(nodes: ReadonlySet<string>): void {
    if (nodes.symmetricDifference(this.#looked).size === 0) return;
    this.#looked = nodes;
    this.#syncContained();
  }

  /** Hears what it should hear now, of whom it should. @throws Error where the broker does not take it: then a new connection begins anew */
  async sync(): Promise<void> {
    await this.#subscribing.run(async () => {
      const subscriptions = this.#subscriptions;
      if (subscriptions === null) return;
      try {
        if (this.#isMoved) {
          this.#isMoved = false;
          await subscriptions.follow('always', this.#always(), howOf);
        }
        await subscriptions.follow('looked at', this.#lookedAt(), howOf);
      } catch (error) {
        if (subscriptions === this.#subscriptions) this.#connection?.fail(messageOf(error));
        throw error;
      }
    });
  }

  /** Alone it hears all nodes by three wildcards. */
  #always(): ReadonlySet<string> {
    const { fleet, fleetId, share } = this.#options;
    if (share.alone) return new Set(ALWAYS.map((what) => topics.allTold(fleetId, what)));
    const own = fleet.ids().filter((id) => share.has(id));
    return new Set(own.flatMap((id) => ALWAYS.map((what) => topics.told(fleetId, id, what))));
  }

  #lookedAt(): ReadonlySet<string> {
    const { fleetId } = this.#options;
    return new Set(
      [...this.#looked].flatMap((id) => LOOKED_AT.map((what) => topics.told(fleetId, id, what))),
    );
  }

  /** It has another share of the nodes. @param isGained whether it hears this one now and did not before */
  async moved(isGained: (node: string) => boolean): Promise<void> {
    const { events, fleet } = this.#options;
    events.reread();
    await fleet.catchUp();
    if (!this.connected) return fleet.allOffline();
    this.#isMoved = true;
    const gained = fleet.ids().filter(isGained);
    fleet.expect(gained);
    await this.sync();
    setTimeout(() => {
      if (this.connected) fleet.settle(gained);
    }, SETTLE_MS).unref();
  }

  /** With a new certificate. */
  async reconnect(): Promise<void> {
    if (this.#timers.length === 0) return; // not started yet, or stopped
    await this.#close();
    this.#retry.start();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    this.#unlisten();
    await this.#commit();
    await this.#options.fleet.save();
    await this.#close();
  }

  /**
   * Retained, unless the payload is empty: that removes what was retained.
   * @throws Error while the broker is away, or does not confirm in time
   */
  async publish(topic: string, payload: string): Promise<void> {
    await this.#present().publish({ topic, text: payload, retain: true });
  }

  /**
   * Goes to whoever listens now, and is kept nowhere: also not for a later connection.
   * @param ms for how long it is of use, at the broker too
   * @returns whether anybody does. @throws Error while the broker is away, or ends the connection before it has acknowledged
   */
  async send(topic: string, payload: string, ms: number): Promise<boolean> {
    return this.#present().send(topic, payload, ms);
  }

  /** @throws Error while the broker is away */
  #present(): BrokerConnection {
    if (this.#connection === null || !this.#connection.connected) throw new Error('the broker is away');
    return this.#connection;
  }

  #isForgotten(topic: string): boolean {
    const [, , , first = '', kind, last = ''] = topic.split('/');
    const node = [first, kind === 'reply' || kind === 'call' ? last : ''].find((id) =>
      this.#forgotten.has(id),
    );
    if (node === undefined) return false;
    this.#forgotten.set(node, (this.#forgotten.get(node) ?? 0) + 1);
    return true;
  }

  /** The broker keeps it no longer. What fails is found again when the node is removed. */
  #remove(topic: string, payload: Buffer): void {
    if (payload.length === 0) return; // such a removal, which comes back
    this.publish(topic, '').catch((error: unknown) => this.#options.log.warn(messageOf(error)));
  }

  /** Only presence and status of a node are kept; it has the broker keep something else. */
  #clear(topic: string, payload: Buffer): void {
    const { fleet, quota, onAlarm } = this.#options;
    const told = parseTold(topic);
    const node = told?.node ?? replierOf(topic);
    if (payload.length === 0 || node === null || !fleet.has(node)) return;
    if (!quota.take(node, told?.what ?? 'event', payload.length)) return this.#floods(node);
    this.#remove(topic, payload);
    if (fleet.accuse(node, 'retained')) onAlarm(node, RETAINED);
  }

  /** At most once, and not at all while the broker is away. */
  sendOnce(topic: string, payload: string): void {
    this.#connection?.publishOnce(topic, payload);
  }

  /**
   * Removes what the broker keeps of a node: what the hub knows of, and whatever else is found in its name.
   * @param callers machines that it may have answered @throws Error while the broker is away, or does not confirm in time
   */
  async forget(node: string, callers: readonly string[]): Promise<void> {
    const { fleetId } = this.#options;
    const own = NODE_TOPICS.map((what) => topics.told(fleetId, node, what));
    const replies = [HUB_ID, ...callers].map((caller) => topics.reply(fleetId, caller, node));
    for (const topic of [...own, topics.ack(fleetId, node), topics.watch(fleetId, node), ...replies])
      await this.publish(topic, '');
    const seen = [...topics.allOf(fleetId, node)];
    this.#forgotten.set(node, 0);
    try {
      // A broker sends what it keeps before it answers, so one turn that finds nothing is the last one.
      for (let turn = 0; turn < FORGET_TURNS; turn++) {
        const before = this.#forgotten.get(node);
        await this.#subscribing.run(async () => {
          const connection = this.#present();
          await connection.subscribe(seen, () => ({ qos: 0 }));
          await connection.unsubscribe(seen);
        });
        if (this.#forgotten.get(node) === before) break;
      }
    } finally {
      this.#forgotten.delete(node);
    }
  }

  async #attempt(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      this.#problem = messageOf(error);
      this.#options.log.warn(`broker: ${this.#problem}`);
      this.#retry.again();
    }
  }

  /** @throws Error for a certificate that cannot be read */
  async #open(): Promise<void> {
    const opening = ++this.#opening;
    const { ca, identity, share, log } = this.#options;
    const { name } = share;
    if (name === null) throw new Error('it has no name of its own at the moment');
    const { certificate, key } = await identity(name);
    if (opening !== this.#opening) return; // closed meanwhile
    let lost = false;
    const connection: BrokerConnection = new BrokerConnection(
      {
        url: this.#ways.url,
        clientId: name,
        ca,
        certificate,
        key,
        limits: LIMITS,
        receiveMaximum: RECEIVE_MAXIMUM,
        lateEnds: false, // a database that is slow for seconds is no reason to be thrown out of the fleet
      },
      {
        connected: () => {
          lost = true;
          this.#ways.worked();
          this.#retry.worked();
          this.#problem = null;
          // Connected, but deaf: once more.
          this.#begin(connection).catch((error: unknown) => connection.fail(messageOf(error)));
        },
        message: (topic, payload, retained) => this.#hear(topic, payload, retained),
        ended: (why) => {
          this.#options.onLost();
          if (this.#connection !== connection) return; // we have closed it
          this.#subscriptions = null;
          this.#connection = null;
          if (why !== this.#problem) log.warn(`broker: ${why}`);
          this.#problem = why;
          if (!lost && this.#ways.failed()) this.#retry.start();
          else this.#retry.again();
        },
      },
    );
    this.#connection = connection;
  }

  #hear(topic: string, payload: Buffer, retained: boolean): void {
    const { fleetId, onReply, log } = this.#options;
    try {
      if (retained && this.#forgotten.size > 0 && this.#isForgotten(topic)) this.#remove(topic, payload);
      else if (topic === topics.policy(fleetId)) this.#checkPolicy(payload);
      else if (retained && !isKept(topic)) this.#clear(topic, payload);
      else if (replierOf(topic) === null) this.#heard(topic, payload, retained);
      else onReply(topic, payload);
    } catch (error) {
      log.error(`${topic}: ${messageOf(error)}`); // a full disk, for example; the node says it again
    }
  }

  async #begin(connection: BrokerConnection): Promise<void> {
    const { fleet, fleetId, policy, log } = this.#options;
    fleet.allOffline();
    this.#subscriptions = new Subscriptions(connection);
    this.#isMoved = true;
    // The replies are those to people at its page.
    await connection.subscribe([topics.policy(fleetId), topics.replies(fleetId, HUB_ID)], howOf);
    await this.sync();
    log.info('connected to the broker'); // and hears the nodes
    await this.publish(topics.policy(fleetId), await policy());
  }

  /** Of two replicas that publish at once the older policy may come last. */
  #checkPolicy(payload: Buffer): void {
    const { fleetId, onPolicy, log } = this.#options;
    const check = async (): Promise<void> => {
      const newer = await onPolicy(payload.toString('utf8'));
      if (newer === null) return;
      log.warn('the broker has an older policy than the newest: published again');
      await this.publish(topics.policy(fleetId), newer);
    };
    check().catch((error: unknown) => log.warn(`the policy: ${messageOf(error)}`));
  }

  async #close(): Promise<void> {
    this.#retry.stop();
    this.#opening++;
    const connection = this.#connection;
    this.#connection = null;
    this.#subscriptions = null;
    // At once: what had to go out was waited for.
    await connection?.end(false);
  }

  #heard(topic: string, payload: Buffer, kept: boolean): void {
    const { fleet, log } = this.#options;
    const told = parseTold(topic);
    if (told === null || payload.length === 0) return; // the hub's own clearing of what was retained
    const { node, what } = told;
    if (!fleet.has(node)) {
      this.dropped.unknown++;
      if (this.dropped.unknown === 1) log.warn(`${node} is connected, but not enrolled`);
      return;
    }
    const { share } = this.#options;
    if (what === 'telemetry' || what === 'picture' ? !this.#looked.has(node) : !share.has(node)) return;
    if (fleet.isQuarantined(node) && what !== 'presence') return;
    // Before it is read: a flood costs no more than its bytes. An event is not acknowledged then, and comes again.
    if (!this.#options.quota.take(node, what, payload.length)) return this.#floods(node);
    try {
      if (!this.#take(what, node, payload, kept)) this.dropped.malformed++;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.dropped.malformed++;
      if (error instanceof HostileJson && fleet.quarantine(node))
        this.#options.onAlarm(node, `${STRANGE}: its ${what}, ${error.message}`);
    }
  }

  /** @returns false for a body that is not what it should be */
  #take(what: NodeTopic, node: string, payload: Buffer, kept: boolean): boolean {
    const { fleet, events, onAlarm } = this.#options;
    switch (what) {
      case 'presence': {
        const body = parseBody(what, payload);
        if (body !== null && fleet.presence(node, body, kept)) onAlarm(node, TWIN);
        return body !== null;
      }
      case 'status': {
        const body = parseBody(what, payload);
        const wrong = body === null ? null : fleet.status(node, body, kept);
        if (wrong !== null) onAlarm(node, WRONG[wrong]);
        if (body !== null && !kept) this.#doubt(node);
        return body !== null;
      }
      case 'telemetry': {
        const body = parseBody(what, payload);
        if (body !== null) fleet.telemetry(node, body);
        return body !== null;
      }
      case 'picture':
        if (payload.length < 4 || payload.length > MAX_PICTURE_BYTES || payload.readUInt16BE(0) !== JPEG)
          return false;
        this.#options.onPicture(node, payload);
        return true;
      case 'event': {
        const body = parseBody(what, payload);
        if (body === null) return false;
        events.take(node, body);
        this.#commitTimer ??= setTimeout(this.#commitContained, COMMIT_MS);
        return true;
      }
    }
  }

  #floods(node: string): void {
    const { fleet, onAlarm } = this.#options;
    if (fleet.accuse(node, 'flood')) onAlarm(node, FLOOD);
  }

  /**
   * A node that speaks now stands as away: in a cluster of brokers what was retained at one can be missed while the hub subscribes at
   * another. At each second such status the broker is asked again.
   */
  #doubt(node: string): void {
    const { fleet, fleetId, share } = this.#options;
    if (fleet.isOnline(node)) this.#doubted.delete(node);
    else if (this.#doubted.delete(node)) {
      const topic = topics.told(fleetId, node, 'presence');
      const asked = this.#subscribing.run(async () => {
        const connection = this.#connection;
        if (connection === null || !connection.connected || !share.has(node)) return;
        await connection.subscribe([topic]);
        if (share.alone) await connection.unsubscribe([topic]); // it hears all by wildcards
      });
      asked.catch((error: unknown) => this.#options.log.warn(`${node}: ${messageOf(error)}`));
    } else this.#doubted.add(node);
  }

  /** Said once: it will be so for each flight from now on. */
  #trims(node: string, what: string): void {
    const said = `${node} ${what}`;
    if (this.#saidTrims.has(said)) return;
    this.#saidTrims.add(said);
    this.#options.onAlarm(node, what);
  }

  /** One at a time: an older acknowledgement must not replace a newer one. */
  async #commit(): Promise<void> {
    const { events, fleet } = this.#options;
    await this.#committing.run(async () => {
      if (this.#commitTimer !== null) clearTimeout(this.#commitTimer);
      this.#commitTimer = null;
      // Where the broker is away, the node sends it again, and is acknowledged then.
      const due = (await events.commit()).filter(({ node }) => this.connected && fleet.has(node));
      await Promise.all(due.map(async (ack) => this.#acknowledge(ack)));
    });
  }

  async #acknowledge(ack: Ack): Promise<void> {
    const { signer, fleetId } = this.#options;
    await this.publish(topics.ack(fleetId, ack.node), await signer.sign('svc-ack', ack));
  }
}

/**
 * What comes again and again may be lost: to confirm each of it was most of what a node that nobody looks at has cost. Of what the broker
 * should not keep it says, also when it comes, whether it does.
 */
function howOf(topic: string): SubscribeOptions {
  return { qos: /\/(?:presence|event|policy|reply\/\+)$/.test(topic) ? 1 : 0, rap: !isKept(topic) };
}

/** Whether the broker keeps the newest message of this topic: a node's presence and status, and what is the hub's own. */
function isKept(topic: string): boolean {
  return /\/(?:presence|status|ack|policy)$/.test(topic);
}
