import { ERRORS, type ErrorCode } from '../errors.ts';
import { REFUSALS } from '../plugins/refusal.ts';
import { refusal } from '../schemas/plugins.ts';
import { bodySchema } from './body-schema.ts';
import type { Refusals, ResponseSpec, Row, RowMethod } from './row.ts';

/** OpenAPI 3.1, generated from the rows and their schemas (docs/contract.md 12). */

type Json = Readonly<Record<string, unknown>>;

const VERBS: Readonly<Record<RowMethod, readonly string[]>> = {
  GET: ['get'],
  WS: ['get'],
  POST: ['post'],
  PUT: ['put'],
  PATCH: ['patch'],
  DELETE: ['delete'],
  ANY: ['get', 'post', 'put', 'patch', 'delete'],
};

/** What a refusal looks like, by the row's shape. */
const REFUSAL_REF: Readonly<Record<Refusals, Json>> = {
  plain: { $ref: '#/components/schemas/Refusal' },
  lifecycle: { $ref: '#/components/schemas/LifecycleRefusal' },
};
const CODE = { type: 'string', enum: Object.keys(ERRORS) };

export function openApiDocument(rows: readonly Row[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const row of rows) {
    const path = row.path.replaceAll('{*', '{'); // OpenAPI has no rest parameters
    const item = (paths[path] ??= {});
    for (const verb of VERBS[row.method]) {
      const own = operation(row, VERBS[row.method].length > 1 ? `${row.id}.${verb}` : row.id);
      const other = item[verb];
      item[verb] = other === undefined ? own : merge(other, own);
    }
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: 'svc node API', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-SVC-Key' },
        session: { type: 'apiKey', in: 'header', name: 'x-svc-dashboard-session' },
        token: { type: 'apiKey', in: 'header', name: 'x-svc-mcp-token' },
        readTicket: {
          type: 'apiKey',
          in: 'query',
          name: 'ticket',
          description:
            'from POST /api/_ws/ticket {scope: "get", path}, for that path. Where x-svc.read_ticket is `segment` it is not in the query but the first segment of the rest of the path: ~<ticket>',
        },
      },
      schemas: {
        Refusal: {
          type: 'object',
          required: ['detail', 'code'],
          properties: { detail: { type: 'string' }, code: CODE },
        },
        LifecycleRefusal: { ...refusal, properties: { ...refusal.properties, error: CODE } },
      },
    },
  };
}

/** A GET and a WebSocket row on one path are one operation with two classifications. */
function merge(a: Json, b: Json): Json {
  const [http, socket] = isSocket(a) ? [b, a] : [a, b];
  return { ...http, 'x-svc': [http['x-svc'], socket['x-svc']] };
}

function isSocket(op: Json): boolean {
  const x = op['x-svc'];
  return typeof x === 'object' && x !== null && 'websocket' in x;
}

function operation(row: Row, operationId: string): Json {
  const { lane, feature, access, scope, relay, armed } = row;
  const websocket = row.method === 'WS' ? { websocket: true, ticket: row.ticket } : {};
  return {
    operationId,
    summary: row.summary,
    tags: [feature],
    ...(Object.keys(row.params).length === 0 && row.query === null ? {} : { parameters: parameters(row) }),
    ...requestBody(row),
    security: security(row),
    responses: { ...successes(row), ...failures(row) },
    'x-svc': {
      lane,
      feature,
      access,
      scope,
      relay,
      armed,
      ...websocket,
      ...(row.readTicket === null ? {} : { read_ticket: row.readTicket }),
      blast: row.blast,
      built: row.built,
      names: row.names,
    },
  };
}

function requestBody(row: Row): Json {
  if (row.bodyMedia !== null && row.bodyKind !== 'json')
    return { requestBody: { required: true, content: { [row.bodyMedia]: { schema: { type: 'string' } } } } };
  const schema = bodySchema(row);
  if (schema === null) return {};
  return {
    requestBody: {
      required: 'required' in schema || 'minProperties' in schema || 'oneOf' in schema,
      content: {
        'application/json': { schema },
        ...(row.bodyMedia === null ? {} : { [row.bodyMedia]: { schema: { type: 'string' } } }),
      },
    },
  };
}

function parameters(row: Row): readonly Json[] {
  const inPath = Object.entries(row.params).map(([name, { pattern, description }]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', pattern: `^(?:${pattern})$` },
  }));
  const inQuery = Object.entries(row.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: row.query?.required?.includes(name) ?? false,
    schema,
  }));
  return [...inPath, ...inQuery];
}

function security(row: Row): readonly Json[] {
  if (row.access === 'public') return [];
  // A process of a trusted user on the node itself needs none.
  const onBox: readonly Json[] = row.onBox ? [{}] : [];
  if (row.access === 'keyonly') return [{ key: [] }, ...onBox];
  const token: readonly Json[] = row.scope === 'none' ? [] : [{ token: [row.scope] }];
  const ticket: readonly Json[] = row.readTicket === 'query' ? [{ readTicket: [] }] : [];
  return [{ key: [] }, { session: [] }, ...token, ...ticket, ...onBox];
}

function successes(row: Row): Json {
  if (row.method === 'WS') return { 101: { description: 'the WebSocket is open' } };
  return Object.fromEntries(
    Object.entries(row.responses).map(([status, spec]) => [status, response(spec, row.long)]),
  );
}

function response({ description, mediaType, schema }: ResponseSpec, long: boolean): Json {
  const content = schema === null ? {} : { schema };
  const plain = Object.fromEntries(mediaType.split(',').map((type) => [type, content]));
  return { description, content: long ? { ...plain, 'text/event-stream': {} } : plain };
}

function failures(row: Row): Json {
  const codes: ErrorCode[] = ['E_BAD_PATH', 'E_NOT_IMPLEMENTED', 'E_RATE_LIMITED', ...row.fails];
  if (row.access !== 'public') codes.push('E_UNAUTHENTICATED', 'E_SCOPE');
  if (row.nearOnly) codes.push('E_REMOTE');
  if (Object.keys(row.params).length > 0) codes.push('E_NOT_FOUND');
  if (row.method === 'WS') codes.push('E_UPGRADE');
  if (row.bodyKind !== 'none') codes.push('E_TOO_LARGE', 'E_MEDIA_TYPE');
  if (row.bodyKind === 'json' || row.query !== null) codes.push('E_INVALID_VALUE');
  if (row.armed !== '-') codes.push('E_ARMED');
  if (row.lane === 'residual') codes.push('E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT');
  if (row.refusals === 'lifecycle') codes.push(...Object.values(REFUSALS).map(([, word]) => word));
  return Object.fromEntries(
    codes.map((code) => {
      const [status, description] = ERRORS[code];
      // A row may have a refusal of its own with the same status.
      const own = row.responses[status]?.schema ?? null;
      const shape = REFUSAL_REF[row.refusals];
      const schema = own === null ? shape : { anyOf: [shape, own] };
      return [status, { description, content: { 'application/json': { schema } } }];
    }),
  );
}
