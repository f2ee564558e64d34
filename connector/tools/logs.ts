import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../shared/member.ts';
import { METRICS } from '../../shared/metrics.ts';
import { aggregateQuery } from '../../shared/schemas/logs.ts';
import type { StoredEvent } from '../audit/audit.ts';
import { Denial } from '../denial.ts';
import { maskArguments, withoutCodes } from '../mask-arguments.ts';
import type { Principal } from '../principal.ts';
import { asRecord } from '../rows.ts';
import { cursor as more, reading, saidIn } from './parts.ts';
import { canonicalName, type Tool } from './tool.ts';

/** The node's log, and the connector's own audit. */

const level = {
  type: 'string',
  enum: ['trace', 'debug', 'info', 'warn', 'error'],
  description: 'this and above',
} as const;
const limit = (usual: number) => ({ type: 'integer', minimum: 1, maximum: 1000, default: usual }) as const;
const decision = { type: 'string', enum: ['allowed', 'denied', 'confirmed', 'operator_absent'] } as const;
const { bucket, agg } = aggregateQuery.properties;
const since = { type: 'string', maxLength: 40, description: '-5m, -1d, or ISO 8601' } as const;
const EVENTS = {
  type: 'object',
  required: ['count', 'events'],
  properties: { count: { type: 'integer' }, events: { type: 'array', items: { type: 'object' } } },
} as const;
/** Each entry costs the client's model a line. */
const FEW = 20;
const SEARCHED = 1000;
const TAIL_POLL_MS = 500;

export const logTools: readonly Tool[] = [
  reading(
    {
      name: 'logs_query',
      title: 'Log',
      description: "The node's log, newest first.",
    },
    'observability.query.get',
    {
      input: {
        properties: {
          level,
          limit: limit(FEW),
          since,
          service: { type: 'string', maxLength: 128 },
          text: { type: 'string', maxLength: 256 },
          cursor: { type: 'string', maxLength: 128 },
        },
      },
      output: {
        type: 'object',
        required: ['entries', 'next_cursor'],
        properties: {
          entries: { type: 'array', items: { type: 'object' } },
          next_cursor: { type: ['string', 'null'] },
        },
      },
      run: async ({ ask, args }) => {
        const { level: least, limit: most = FEW, since: from, service, text, cursor } = args;
        const query = saidIn({
          kind: 'logs',
          level: least,
          limit: most,
          since: from,
          service,
          text,
          cursor,
        });
        const { data = [], page } = await ask('observability.query.get', { query });
        return { value: { entries: data.map(entryOf), next_cursor: page?.next_cursor ?? null } };
      },
    },
  ),
  reading(
    {
      name: 'logs_aggregate',
      title: 'Metrics over time',
      description: 'Battery, link, CPU and other metrics in buckets.',
    },
    'observability.aggregate.get',
    {
      input: {
        properties: {
          metric: { type: 'string', enum: [...METRICS] },
          since,
          bucket: { type: 'string', enum: [...bucket.enum] },
          agg: { type: 'string', enum: [...agg.enum] },
          cursor: more,
        },
        required: ['metric'],
      },
      run: async ({ ask, args }) => {
        const { metric, since: from, bucket: width, agg: how } = args;
        const query = saidIn({ metric, since: from, bucket: width, agg: how });
        return { value: await ask('observability.aggregate.get', { query }) };
      },
    },
  ),
  {
    name: 'logs_tail',
    title: 'Follow the log',
    description: 'Waits, then returns the lines logged since the call; can be cancelled.',
    routes: ['logs.get'],
    input: { properties: { level, seconds: { type: 'integer', minimum: 1, maximum: 60, default: 10 } } },
    output: {
      type: 'object',
      required: ['entries'],
      properties: { entries: { type: 'array', items: { type: 'object' } } },
    },
    idempotent: true,
    run: async ({ ask, args, progress, signal }) => {
      const seconds = Number(args['seconds'] ?? 10);
      const began = new Date().toISOString();
      for (let waited = 0; waited < seconds * 1000; waited += TAIL_POLL_MS) {
        progress(waited / 1000, seconds, 'listening');
        await delay(TAIL_POLL_MS, undefined, { signal }).catch(() => {
          throw new Denial('cancelled');
        });
      }
      const query = saidIn({ level: args['level'], since: began, limit: 1000 });
      const { entries = [] } = await ask('logs.get', { query });
      return { value: { entries } };
    },
  },
  {
    name: 'audit_query',
    title: 'Audit',
    description: "This connector's calls, newest first; arguments and results only of yours.",
    routes: [],
    input: {
      properties: {
        tool: { type: 'string', maxLength: 128 },
        decision,
        since_ms: { type: 'integer', minimum: 0, description: 'Unix time, ms' },
        limit: limit(100),
        cursor: more,
      },
    },
    output: EVENTS,
    idempotent: true,
    fleetWide: true,
    run: async ({ audit, principal, args, plane }) => {
      const { tool, decision: wanted, since_ms: sinceMs, limit: most, node } = args;
      const at = node === undefined ? null : plane.resolve(node, principal).target.id;
      const named = typeof tool === 'string' ? canonicalName(tool) : null;
      const events = audit.read(
        Number(most ?? 100),
        (event) =>
          (named === null || canonicalName(event.tool) === named) &&
          (wanted === undefined || event.decision === wanted) &&
          (at === null || event.node === at) &&
          (sinceMs === undefined || Date.parse(event.time) >= Number(sinceMs)),
      );
      const shown = events.map(shownTo(principal)).map(recordOf);
      return Promise.resolve({ value: { count: shown.length, events: shown } });
    },
  },
  {
    name: 'audit_search',
    title: 'Search the audit',
    description: 'Words that must all occur; `field:value` with tool, node, operator, decision, result.',
    routes: [],
    input: {
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 256 },
        decision,
        limit: limit(200),
        cursor: more,
      },
      required: ['query'],
    },
    output: EVENTS,
    idempotent: true,
    fleetWide: true,
    run: async ({ audit, principal, args }) => {
      const { decision: wanted, query, limit: most } = args;
      const terms = String(query).toLowerCase().split(/\s+/).filter(Boolean);
      const newest = audit.read(SEARCHED, (event) => wanted === undefined || event.decision === wanted);
      const events = newest
        .map(shownTo(principal)) // what is not shown is not found either
        .filter((event) => terms.every((term) => matches(event, term)))
        .slice(0, Number(most ?? 200));
      return Promise.resolve({ value: { count: events.length, events: events.map(recordOf) } });
    },
  },
];

/** An event as it is answered: the names of the file are older than those of our answers. */
function recordOf({
  tokenId,
  operatorId,
  confirmedBy,
  latencyMs,
  mcpSession,
  ...event
}: StoredEvent): JsonObject {
  return {
    ...event,
    token_id: tokenId,
    operator_id: operatorId,
    confirmed_by: confirmedBy,
    latency_ms: latencyMs,
    mcp_session: mcpSession,
  };
}

/** A record of the log, without what is empty. */
function entryOf(record: JsonObject): JsonObject {
  const { ts_us: at, level: severity, source, msg, fields } = record;
  return {
    timestamp: new Date(Number(at) / 1000).toISOString(),
    level: severity,
    logger: source,
    message: msg,
    ...(fields === null || fields === undefined ? {} : { fields }),
  };
}

const NOT_SHOWN = '[of another caller]';

/** Arguments and answers only to whose call it was, and to whoever started the connector; a code to nobody, also one of an older record. */
function shownTo({ kind, id }: Principal): (event: StoredEvent) => StoredEvent {
  const isOwner = kind === 'stdio' || kind === 'socket';
  return (event) => {
    const { tokenId, args, result } = event;
    if (!isOwner && tokenId !== id) return { ...event, args: NOT_SHOWN, result: NOT_SHOWN };
    const shown = typeof args === 'object' && args !== null ? maskArguments(asRecord(args)) : args;
    return { ...event, args: shown, result: withoutCodes(result) };
  };
}

function matches(event: StoredEvent, term: string): boolean {
  const fields: Readonly<Record<string, string>> = {
    tool: canonicalName(event.tool),
    node: event.node,
    operator: event.operatorId,
    decision: event.decision,
    result: event.result,
  };
  const colon = term.indexOf(':');
  const field = colon > 0 && colon < term.length - 1 ? fields[term.slice(0, colon)] : undefined;
  if (field !== undefined) {
    const value = term.slice(colon + 1);
    return field.toLowerCase().includes(term.startsWith('tool:') ? canonicalName(value) : value);
  }
  return Object.values(fields).join(' ').toLowerCase().includes(term);
}
