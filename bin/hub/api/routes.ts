import {
  callerSession,
  carriedReply,
  carryRequest,
  credentialRequest,
  enrolled,
  enrollRequest,
  nodeEntry,
  personToken,
  personTokenRequest,
  renewRequest,
  turnGrant,
} from '../../../shared/fleet/hub-api.ts';
import {
  airframe,
  airframeList,
  airframesQuery,
  flightAnswer,
  flightList,
  flightsCsvQuery,
  flightsQuery,
  maintenanceRequest,
} from './flight-schemas.ts';
import type { HubRow } from './row.ts';
import {
  auditAnswer,
  auditQuery,
  auditVerdict,
  codeAnswer,
  credentialList,
  credentialMade,
  ended,
  eventList,
  eventsQuery,
  fleetAnswer,
  healthAnswer,
  liveQuery,
  meAnswer,
  nodeList,
  nodesQuery,
  operatorList,
  operatorRequest,
  readyAnswer,
} from './schemas.ts';

type Special = Partial<Omit<HubRow, 'id' | 'method' | 'path' | 'access' | 'scope' | 'answer' | 'summary'>>;

function row<const Id extends string, const A extends HubRow['access'], const S extends Special>(
  id: Id,
  route: `${HubRow['method']} /${string}`,
  policy: `${A} ${'read' | 'admin' | '-'}`,
  answer: HubRow['answer'],
  summary: string,
  special: S,
) {
  const [method, path] = route.split(' ') as [HubRow['method'], string];
  const [access, scope] = policy.split(' ') as [A, 'read' | 'admin' | '-'];
  const isRead = method === 'GET';
  return {
    wholeFleet: false,
    audited: !isRead,
    rate: isRead ? 'read' : 'write',
    query: null,
    body: null,
    status: method === 'POST' ? 201 : 200,
    mediaType: 'application/json',
    fails: [],
    ...special,
    id,
    method,
    path,
    access,
    scope: scope === '-' ? null : scope,
    answer,
    summary,
  } as const satisfies HubRow as unknown as Omit<HubRow, 'id' | 'access' | 'query' | 'body'> & {
    readonly id: Id;
    readonly access: A;
    readonly query: S extends { readonly query: infer Q extends NonNullable<HubRow['query']> } ? Q : null;
    readonly body: S extends { readonly body: infer B extends NonNullable<HubRow['body']> } ? B : null;
  };
}

/** The hub's table: authorization, validation, limits, audit and OpenAPI come from it. */
export const hubRows = [
  row('ca.get', 'GET /v1/ca', 'public -', null, 'the certificate of the CA, to be compared with a code', {
    mediaType: 'application/x-pem-file',
  }),
  row('health.get', 'GET /v1/health', 'public -', healthAnswer, 'whether it works', {}),
  row('ready.get', 'GET /readyz', 'public -', readyAnswer, 'whether a balancer should send anybody here', {
    fails: ['E_DRAINING', 'E_UPSTREAM_DOWN'],
  }),
  row('openapi.get', 'GET /v1/openapi.json', 'public -', { type: 'object' }, 'this document', {}),
  row('enroll.post', 'POST /v1/enroll', 'public -', enrolled, 'a node joins; the code is the credential', {
    body: enrollRequest,
    rate: 'costly',
    fails: ['E_CODE'],
  }),
  row(
    'renew.post',
    'POST /v1/renew',
    'public -',
    enrolled,
    "a node's new certificate, asked for by its key",
    {
      body: renewRequest,
      rate: 'costly',
      status: 200,
      fails: ['E_UNAUTHENTICATED', 'E_CLOCK'],
    },
  ),
  row(
    'turn.post',
    'POST /v1/turn',
    'public -',
    turnGrant,
    'TURN credentials for a node, asked for by its key',
    {
      body: renewRequest,
      rate: 'costly',
      status: 200,
      fails: ['E_UNAUTHENTICATED', 'E_CLOCK'],
    },
  ),
  row(
    'session.get',
    'GET /api/mcp/session',
    'machine -',
    callerSession,
    'what a connector calls nodes with',
    {
      rate: 'costly',
      audited: true,
    },
  ),
  row('me.get', 'GET /v1/me', 'credential -', meAnswer, 'whose credential this is', {}),
  row(
    'me.token.post',
    'POST /v1/me/token',
    'operator read',
    personToken,
    'what a person calls nodes with from the page: a token for the key in their browser',
    { body: personTokenRequest, rate: 'costly', status: 200 },
  ),
  row('fleet.get', 'GET /v1/fleet', 'credential read', fleetAnswer, 'the fleet in figures', {}),
  row('nodes.get', 'GET /v1/nodes', 'credential read', nodeList, 'the nodes, by id', { query: nodesQuery }),
  row(
    'nodes.stream.get',
    'GET /v1/nodes/stream',
    'credential read',
    null,
    'server-sent events: `node` with an entry, first all of them, then what changes; `ready` {total} after the first; `removed` {id}',
    { mediaType: 'text/event-stream' },
  ),
  row(
    'live.get',
    'GET /v1/live',
    'credential read',
    null,
    'server-sent events while somebody looks: `telemetry` {id, telemetry, telemetry_at} and `picture` {id, at, jpeg}; ends after 5 min',
    { query: liveQuery, mediaType: 'text/event-stream', fails: ['E_NOT_FOUND'] },
  ),
  row(
    'nodes.id.calls.post',
    'POST /v1/nodes/{id}/calls',
    'operator read',
    carriedReply,
    'carries a signed call to a node, and its signed reply back; `sent` in a refusal says whether the node may have got it',
    {
      body: carryRequest,
      status: 200,
      // Recorded as far as the audit can be written: a full disk here must not hold up a stop; the node records it itself.
      audited: false,
      fails: ['E_UPSTREAM_DOWN', 'E_TIMEOUT', 'E_BUSY'],
    },
  ),
  row('nodes.id.get', 'GET /v1/nodes/{id}', 'credential read', nodeEntry, 'one node, with its telemetry', {}),
  row(
    'nodes.id.delete',
    'DELETE /v1/nodes/{id}',
    'operator admin',
    ended,
    'ends an enrolment: its certificate and its key count no longer',
    {},
  ),
  row(
    'nodes.id.alarm.delete',
    'DELETE /v1/nodes/{id}/alarm',
    'operator admin',
    nodeEntry,
    'a person has looked at it',
    {},
  ),
  row('events.get', 'GET /v1/events', 'credential read', eventList, 'events of nodes, oldest first', {
    query: eventsQuery,
  }),
  row('flights.get', 'GET /v1/flights', 'credential read', flightList, 'flights of nodes, newest first', {
    query: flightsQuery,
  }),
  row(
    'flights.id.get',
    'GET /v1/flights/{id}',
    'credential read',
    flightAnswer,
    'one flight, with modes, findings and track',
    {},
  ),
  row(
    'flights.csv.get',
    'GET /v1/flights.csv',
    'credential read',
    null,
    'flights as a table, at most 100 000',
    { query: flightsCsvQuery, mediaType: 'text/csv', rate: 'costly' },
  ),
  row(
    'airframes.get',
    'GET /v1/airframes',
    'credential read',
    airframeList,
    'what has flown, how long, and what maintenance is due',
    { query: airframesQuery },
  ),
  row(
    'airframes.id.maintenance.post',
    'POST /v1/airframes/{id}/maintenance',
    'operator admin',
    airframe,
    'notes that maintenance was done',
    { body: maintenanceRequest },
  ),
  row('codes.post', 'POST /v1/codes', 'operator admin', codeAnswer, 'a code with which one node enrols', {}),
  row(
    'credentials.post',
    'POST /v1/credentials',
    'operator admin',
    credentialMade,
    'a machine credential, never wider than the operator; shown once',
    { body: credentialRequest, fails: ['E_SCOPE'] },
  ),
  row(
    'credentials.get',
    'GET /v1/credentials',
    'operator admin',
    credentialList,
    'machine credentials, without the secrets',
    {},
  ),
  row(
    'credentials.id.delete',
    'DELETE /v1/credentials/{id}',
    'operator admin',
    ended,
    'ends it, here, at the broker and on the nodes',
    {},
  ),
  row(
    'operators.post',
    'POST /v1/operators',
    'operator admin',
    credentialMade,
    'an operator, never wider than the one who adds them; the credential is shown once',
    { body: operatorRequest, fails: ['E_SCOPE'] },
  ),
  row('operators.get', 'GET /v1/operators', 'operator admin', operatorList, 'the operators', {}),
  row(
    'operators.id.delete',
    'DELETE /v1/operators/{id}',
    'operator admin',
    ended,
    'removes an operator, and ends the credentials that they made',
    { fails: ['E_INVALID_VALUE'] },
  ),
  row('audit.get', 'GET /v1/audit', 'operator admin', auditAnswer, 'who did what', {
    query: auditQuery,
    wholeFleet: true,
  }),
  row(
    'audit.verify.get',
    'GET /v1/audit/verify',
    'operator admin',
    auditVerdict,
    'whether the chains of the audit are whole',
    { wholeFleet: true },
  ),
] as const;
