import { X509Certificate } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { contained, every } from '../../shared/async/every.ts';
import { messageOf } from '../../shared/errors.ts';
import { caHashOf } from '../../shared/fleet/code.ts';
import { topics } from '../../shared/fleet/topics.ts';
import type { Caller } from '../../shared/hub-api/caller.ts';
import type { HubHandler, HubRow } from '../../shared/hub-api/row.ts';
import { hubRows } from '../../shared/hub-api/rows.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { named, type Service } from '../../shared/process/services.ts';
import { createHubApp } from './api/app.ts';
import { Budgets } from './api/budgets.ts';
import { type HandlerParts, hubHandlers } from './api/hub-handlers.ts';
import type { PageFinder } from './api/page.ts';
import { HubServer } from './api/server.ts';
import { HubAudit } from './audit.ts';
import { Enrolment } from './authority/enrolment.ts';
import { PolicyMaker } from './authority/policy.ts';
import { Turn } from './authority/turn.ts';
import { BrokerProcess } from './broker/broker-process.ts';
import { BrokerRules } from './broker/broker-rules.ts';
import { SubscriptionGuard } from './broker/subscription-guard.ts';
import { ThrowOff } from './broker/throw-off.ts';
import { brokerUrls, type HubConfig } from './config.ts';
import type { HubDatabase } from './database/tables.ts';
import { DiskProbe } from './disk.ts';
import { Events } from './fleet/events.ts';
import { Fleet } from './fleet/fleet.ts';
import { FleetLink } from './fleet/fleet-link.ts';
import { LiveStreams } from './fleet/live-streams.ts';
import { NodeQuota } from './fleet/node-quota.ts';
import { NodeStreams } from './fleet/node-stream.ts';
import { PersonCalls } from './fleet/person-calls.ts';
import { Airframes } from './flights/airframes.ts';
import { Flights } from './flights/flights.ts';
import { OwnCertificates, readAuthority } from './keys/certificates.ts';
import { checkIdentity, identityOf } from './keys/identity.ts';
import { claimedId } from './keys/secret.ts';
import { Signer } from './keys/signer.ts';
import { hubTiles } from './maps.ts';
import { People } from './people/people.ts';
import { Sessions } from './people/sessions.ts';
import { grantIn, SignIn } from './people/sign-in.ts';
import type { HubPlaces } from './places.ts';
import { ALONE } from './replicas/alone.ts';
import { Others } from './replicas/others.ts';
import { DRAIN_MS, Readiness } from './replicas/readiness.ts';
import { Replica } from './replicas/replica.ts';
import { Codes, PRINTED_BY } from './stores/codes.ts';
import { Credentials } from './stores/credentials.ts';
import { Denied } from './stores/denied.ts';
import { Operators } from './stores/operators.ts';
import { SignIns } from './stores/sign-ins.ts';

/**
 * From here on memory is worth more than time: with 10 000 nodes a hub has 100 MiB instead of 200, for 2 to 3 % of a core. A small fleet
 * would pay as much for 12 MiB.
 */
const LARGE_FLEET = 3000;
const FOREIGN = 'it asked the broker for what is not its own, and was thrown off there';
const POLICY_MS = 10 * 60_000;
const FLIGHTS_MS = 60_000;
/** Turns of deleting, one after the other. */
const FLIGHTS_TURNS = 20;
const RESTORED_MS = 10_000;
const FORGET_MS = 3600 * 1000;
const CERTIFICATES_MS = 24 * 3600 * 1000;

interface HubOptions {
  readonly places: HubPlaces;
  readonly config: HubConfig;
  readonly database: HubDatabase;
  /** Where a Mosquitto of the hub's own listens; null: the broker is somebody else's. */
  readonly ownBroker: { readonly host: string; readonly port: number } | null;
  readonly page: PageFinder | null;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly random: () => number;
  /** Ends the process, as failed. */
  readonly stop: () => void;
  readonly log: Logger;
}

export interface Hub {
  /** In start order. */
  readonly services: readonly Service[];
  readonly codes: Codes;
  readonly caHash: string;
}

/** Puts a hub together; nothing of it runs yet. */
export async function buildHub(options: HubOptions): Promise<Hub> {
  const { places, config, database, ownBroker, page, now: wall, monotonic, random, stop, log } = options;
  const authority = await readAuthority(places);
  const certificates = new OwnCertificates(places, config.names, authority, wall);
  await certificates.renew();
  const signer = await Signer.open(places.signingKeys);
  const { queries: db, name } = database;
  await checkIdentity(db, identityOf(config.fleet, authority, signer), name);
  const now = (): number => replica?.now() ?? wall();
  const operators = new Operators(db, now);
  const signIns = new SignIns(db, now, (group) => grantIn(config.oidc, group));
  const credentials = new Credentials(db, now);
  const codes = new Codes(db, now);
  const denied = new Denied(db, now);
  const replica =
    database.engine === 'sqlite'
      ? null
      : new Replica({
          database,
          now: wall,
          monotonic,
          onChange: async ({ isGained, isRenamed }) => (isRenamed ? link.reconnect() : link.moved(isGained)),
          onAlarm: (what) => alarm('hub', 'hub', what),
          log,
        });
  const share = replica ?? ALONE;
  const fleet = await Fleet.open(db, share, now);
  if (fleet.size > LARGE_FLEET) setFlagsFromString('--memory-saver-mode');
  const events = await Events.open({
    db,
    share,
    onLeftOut: (node) => {
      if (fleet.quarantine(node)) alarm(node, 'node', 'its events cannot be stored');
    },
    now,
    monotonic,
    retention: config.events,
    flightsMb: config.flights.node_mb,
  });
  const flights = new Flights({ db, now, monotonic, keepDays: config.flights.keep_days });
  const quota = new NodeQuota(monotonic);
  const policy = new PolicyMaker(db, config.fleet, signer, denied, now);
  const audit = new HubAudit(places, now, log);
  const brokers = brokerUrls(config);
  const acl = config.broker.acl ?? places.acl;
  const connections = new ThrowOff(brokers.broker, authority, now);
  const guard = new SubscriptionGuard({
    fleet: config.fleet,
    throwOff: async (id) => connections.end(id),
    onForeign: (id) => {
      if (fleet.accuse(id, 'subscribed') || !fleet.has(id)) alarm(id, 'node', FOREIGN);
    },
    log,
  });
  const broker =
    ownBroker === null
      ? null
      : new BrokerProcess({ places, acl, ...ownBroker, ws: config.listen_ws, guard, log });
  const rules = new BrokerRules({
    fleet: config.fleet,
    file: acl,
    pidFile: config.broker.pid_file,
    own: () => broker?.pid ?? null,
    denied,
    credentials,
    log,
  });
  const alarm = (who: string, kind: 'node' | 'hub', what: string): void => {
    log.error(`${who}: ${what}`);
    audit.record({
      peer: kind === 'node' ? 'broker' : 'database',
      principal: who,
      principal_kind: kind,
      route: null,
      outcome: 'alarm',
      rule: what,
      changed: who,
    });
  };
  let begunAt = 0;
  let isRestored = false;
  /** What the database says was used may have been used before it: nothing that lets somebody in counts again. */
  const restored = async (): Promise<void> => {
    await codes.endBefore(begunAt);
    if (!isRestored)
      alarm('hub', 'hub', 'the database was restored: enrolment codes from before count no longer');
    isRestored = true;
  };
  const link = new FleetLink({
    urls: Object.values(brokers),
    fleetId: config.fleet,
    ca: authority.certificate,
    identity: async (client) => certificates.client(client),
    share,
    fleet,
    events,
    signer,
    policy: async () => policy.current(),
    onPolicy: async (jws) => {
      if (await policy.isForgotten(jws)) await restored();
      return policy.heard(jws);
    },
    quota,
    onLost: () => calls.lost(),
    onReply: (topic, payload) => calls.replied(topic, payload),
    onPicture: (node, jpeg) => live.picture(node, jpeg),
    onAlarm: (node, what) => alarm(node, 'node', what),
    random,
    log,
  });
  const authenticate = async (credential: string): Promise<Caller | null> => {
    const claimed = claimedId(credential);
    if (claimed === null) return null;
    const { id, kind } = claimed;
    if (kind === 'mc') return credentials.verify(id, credential);
    return (await operators.verify(id, credential)) ?? (await signIns.verify(id, credential));
  };
  const isValid = async ({ id }: Caller): Promise<boolean> =>
    ((await operators.find(id)) ?? (await credentials.find(id)) ?? (await signIns.find(id))) !== null;
  const streams = new NodeStreams(fleet, isValid);
  const calls = new PersonCalls({
    link,
    fleetId: config.fleet,
    keyOf: (node) => fleet.keyOf(node),
    monotonic,
    log,
  });
  const live = new LiveStreams({ fleetId: config.fleet, fleet, signer, link, isValid, now, monotonic, log });
  const publishPolicy = async (): Promise<void> => {
    const jws = await policy.renew();
    if (link.connected) await link.publish(topics.policy(config.fleet), jws);
  };
  /** Whatever of it fails is done when the broker is there again, or at the latest with the next policy. */
  const tell = async (what: string, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => log.warn(`${what}: ${messageOf(error)}`));
  };
  const endStreams = (ids: readonly string[]): void => {
    for (const id of ids) {
      streams.end(id);
      live.end(id);
    }
  };
  const others = new Others({ db, fleet, denied, rules, onDenied: endStreams });
  const people = new People({
    db,
    operators,
    signIns,
    credentials,
    codes,
    denied,
    rules,
    onEnded: async (ids) => {
      endStreams(ids);
      await tell('the policy', publishPolicy);
    },
  });
  const signIn =
    config.oidc === undefined
      ? null
      : await SignIn.open({
          config: config.oidc,
          signIns,
          end: async (ids) => people.endSignIns(ids),
          now,
          monotonic,
          log,
        });
  const common = { authority, fleetId: config.fleet, brokers, now };
  const caHash = caHashOf(new X509Certificate(authority.certificate));
  const disk = new DiskProbe(db, places.folder, monotonic);
  const tiles = hubTiles(config.maps, places.folder, log);
  const parts: HandlerParts = {
    config,
    ca: authority.certificate,
    caHash,
    airframes: new Airframes({
      db,
      rules: config.maintenance,
      nameOf: (node) => fleet.entry(node)?.name ?? null,
      now,
    }),
    audit,
    calls,
    codes,
    disk,
    enrolment: new Enrolment({
      ...common,
      db,
      fleet,
      events,
      codes,
      denied,
      policy,
      rules,
      isThere: async (id) =>
        id === PRINTED_BY || ((await operators.find(id)) ?? (await signIns.find(id))) !== null,
      onReplaced: (node, by) => alarm(node, 'node', `enrolled again with another key, by a code of ${by}`),
    }),
    events,
    fleet,
    flights,
    link,
    live,
    log,
    people,
    policy,
    sessions: new Sessions({ ...common, fleet, credentials, signer, tokenTtl: config.token_ttl }),
    signIn,
    streams,
    tiles,
    turn: new Turn({ db, fleet, turn: config.turn, now: common.now }),
    readiness: new Readiness({ link, share, disk: async () => disk.problem(), monotonic }),
    forget: async (node) => {
      quota.forget(node);
      await tell(`the connection of ${node}`, async () => connections.end(node));
      const callers = (await credentials.list()).map(({ id }) => id);
      await tell(`what the broker keeps of ${node}`, async () => link.forget(node, callers));
    },
  };
  const serve = createHubApp({
    rows: hubRows,
    // Each handler is typed by its row, which is what the application calls it with.
    handlers: hubHandlers(parts) as unknown as Readonly<Record<string, HubHandler<HubRow>>>,
    authenticate,
    budgets: new Budgets(monotonic),
    record: (entry) => audit.record(entry),
    monotonic,
    page,
    log,
  });
  const server = new HubServer({
    serve,
    identity: await certificates.read(places.server),
    places: config,
    monotonic,
    log,
  });
  const renewCertificates = async (): Promise<void> => {
    if (!(await certificates.renew())) return;
    server.renew(await certificates.read(places.server));
    await rules.reload();
    broker?.renewed();
    await link.reconnect();
  };
  const keepFlights = async (): Promise<void> => {
    if (!share.upkeep) flights.leave();
    for (let turn = 0; turn < FLIGHTS_TURNS && share.upkeep; turn++) if (!(await flights.prune())) return;
  };
  let timers: readonly NodeJS.Timeout[] = [];
  const services = [
    named('audit', audit),
    named('rules', { start: async () => rules.apply() }),
    ...(broker === null ? [] : [named('broker', broker)]),
    ...(replica === null ? [] : [named('others', others), named('replica', replica)]),
    // After the replica, which knows the time.
    named('policy', {
      start: async () => {
        begunAt = await policy.begin();
      },
    }),
    named('fleet', link),
    named('upkeep', {
      start: () => {
        contained('old flights', keepFlights)();
        timers = [
          every(POLICY_MS, 'policy', async () => {
            if (share.upkeep) await publishPolicy();
          }),
          every(FLIGHTS_MS, 'old flights', keepFlights),
          every(FORGET_MS, 'old sign-ins', async () => {
            if (share.upkeep) await people.forgetSignIns();
          }),
          every(CERTIFICATES_MS, 'certificates', renewCertificates),
          // What this process remembers of its nodes is not what the database says: it begins anew.
          ...(share.alone
            ? []
            : [
                every(RESTORED_MS, 'restore', async () => {
                  if (!(await policy.isBehind())) return;
                  alarm('hub', 'hub', 'the database was restored under a hub that runs: it stops');
                  stop();
                }),
              ]),
        ];
      },
      stop: () => {
        for (const timer of timers) clearInterval(timer);
      },
    }),
    named('maps', { start: () => tiles.start(), stop: async () => tiles.stop() }),
    named('server', server),
    named('live', live),
    named('streams', streams), // ended before the server, which need not wait for them
    named('balance', { stop: async () => parts.readiness.drain() }, { stopMs: DRAIN_MS + 2000 }),
  ];
  return { services, codes, caHash };
}
