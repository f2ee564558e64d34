import { randomBytes } from 'node:crypto';
import { every } from '../../shared/async/every.ts';
import { Retry } from '../../shared/async/retry.ts';
import { TokenBucket } from '../../shared/async/token-bucket.ts';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import {
  BrokerConnection,
  type BrokerMessage,
  type ConnectionLimits,
} from '../../shared/fleet/broker-connection.ts';
import { BrokerWays } from '../../shared/fleet/broker-ways.ts';
import { type FleetEvent, MAX_PICTURE_BYTES, type Presence } from '../../shared/fleet/told.ts';
import { callerOf, isMachine, topics } from '../../shared/fleet/topics.ts';
import { type JsonObject, parseJson } from '../../shared/member.ts';
import type { Calls } from '../../shared/rpc/contract.ts';
import type { FLEET, FleetLinkState, FleetPlace } from '../../shared/rpc/fleet.ts';
import { CallCarrier } from './call-carrier.ts';
import { type FleetQueue, TELEMETRY_KIND } from './event-queue.ts';
import { EventSender, type EventSenderLimits } from './event-sender.ts';
import type { FleetLog } from './fleet-log.ts';
import { RetainedStatement } from './retained-statement.ts';

/** Times, ms. */
export interface FleetLimits extends ConnectionLimits, EventSenderLimits {
  /** The first pause before it connects again, and the longest; each is drawn between 0 and that. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** After so long, a connection works. */
  readonly stableMs: number;
  /** Status, unless something changes. */
  readonly statusMs: number;
  /** Between two pieces of telemetry that are kept while there is no connection. */
  readonly keepTelemetryMs: number;
  /** How long calls wait for the policy. */
  readonly policyMs: number;
  readonly reportMs: number;
  readonly tickMs: number;
}

/** A broker that goes silent is found after 1.5 times `keepaliveMs`, one that never says a word after `connectMs`. */
export const FLEET_LIMITS: FleetLimits = {
  connectMs: 20_000,
  keepaliveMs: 20_000,
  firstPauseMs: 5000,
  longestPauseMs: 30_000,
  stableMs: 30_000,
  statusMs: 10_000,
  keepTelemetryMs: 10_000,
  policyMs: 5000,
  reportMs: 10_000,
  tickMs: 1000,
  ackMs: 10_000,
  longestAckMs: 60_000,
};

/** To say again who is there, after another session's will: two that fight must not fill the broker. */
const PRESENCE_RATE = { perSecond: 0.2, burst: 5 } as const;
/** So many wills may still be on their way. */
const MAX_SESSIONS = 16;
/** Bytes of calls of machines, a second on average and at once: the uplink may be a SIM card. */
const MACHINE_CALLS = { perSecond: 32 * 1024, burst: 4 * 1024 * 1024 } as const;
/** So long it hears no machine after more than that; people at the hub's page it hears all the time. */
const DEAF_MS = 60_000;
const GOODBYE_MS = 2000;
/** Messages that the broker may send before they are acknowledged. */
const RECEIVE_MAXIMUM = 20;
/** What the queue remembers: the broker's address that worked last, for the next process. */
const BROKER_FACT = 'broker';
/** How often it is told that a watch was not believed. */
const REFUSED_MS = 60_000;

export interface FleetClientOptions {
  readonly place: FleetPlace;
  /** What svc-control is asked for; it verifies and signs. */
  readonly control: Omit<Calls<typeof FLEET>, 'place'>;
  readonly queue: FleetQueue;
  readonly telemetryHz: number;
  readonly telemetryFields: readonly string[];
  /** The camera's picture now, small, as JPEG; null: there is none. Absent: this node has no video. */
  readonly picture?: () => Promise<Uint8Array | null>;
  readonly log: FleetLog;
  /** 0 to 1. */
  readonly random: () => number;
  /** Wall clock, ms since 1970. */
  readonly wall: () => number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly limits?: Partial<FleetLimits>;
}

/** A node's side of the fleet: one connection to the broker that comes back, and what goes over it. It only carries. */
export class FleetClient {
  readonly #options: FleetClientOptions;
  readonly #limits: FleetLimits;
  readonly #retry: Retry;
  readonly #sender: EventSender;
  readonly #carrier: CallCarrier;
  readonly #policy: RetainedStatement;
  readonly #ack: RetainedStatement;
  readonly #presence: TokenBucket;
  readonly #machineCalls: TokenBucket;
  /** It hears no machine until then (monotonic, ms). */
  #deafUntil = -Infinity;
  readonly #watch: RetainedStatement;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #ways: BrokerWays;
  #place: FleetPlace;
  #connection: BrokerConnection | null = null;
  #online = false;
  #stopped = false;
  /** This connection has said that the node is there. */
  #announced = false;
  #session = '';
  /** Of this uplink. */
  #mostHz = Infinity;
  #policyTimer: NodeJS.Timeout | undefined;
  #stableTimer: NodeJS.Timeout | undefined;
  #problem = 'not connected yet';
  #statusAt = -Infinity;
  #statusWanted = false;
  #statusBusy = false;
  #statusProblem = '';
  #telemetryBusy = false;
  #telemetryTimer: NodeJS.Timeout | undefined;
  #telemetryHz = 0;
  #pictureBusy = false;
  #pictureTimer: NodeJS.Timeout | undefined;
  #picturesHz = 0;
  /** Somebody looks at this node, until then (monotonic, ms). */
  #watchRefusedAt = -Infinity;
  #watched = { telemetryHz: 0, picturesHz: 0, until: -Infinity };
  #keptAt = -Infinity;
  #reportedAt = -Infinity;
  #reported = '';
  /** The newest ones of this process. */
  readonly #sessions: string[] = [];
  /** Sessions that another process had at the broker in this node's name. One may be that of the process before. */
  strangers = 0;

  constructor(options: FleetClientOptions) {
    const { control, queue, log, random, now } = options;
    this.#options = options;
    this.#place = options.place;
    this.#ways = new BrokerWays(options.place.brokers, queue.fact(BROKER_FACT));
    this.#limits = { ...FLEET_LIMITS, ...options.limits };
    const { firstPauseMs: firstMs, longestPauseMs: capMs } = this.#limits;
    this.#retry = new Retry(() => this.#connect(), {
      firstMs,
      capMs,
      // Full jitter: after a restart of the broker its nodes come back spread over the whole pause.
      after: (ms, run) => {
        const timer = setTimeout(run, ms * random());
        return { cancel: () => clearTimeout(timer) };
      },
    });
    this.#sender = new EventSender(queue, (event) => this.#tellEvent(event), this.#limits, random);
    this.#carrier = new CallCarrier({
      run: async (call) => (await control.call(call)).reply,
      reply: async (caller, text) => {
        const { fleet, node } = this.#place;
        await this.#connection?.publish({ topic: topics.reply(fleet, caller, node), text, retain: false });
      },
      log,
      now,
    });
    const refused = (what: string) => (error: unknown) =>
      log.warn(`${what} of the hub is not believed: ${messageOf(error)}`);
    this.#policy = new RetainedStatement(async (jws) => control.policy({ jws }), refused('the policy'));
    this.#ack = new RetainedStatement(async (jws) => {
      const { stream, seq } = await control.ack({ jws });
      if (!this.#stopped) this.#sender.acknowledge(stream, seq);
    }, refused('an acknowledgement'));
    this.#watch = new RetainedStatement(
      async (jws) => {
        const { telemetry_hz: telemetryHz, pictures_hz: picturesHz, seconds } = await control.watch({ jws });
        if (this.#stopped || !this.#online) return;
        this.#watched = { telemetryHz, picturesHz, until: now() + seconds * 1000 };
        this.#pace();
      },
      (error) => {
        // Whoever has the broker may send many.
        if (now() - this.#watchRefusedAt < REFUSED_MS) return;
        this.#watchRefusedAt = now();
        log.warn(`it is not believed that somebody looks: ${messageOf(error)}`);
      },
    );
    this.#presence = new TokenBucket(PRESENCE_RATE, now());
    this.#machineCalls = new TokenBucket(MACHINE_CALLS, now());
  }

  start(): void {
    this.#timers.push(every(this.#limits.tickMs, 'fleet', async () => this.#tick()));
    this.#pace();
    this.#retry.start();
  }

  /** Says goodbye to the broker, if it listens. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#retry.stop();
    for (const timer of this.#timers) clearInterval(timer);
    clearInterval(this.#telemetryTimer);
    clearInterval(this.#pictureTimer);
    const connection = this.#connection;
    if (connection === null) return;
    try {
      if (this.#online) {
        const late = (): Error => new Error('the broker did not answer in time');
        await within(connection.publish(this.#presenceOf(this.#session, false)), GOODBYE_MS, late);
        await within(connection.end(true), GOODBYE_MS, late);
      }
    } catch (error) {
      this.#options.log.warn(`no goodbye to the broker: ${messageOf(error)}`);
    }
    connection.fail('stopped');
  }

  /**
   * Takes over a new certificate of the same place; the connection that is there stays until it ends.
   * @returns false: it is another place
   */
  renew(place: FleetPlace): boolean {
    const same =
      (['node', 'fleet', 'name', 'profile', 'version'] as const).every(
        (member) => place[member] === this.#place[member],
      ) && place.brokers.join() === this.#place.brokers.join();
    if (same) this.#place = place;
    return same;
  }

  get connected(): boolean {
    return this.#online;
  }

  /** As the queue's own. */
  append(...what: Parameters<FleetQueue['append']>): void {
    this.#options.queue.append(...what);
    this.look();
  }

  /** There may be a new event in the queue. */
  look(): void {
    this.#sender.look();
  }

  /** The most telemetry messages a second while nobody looks; null: as the config says. */
  limitTelemetry(hz: number | null): void {
    this.#mostHz = hz ?? Infinity;
    if (this.#timers.length > 0) this.#pace();
  }

  /** The node has another uplink: a connection by the old one would be found dead only by its silence. */
  moved(): void {
    this.#connection?.fail('the uplink has changed');
    this.#retry.now();
  }

  /** Armed, mode or link has changed: the status goes out now. */
  changed(): void {
    this.#statusWanted = true;
    void this.#status();
  }

  state(): FleetLinkState {
    const { queue } = this.#options;
    const { events, telemetry } = queue.dropped;
    return {
      connected: this.#online,
      via: this.#online ? this.#ways.url : null,
      problem: this.#online ? null : this.#problem.slice(0, 500),
      events_behind: queue.behind,
      oldest_event_at: queue.oldestAt,
      events_dropped: events,
      telemetry_dropped: telemetry,
      acknowledged_at: queue.acknowledgedAt,
    };
  }

  #connect(): void {
    const session = randomBytes(9).toString('base64url');
    this.#session = session;
    if (this.#sessions.push(session) > MAX_SESSIONS) this.#sessions.shift();
    try {
      const { node: clientId, ca, certificate, key } = this.#place;
      const connection: BrokerConnection = new BrokerConnection(
        {
          url: this.#ways.url,
          clientId,
          ca,
          certificate,
          key,
          limits: this.#limits,
          receiveMaximum: RECEIVE_MAXIMUM,
          will: this.#presenceOf(session, false),
          lateEnds: true,
        },
        {
          connected: () => void this.#welcome(connection, session),
          message: (topic, payload, retained) => this.#hear(topic, payload, retained),
          ended: (why) => this.#ended(why),
        },
      );
      this.#connection = connection;
    } catch (error) {
      this.#ended(messageOf(error));
    }
  }

  async #welcome(connection: BrokerConnection, session: string): Promise<void> {
    const { fleet, node } = this.#place;
    this.#carrier.hold();
    this.#policyTimer = setTimeout(() => this.#carrier.release(), this.#limits.policyMs);
    try {
      // The presence that stands shows who was there before.
      await connection.subscribe([
        topics.policy(fleet),
        topics.ack(fleet, node),
        topics.watch(fleet, node),
        topics.told(fleet, node, 'presence'),
        topics.personCalls(fleet, node),
        ...(this.#deafUntil === -Infinity ? [topics.machineCalls(fleet, node)] : []),
      ]);
      this.#announced = true;
      await connection.publish(this.#presenceOf(session, true));
    } catch (error) {
      connection.fail(messageOf(error));
      return;
    }
    if (this.#connection !== connection) return;
    this.#online = true;
    this.#problem = '';
    this.#ways.worked();
    const { queue } = this.#options;
    if (queue.fact(BROKER_FACT) !== this.#ways.url) queue.append([], { [BROKER_FACT]: this.#ways.url });
    this.#options.log.info(`connected to ${this.#ways.url}`);
    this.#stableTimer = setTimeout(() => this.#retry.worked(), this.#limits.stableMs);
    this.#sender.connected();
    this.changed();
    await this.#report();
  }

  #ended(why: string): void {
    this.#connection = null;
    const lost = this.#online;
    this.#online = false;
    this.#announced = false;
    this.#watched = { telemetryHz: 0, picturesHz: 0, until: -Infinity };
    clearTimeout(this.#policyTimer);
    clearTimeout(this.#stableTimer);
    this.#sender.disconnected();
    this.#carrier.clear();
    if (why !== this.#problem && !this.#stopped) this.#options.log.warn(`not connected to the fleet: ${why}`);
    this.#problem = why;
    void this.#report();
    // One that was there until now is tried first.
    if (!lost && !this.#stopped && this.#ways.failed()) this.#connect();
    else this.#retry.again();
  }

  #hear(topic: string, payload: Buffer, retained: boolean): void {
    const { fleet, node } = this.#place;
    const caller = callerOf(topic);
    // A retained call was stored at the broker, which no caller does.
    if (caller !== null && !retained) {
      if (isMachine(caller) && !this.#spend(caller, payload)) return;
      this.#carrier.take(caller, payload);
    } else if (topic === topics.policy(fleet)) void this.#hearPolicy(payload.toString());
    else if (topic === topics.ack(fleet, node)) void this.#ack.take(payload.toString());
    // A retained one was stored at the broker, which no hub does.
    else if (topic === topics.watch(fleet, node)) {
      if (!retained) void this.#watch.take(payload.toString());
    } else if (topic === topics.told(fleet, node, 'presence')) this.#hearPresence(payload);
  }

  async #hearPolicy(jws: string): Promise<void> {
    await this.#policy.take(jws);
    this.#carrier.release();
  }

  /** @returns false: too much has come from machines; they are not heard for a while */
  #spend(caller: string, payload: Buffer): boolean {
    const now = this.#options.now();
    if (this.#deafUntil > now) return false; // on its way when it was asked to stop
    if (this.#machineCalls.take(now, payload.length)) return true;
    this.#deafUntil = now + DEAF_MS;
    this.#options.log.warn(`${caller} sends too much: no machine is heard for ${DEAF_MS / 1000} s`);
    const { fleet, node } = this.#place;
    const detail = { caller, seconds: DEAF_MS / 1000 };
    this.append([{ at: this.#options.wall(), kind: 'node.flooded', detail }]);
    this.#settle(this.#connection?.unsubscribe([topics.machineCalls(fleet, node)]));
    return false;
  }

  #hearMachines(now: number): void {
    if (!this.#online || this.#deafUntil > now || this.#deafUntil === -Infinity) return;
    this.#deafUntil = -Infinity;
    const { fleet, node } = this.#place;
    this.#settle(this.#connection?.subscribe([topics.machineCalls(fleet, node)]));
  }

  /** Of a connection that ends meanwhile the next one does it. */
  #settle(asked: Promise<void> | undefined): void {
    asked?.catch((error: unknown) => this.#options.log.warn(`calls of machines: ${messageOf(error)}`));
  }

  /** The will of an earlier session may come after this one's presence, and would stand. */
  #hearPresence(payload: Buffer): void {
    const said = parsePresence(payload);
    if (said?.session === this.#session) return;
    if (payload.length > 0 && !this.#sessions.includes(said?.session ?? '')) {
      this.strangers++;
      if (this.strangers > 1)
        this.#options.log.warn(
          `another machine has this node's certificate: ${this.strangers} foreign sessions in its name at the broker`,
        );
    }
    if (!this.#announced || !this.#presence.take(this.#options.now())) return;
    void this.#tell(this.#presenceOf(this.#session, true));
  }

  #presenceOf(session: string, online: boolean): BrokerMessage {
    const { fleet, node, name, profile, version } = this.#place;
    const presence: Presence = { online, session, at: this.#options.wall(), version, profile, name };
    return { topic: topics.told(fleet, node, 'presence'), text: JSON.stringify(presence), retain: true };
  }

  async #tick(): Promise<void> {
    const now = this.#options.now();
    if (now - this.#statusAt >= this.#limits.statusMs) this.#statusWanted = true;
    this.#pace();
    this.#hearMachines(now);
    await Promise.all([
      this.#status(),
      this.#keepTelemetry(now),
      this.#policy.again(),
      this.#ack.again(),
      this.#report(),
    ]);
  }

  /** Sends the status if one is wanted; what is wanted meanwhile goes out after it. */
  async #status(): Promise<void> {
    if (!this.#online || !this.#statusWanted || this.#statusBusy) return;
    this.#statusBusy = true;
    this.#statusWanted = false;
    try {
      const body = await this.#options.control.status({});
      if (this.#stopped) return; // the queue may be closed by now
      const { fleet, node } = this.#place;
      const text = JSON.stringify({ ...body, events_behind: this.#options.queue.behind });
      this.#statusAt = this.#options.now();
      this.#statusProblem = '';
      await this.#tell({ topic: topics.told(fleet, node, 'status'), text, retain: true });
    } catch (error) {
      this.#statusWanted = true; // the next tick tries again
      if (this.#statusProblem === '') this.#options.log.info(`no status for the fleet: ${messageOf(error)}`);
      this.#statusProblem = messageOf(error);
      return;
    } finally {
      this.#statusBusy = false;
    }
    await this.#status();
  }

  /** As often as the config says, and more while somebody looks; a node that tells the fleet nothing does so then, too. */
  #pace(): void {
    if (this.#stopped) return;
    const { telemetryHz: own, now, picture } = this.#options;
    const always = Math.min(own, this.#mostHz);
    const { until, ...watched } = this.#watched;
    const looked = now() < until;
    const telemetryHz = own > 0 && looked ? Math.max(always, watched.telemetryHz) : always;
    const picturesHz = looked && picture !== undefined ? watched.picturesHz : 0;
    if (telemetryHz !== this.#telemetryHz) {
      this.#telemetryHz = telemetryHz;
      clearInterval(this.#telemetryTimer);
      if (telemetryHz > 0)
        this.#telemetryTimer = every(1000 / telemetryHz, 'fleet telemetry', async () => this.#telemetry());
    }
    if (picturesHz === this.#picturesHz) return;
    this.#picturesHz = picturesHz;
    clearInterval(this.#pictureTimer);
    if (picturesHz > 0)
      this.#pictureTimer = every(1000 / picturesHz, 'fleet pictures', async () => this.#picture());
  }

  /** The newest picture, if there is one and the last has left. */
  async #picture(): Promise<void> {
    const { picture } = this.#options;
    if (!this.#online || this.#pictureBusy || picture === undefined) return;
    this.#pictureBusy = true;
    try {
      const jpeg = await picture();
      const { fleet, node } = this.#place;
      if (jpeg !== null && jpeg.length <= MAX_PICTURE_BYTES && !this.#stopped)
        this.#connection?.publishOnce(topics.told(fleet, node, 'picture'), jpeg);
    } finally {
      this.#pictureBusy = false;
    }
  }

  async #telemetry(): Promise<void> {
    if (!this.#online || this.#telemetryBusy) return;
    this.#telemetryBusy = true;
    try {
      const picked = await this.#picked();
      const { fleet, node } = this.#place;
      if (picked !== null && !this.#stopped)
        this.#connection?.publishOnce(topics.told(fleet, node, 'telemetry'), JSON.stringify(picked));
    } finally {
      this.#telemetryBusy = false;
    }
  }

  async #keepTelemetry(now: number): Promise<void> {
    if (this.#online || this.#options.telemetryHz === 0) return;
    if (now - this.#keptAt < this.#limits.keepTelemetryMs) return;
    this.#keptAt = now;
    const detail = await this.#picked();
    if (detail !== null && !this.#stopped)
      this.append([{ at: this.#options.wall(), kind: TELEMETRY_KIND, detail }]);
  }

  /** Null: there is none at the moment. */
  async #picked(): Promise<JsonObject | null> {
    try {
      const body = await this.#options.control.telemetry({});
      const fields = this.#options.telemetryFields.filter((field) => Object.hasOwn(body, field));
      return Object.fromEntries(fields.map((field) => [field, body[field]]));
    } catch {
      return null; // svc-control or svc-link is away, which the status says
    }
  }

  #tellEvent(event: FleetEvent): void {
    const { fleet, node } = this.#place;
    const topic = topics.told(fleet, node, 'event');
    void this.#tell({ topic, text: JSON.stringify(event), retain: false });
  }

  /** What the broker does not take is told again: status and presence by time, events until they are acknowledged. */
  async #tell(said: BrokerMessage): Promise<void> {
    if (this.#stopped) return; // nothing comes after the goodbye
    try {
      await this.#connection?.publish(said);
    } catch (error) {
      if (this.#online) this.#options.log.warn(`the broker did not take ${said.topic}: ${messageOf(error)}`);
    }
  }

  async #report(): Promise<void> {
    const state = this.state();
    const text = JSON.stringify([state.connected, state.problem, state.events_behind === 0]);
    const now = this.#options.now();
    if (text === this.#reported && now - this.#reportedAt < this.#limits.reportMs) return;
    this.#reported = text;
    this.#reportedAt = now;
    try {
      await this.#options.control.report(state);
    } catch {
      this.#reported = ''; // svc-control is away, and is told on the next tick
    }
  }
}

/** Null for what no session of a node has written. */
function parsePresence(payload: Buffer): Partial<Presence> | null {
  try {
    const value: unknown = parseJson(payload.toString());
    return typeof value === 'object' && value !== null ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
