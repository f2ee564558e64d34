import { ApiError, messageOf } from '../../../shared/errors.ts';
import { caHashOf, formatCode, newCodeSecret } from '../../../shared/fleet/code.ts';
import type { NodeEntry } from '../../../shared/fleet/hub-api.ts';
import { type Caller, EVERY_NODE, type Reach, reachOf } from '../../../shared/hub-api/caller.ts';
import { hubOpenApi } from '../../../shared/hub-api/openapi.ts';
import type { HubHandlers } from '../../../shared/hub-api/row.ts';
import { hubRows } from '../../../shared/hub-api/rows.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { Reply } from '../../../shared/routes/handler.ts';
import { type Tiles, tileReply } from '../../../shared/tiles/tiles.ts';
import { VERSION } from '../../../shared/version.ts';
import type { HubAudit } from '../audit.ts';
import type { Enrolment } from '../authority/enrolment.ts';
import type { PolicyMaker } from '../authority/policy.ts';
import type { Turn } from '../authority/turn.ts';
import type { HubConfig } from '../config.ts';
import type { DiskProbe } from '../disk.ts';
import type { Events } from '../fleet/events.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { FleetLink } from '../fleet/fleet-link.ts';
import type { LiveStreams } from '../fleet/live-streams.ts';
import type { NodeStreams } from '../fleet/node-stream.ts';
import { claimOf, type PersonCalls } from '../fleet/person-calls.ts';
import type { Airframes } from '../flights/airframes.ts';
import type { Flights } from '../flights/flights.ts';
import { sendCsv } from '../flights/flights-csv.ts';
import type { People } from '../people/people.ts';
import type { Sessions } from '../people/sessions.ts';
import type { SignIn } from '../people/sign-in.ts';
import type { Readiness } from '../replicas/readiness.ts';
import type { Codes } from '../stores/codes.ts';
import { OpenAnswer, whoIs } from './app.ts';

export interface HandlerParts {
  readonly config: HubConfig;
  /** PEM of the CA. */
  readonly ca: string;
  /** First 128 bits of the CA's hash, as codes have it. */
  readonly caHash: ReturnType<typeof caHashOf>;
  readonly airframes: Airframes;
  readonly audit: HubAudit;
  readonly calls: PersonCalls;
  readonly codes: Codes;
  readonly disk: DiskProbe;
  readonly enrolment: Enrolment;
  readonly events: Events;
  readonly fleet: Fleet;
  readonly flights: Flights;
  readonly link: FleetLink;
  readonly live: LiveStreams;
  readonly log: Logger;
  readonly people: People;
  readonly policy: PolicyMaker;
  readonly readiness: Readiness;
  readonly sessions: Sessions;
  /** Null where there is no provider. */
  readonly signIn: SignIn | null;
  readonly streams: NodeStreams;
  readonly tiles: Tiles;
  readonly turn: Turn;
  /** Has the broker forget a node; it may be away. */
  readonly forget: (node: string) => Promise<void>;
}

/** What was begun for somebody who has left is kept for the next. */
const NEVER = new AbortController().signal;
/** How long a person waits for a node, unless they say otherwise, ms. */
const CALL_MS = 30_000;

type Handlers = HubHandlers<typeof hubRows>;

export function hubHandlers(parts: HandlerParts): Handlers {
  const { config, ca, audit, disk, enrolment, events, fleet, link, policy, sessions, streams, turn } = parts;
  const { calls, live, flights, airframes } = parts;
  const document = hubOpenApi(hubRows, VERSION);
  return {
    'ca.get': () => new Reply(200, ca, 'application/x-pem-file'),
    'health.get': async () => {
      const problem = await disk.problem();
      return {
        ok: link.connected && problem === null,
        version: VERSION,
        broker: link.connected,
        disk: problem === null,
        problem,
      };
    },
    'ready.get': async () => parts.readiness.check(),
    'openapi.get': () => document,
    'enroll.post': async ({ body, changed }) => {
      changed(body.device_id);
      return enrolment.enroll(body);
    },
    'renew.post': async ({ body, changed }) => {
      const { node, answer } = await enrolment.renew(body.statement);
      changed(node);
      return answer;
    },
    'turn.post': async ({ body, changed }) => {
      const { node, answer } = await turn.grant(body.statement);
      changed(node);
      return answer;
    },
    'session.get': async ({ caller, headers }) => sessions.open(caller, headers),
    'me.token.post': async ({ caller, body: { key, nodes = null } }) => sessions.person(caller, key, nodes),
    'maps.get': () => ({ sources: parts.tiles.sources }),
    'maps.id.tile.get': async ({ id, query, headers }) =>
      tileReply(await parts.tiles.get(id, query, NEVER), headers['if-none-match']?.toString()),
    'sign-in.get': () => ({ provider: parts.signIn?.about ?? null }),
    'sign-in.post': async () => {
      const { url, cookie } = await provided(parts.signIn).begin();
      return new Reply(200, { url }, undefined, { 'set-cookie': cookie });
    },
    'sign-in.answer.post': async ({ body, headers, changed }) => {
      const signIn = provided(parts.signIn);
      const made = await signIn.end(body.answer, headers['cookie']?.toString() ?? '', changed);
      return new Reply(201, made, undefined, { 'set-cookie': signIn.forgotten });
    },
    'sign-in.token.post': async ({ body, changed }) =>
      provided(parts.signIn).byToken(body.token, body.resource, changed),
    'sign-in.delete': async ({ caller }) => {
      await parts.people.signOut(caller);
      return { ended: caller.id };
    },
    'me.get': ({ caller: { kind, id, name, scopes, nodes, tags, expires_at } }) => ({
      kind,
      id,
      name,
      scopes,
      nodes,
      tags,
      expires_at,
      fleet: config.fleet,
      fleet_name: config.name,
    }),
    'fleet.get': async ({ caller }) => {
      return {
        fleet: config.fleet,
        name: config.name,
        version: VERSION,
        broker: { url: config.broker.url, connected: link.connected, problem: link.problem },
        ...fleet.counts(caller),
        policy_seq: await policy.seq(),
        dropped: link.dropped,
      };
    },
    'nodes.get': ({ query, caller }) => fleet.page(query, caller),
    'nodes.clusters.get': ({ query, caller }) => fleet.clusters(query, caller),
    'nodes.stream.get': ({ caller, query }) =>
      new OpenAnswer((res, headers) => streams.open(caller, query, res, headers)),
    'live.get': ({ caller, query }) =>
      new OpenAnswer((res, headers) => live.open(caller, query, res, headers)),
    'nodes.id.calls.post': async ({ id, caller, body, peer, asker }) => {
      entryFor(fleet, caller, id);
      const { call, timeout_ms = CALL_MS } = body;
      const { method, path } = claimOf(call);
      const settle = (outcome: string): void =>
        recordCall(parts, { peer, caller, outcome, changed: `${id} ${method} ${path.slice(0, 200)}` });
      try {
        const reply = await calls.carry(caller, id, call, { ...asker, until: asker.since + timeout_ms });
        settle('carried');
        return { reply };
      } catch (error) {
        settle(error instanceof ApiError ? error.code : 'E_INTERNAL');
        throw error;
      }
    },
    'nodes.id.get': ({ id, caller }) => {
      const entry = entryFor(fleet, caller, id);
      live.glance(id);
      return { ...entry, ...fleet.telemetryOf(id) };
    },
    'nodes.id.delete': async ({ id, caller }) => {
      entryFor(fleet, caller, id);
      await enrolment.remove(id);
      await parts.forget(id);
      return { ended: id };
    },
    'nodes.id.alarm.delete': async ({ id, caller }) => {
      entryFor(fleet, caller, id);
      await fleet.clearAlarm(id);
      return entryFor(fleet, caller, id);
    },
    'nodes.id.tags.post': async ({ id, body, changed }) => {
      const { tags, group } = body;
      await enrolment.tag(id, body);
      changed(`${id}: ${tags.join(' ')}${group === null ? '' : ` group ${group}`}`);
      return entryFor(fleet, EVERY_NODE, id);
    },
    'events.get': async ({ query, caller }) => {
      const found = await events.list(query, fleet.seenBy(caller));
      return { events: found, last: found.at(-1)?.id ?? query.after ?? 0 };
    },
    'tags.get': ({ caller }) => ({ tags: fleet.tags(caller) }),
    'flights.get': async ({ query, caller }) => flights.page(query, seenBy(fleet, caller)),
    'flights.id.get': async ({ id, caller }) => flights.find(id, seenBy(fleet, caller)),
    'flights.csv.get': async ({ query, caller }) => {
      const pages = await flights.all(query, seenBy(fleet, caller));
      return new OpenAnswer((res, headers) => {
        sendCsv(res, headers, pages).catch((error: unknown) =>
          parts.log.warn(`flights.csv.get: ${messageOf(error)}`),
        );
      });
    },
    'airframes.get': async ({ query, caller }) => airframes.page(query, seenBy(fleet, caller)),
    'airframes.id.maintenance.post': async ({ id, body, caller, changed }) => {
      entryFor(fleet, caller, id);
      changed(`${id} ${body.rule}`);
      return airframes.done(id, caller.name, body);
    },
    'codes.post': async ({ caller, query: { node }, changed }) => {
      if (node === undefined) return newCode(parts, caller);
      changed(node);
      entryFor(fleet, caller, node);
      // Whoever has it takes the place of a node that people fly.
      if (!caller.scopes.includes('destructive'))
        throw new ApiError('E_SCOPE', 'A code for a node that is enrolled needs the scope destructive.', {
          required: 'destructive',
          granted: caller.scopes,
        });
      return newCode(parts, caller, node);
    },
    'credentials.post': async ({ body, caller, changed }) => {
      const { label, scopes, nodes = null, tags = [] } = body;
      const { id, text } = await parts.people.addCredential(caller, label, {
        scopes,
        ...reachOf(nodes, tags),
      });
      changed(id);
      return { id, credential: text };
    },
    'credentials.get': async ({ caller }) => ({ credentials: await parts.people.credentials(caller) }),
    'credentials.id.delete': async ({ id, caller }) => {
      await parts.people.endCredential(caller, id);
      return { ended: id };
    },
    'operators.post': async ({ body, caller, changed }) => {
      const { name, scopes, nodes = null, tags = [] } = body;
      const { id, text } = await parts.people.addOperator(caller, name, { scopes, ...reachOf(nodes, tags) });
      changed(id);
      return { id, credential: text };
    },
    'operators.get': async ({ caller }) => ({ operators: await parts.people.operators(caller) }),
    'operators.id.delete': async ({ id, caller }) => {
      await parts.people.removeOperator(caller, id);
      return { ended: id };
    },
    'audit.get': ({ query }) => ({ records: audit.newest(query.limit) }),
    'audit.verify.get': async () => audit.verify(),
  };
}

/** @throws ApiError E_NOT_IMPLEMENTED */
function provided(signIn: SignIn | null): SignIn {
  if (signIn === null)
    throw new ApiError('E_NOT_IMPLEMENTED', 'This hub has no provider to sign in at (oidc in hub.yaml).');
  return signIn;
}

/** Who called which node, and what became of it; an audit that cannot be written is told in the log. */
function recordCall(
  { audit, log }: Pick<HandlerParts, 'audit' | 'log'>,
  { peer, caller, outcome, changed }: { peer: string; caller: Caller; outcome: string; changed: string },
): void {
  try {
    audit.record({
      peer,
      route: 'nodes.id.calls.post',
      ...whoIs(caller),
      outcome,
      rule: 'row',
      changed,
    });
  } catch (error) {
    log.error(`a call is not in the audit: ${messageOf(error)}`);
  }
}

/** A code for one node, of those that its maker has. @param replaces the one that it is for, which is enrolled */
export async function newCode(
  { codes, caHash }: Pick<HandlerParts, 'codes' | 'caHash'>,
  by: Reach & Pick<Caller, 'id'>,
  replaces: string | null = null,
): Promise<{ readonly code: string; readonly expires_at: number }> {
  const secret = newCodeSecret();
  return { expires_at: await codes.add(secret, by, replaces), code: formatCode({ caHash, secret }) };
}

/** What was told by nodes that are gone is for those who have the whole fleet: another node may have an id of theirs. */
function seenBy(fleet: Fleet, caller: Caller): readonly string[] | null {
  return fleet.seenBy(caller)?.filter((node) => fleet.has(node)) ?? null;
}

/** @throws ApiError E_NOT_FOUND, also for a node that this caller may not see */
function entryFor(fleet: Fleet, caller: Reach, id: string): NodeEntry {
  const entry = fleet.sees(caller, id) ? fleet.entry(id) : null;
  if (entry === null) throw new ApiError('E_NOT_FOUND', `There is no node ${id}.`);
  return entry;
}
