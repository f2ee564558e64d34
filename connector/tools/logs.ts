import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../shared/member.ts';
import { METRICS } from '../../shared/metrics.ts';
import { aggregateQuery } from '../../shared/schemas/logs.ts';
import type { StoredEvent } from '../audit/audit.ts';
import { Denial } from '../denial.ts';
import { maskArguments, withoutCodes } from '../mask-arguments.ts';
import type { Principal } from '../principal.ts';
import { asRecord } from '../rows.ts';
import { cursor as more, saidIn } from './parts.ts';
import { canonicalName, type Tool, type ToolContext } from './tool.ts';

/** The node's log, and the connector's own audit. */

const level = {
  type: 'string',
  enum: ['trace', 'debug', 'info', 'warn', 'error'],
  description: 'this and above',
} as const;
const decision = {
  type: 'string',
  enum: ['allowed', 'denied', 'confirmed', 'operator_absent'],
  description: 'how it ended',
} as const;
const { bucket, agg } = aggregateQuery.properties;
const since = { type: 'string', maxLength: 40, description: '-5m, -1d, or ISO 8601' } as const;
/** Each entry costs the client's model a line. */
const FEW = 20;
const EVENTS = 20;
const SEARCHED = 1000;
const POLL_MS = 500;

export const logTools: readonly Tool[] = [
  {
    name: 'logs_query',
    title: 'Log',
    description: "The node's log, newest first; not the vehicle's flight logs.",
    routes: ['observability.query.get'],
    input: {
      properties: {
        level,
        since,
        service: { type: 'string', maxLength: 128, description: 'one process, as svc-link' },
        text: { type: 'string', maxLength: 256, description: 'words in it' },
        wait_s: {
          type: 'integer',
          minimum: 1,
          maximum: 60,
          description: 's: only what is logged from now on',
        },
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: FEW, description: 'entries' },
        cursor: { type: 'string', maxLength: 128, description: 'next_cursor of the answer before' },
      },
    },
    idempotent: true,
    run: async (context) => {
      const { level: least, limit: most = FEW, service, text, cursor } = context.args;
      const from = await begin(context);
      const query = saidIn({ kind: 'logs', level: least, limit: most, since: from, service, text, cursor });
      const { data = [], page } = await context.ask('observability.query.get', { query });
      return { value: { entries: data.map(entryOf), next_cursor: page?.next_cursor ?? null } };
    },
  },
  {
    name: 'logs_aggregate',
    title: 'Metrics over time',
    description: 'Battery, link, CPU and other metrics as the node recorded them, in buckets of time.',
    routes: ['observability.aggregate.get'],
    input: {
      properties: {
        metric: { type: 'string', enum: [...METRICS], description: 'what was measured' },
        since,
        bucket: { type: 'string', enum: [...bucket.enum], description: 'width' },
        agg: { type: 'string', enum: [...agg.enum], description: 'of each bucket' },
        cursor: more,
      },
      required: ['metric'],
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const { metric, since: from, bucket: width, agg: how } = args;
      const query = saidIn({ metric, since: from, bucket: width, agg: how });
      const { buckets, data = [] } = await ask('observability.aggregate.get', { query });
      const values = (buckets ?? data).map(bucketOf);
      return { value: { metric, since: from ?? null, buckets: values } };
    },
  },
  {
    name: 'audit_query',
    title: 'Audit',
    description: "This connector's calls, newest first; arguments and results only of yours.",
    toolset: 'setup',
    routes: [],
    input: {
      properties: {
        query: {
          type: 'string',
          maxLength: 256,
          description: 'words that all occur, or field:word (tool, node, operator, decision, result)',
        },
        tool: { type: 'string', maxLength: 128, description: 'its name' },
        decision,
        since_ms: { type: 'integer', minimum: 0, description: 'Unix time, ms' },
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: EVENTS, description: 'calls' },
        cursor: more,
      },
    },
    idempotent: true,
    fleetWide: true,
    run: async ({ audit, principal, args, plane }) => {
      const { query, tool, decision: wanted, since_ms: sinceMs, limit: most, node } = args;
      const at = node === undefined ? null : plane.resolve(node, principal).target.id;
      const named = typeof tool === 'string' ? canonicalName(tool) : null;
      const terms = typeof query === 'string' ? query.toLowerCase().split(/\s+/).filter(Boolean) : [];
      const fits = (event: StoredEvent): boolean =>
        (named === null || canonicalName(event.tool) === named) &&
        (wanted === undefined || event.decision === wanted) &&
        (at === null || event.node === at) &&
        (sinceMs === undefined || Date.parse(event.time) >= Number(sinceMs));
      const events = audit
        .read(terms.length === 0 ? Number(most ?? EVENTS) : SEARCHED, fits)
        .map(shownTo(principal)) // what is not shown is not found either
        .filter((event) => terms.every((term) => matches(event, term)))
        .slice(0, Number(most ?? EVENTS))
        .map(recordOf);
      return Promise.resolve({ value: { count: events.length, events } });
    },
  },
];

/** From when on: of a call that waits, after its waiting. @throws Denial cancelled */
async function begin({ args, progress, signal }: ToolContext): Promise<unknown> {
  const { wait_s: waitS, since: given } = args;
  if (waitS === undefined) return given;
  const began = new Date().toISOString();
  const seconds = Number(waitS);
  for (let waited = 0; waited < seconds * 1000; waited += POLL_MS) {
    progress(waited / 1000, seconds, 'listening');
    await delay(POLL_MS, undefined, { signal }).catch(() => {
      throw new Denial('cancelled');
    });
  }
  return began;
}

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

/** Its time as people and models read it. */
function bucketOf(told: unknown): JsonObject {
  const { bucket_us: at, metric: _same, ...figures } = asRecord(told);
  return { at: typeof at === 'number' ? new Date(at / 1000).toISOString() : null, ...figures };
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
