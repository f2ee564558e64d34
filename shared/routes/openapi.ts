import { ERRORS, type ErrorCode } from '../errors.ts';
import { type JsonObject, keysOf } from '../member.ts';
import { REFUSALS } from '../plugins/refusal.ts';
import { FEATURES } from '../profile.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { refusal } from '../schemas/plugins.ts';
import { bodySchema } from './body-schema.ts';
import { exampleOf } from './example.ts';
import { Components } from './openapi-schema.ts';
import { bodyExample, descriptionOf, FEATURE_WORDS, parametersOf } from './openapi-words.ts';
import { querySchemaOf } from './query.ts';
import type { Refusals, ResponseSpec, Row, RowMethod } from './row.ts';
import { BYTES } from './row-parts.ts';

/** OpenAPI 3.1, generated from the rows and their schemas (docs/contract/openapi.md). */

const VERBS: Readonly<Record<RowMethod, readonly string[]>> = {
  GET: ['get'],
  WS: ['get'],
  POST: ['post'],
  PUT: ['put'],
  PATCH: ['patch'],
  DELETE: ['delete'],
  ANY: ['get', 'post', 'put', 'patch', 'delete'],
};

const CODE = { type: 'string', enum: keysOf(ERRORS) } as const;
/** What a refusal looks like, by the row's shape. */
const REFUSED: Readonly<Record<Refusals, JsonSchema>> = {
  plain: {
    title: 'Refusal',
    type: 'object',
    required: ['detail', 'code'],
    properties: {
      detail: { type: 'string', description: 'a sentence that says what to do' },
      code: { ...CODE, description: 'stable' },
    },
  },
  lifecycle: { ...refusal, properties: { ...refusal.properties, error: CODE } },
};

const DESCRIPTION = `The API of a node, a drone or a ground station. Made from the route table. \`x-svc\` has each route's policy:
its id, what a token needs (\`scope\`), whether the armed guard refuses it, whether it works through a relay.`;

/** @throws Error naming two schemas of one title */
export function openApiDocument(rows: readonly Row[], version: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  const components = new Components();
  for (const row of rows) {
    const path = row.path.replaceAll('{*', '{'); // OpenAPI has no rest parameters
    const item = (paths[path] ??= {});
    for (const verb of VERBS[row.method]) {
      const own = operation(row, operationId(row, verb), components);
      const other = item[verb];
      item[verb] = other === undefined ? own : merge(other, own);
    }
  }
  const features = new Set(rows.map(({ feature }) => feature));
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'svc node API',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: FEATURES.filter((name) => features.has(name)).map((name) => ({
      name,
      description: FEATURE_WORDS[name],
    })),
    paths,
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-SVC-Key', description: 'the pairing key' },
        session: {
          type: 'apiKey',
          in: 'header',
          name: 'x-svc-dashboard-session',
          description: 'from POST /api/dashboard/pin/verify',
        },
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'x-svc-mcp-token',
          description: 'from POST /api/mcp/tokens',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'the pairing key, or a token' },
        readTicket: {
          type: 'apiKey',
          in: 'query',
          name: 'ticket',
          description:
            'from POST /api/_ws/ticket {scope: "get", path}, for that path. Where x-svc.read_ticket is `segment` it is not in the query but the first segment of the rest of the path: ~<ticket>',
        },
      },
      schemas: components.schemas,
    },
  };
}

/** As a method of a client is called, the verb first: `params.name.get` is `getParamsName`. */
export function operationId({ id }: Pick<Row, 'id'>, verb: string): string {
  const words = id.split(/[.-]/);
  return [verb, ...words.slice(0, -1).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)].join(
    '',
  );
}

/** A GET and a WebSocket row on one path are one operation with two classifications. */
function merge(a: JsonObject, b: JsonObject): JsonObject {
  const [http, socket] = isSocket(a) ? [b, a] : [a, b];
  return { ...http, 'x-svc': [http['x-svc'], socket['x-svc']] };
}

function isSocket(op: JsonObject): boolean {
  const x = op['x-svc'];
  return typeof x === 'object' && x !== null && 'websocket' in x;
}

function operation(row: Row, id: string, components: Components): JsonObject {
  const { lane, feature, access, scope, relay, armed } = row;
  const websocket = row.method === 'WS' ? { websocket: true, ticket: row.ticket } : {};
  const parameters = parametersOf(row).map(({ schema, ...parameter }) => ({
    ...parameter,
    schema: components.of(schema),
  }));
  return {
    operationId: id,
    summary: row.summary,
    description: descriptionOf(row),
    tags: [feature],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBody(row, components),
    security: security(row),
    responses: { ...successes(row, components), ...failures(row, components) },
    'x-svc': {
      id: row.id,
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
      long: row.long,
      refusals: row.refusals,
      names: row.names,
    },
  };
}

function requestBody(row: Row, components: Components): JsonObject {
  const { bodyMedia, bodyKind, streamed } = row;
  const text = bodyMedia === null ? {} : { [bodyMedia]: { schema: { type: 'string' } } };
  const schema = bodySchema(row);
  if (schema !== null) {
    const required = 'required' in schema || 'minProperties' in schema || 'oneOf' in schema;
    const json = { schema: components.of(schema), example: bodyExample(row) };
    return { requestBody: { required, content: { 'application/json': json, ...text } } };
  }
  if (bodyKind === 'none') return {};
  const content = Object.entries(streamed ?? {}).map(([type, one]) => [type, { schema: components.of(one) }]);
  // What an extension or a drone reads is its own affair, also whether it needs a body.
  const required = !Object.values(row.params).some(({ raw }) => raw === true);
  return { requestBody: { required, content: { ...Object.fromEntries(content), ...text } } };
}

function security(row: Row): readonly JsonObject[] {
  if (row.access === 'public') return row.orKey ? [{}, { key: [] }] : [];
  // A process of a trusted user on the node itself needs none.
  const onBox: readonly JsonObject[] = row.onBox ? [{}] : [];
  if (row.access === 'keyonly') return [{ key: [] }, ...onBox];
  const token: readonly JsonObject[] = row.scope === 'none' ? [] : [{ token: [row.scope] }];
  const ticket: readonly JsonObject[] = row.readTicket === 'query' ? [{ readTicket: [] }] : [];
  const bearer: readonly JsonObject[] = row.bearer ? [{ bearer: [] }] : [];
  return [{ key: [] }, { session: [] }, ...token, ...bearer, ...ticket, ...onBox];
}

function successes(row: Row, components: Components): JsonObject {
  if (row.method === 'WS') return { 101: { description: 'the WebSocket is open' } };
  return Object.fromEntries(
    Object.entries(row.responses).map(([status, spec]) => [status, response(status, spec, components)]),
  );
}

function response(
  status: string,
  { description, mediaType, schema }: ResponseSpec,
  components: Components,
): JsonObject {
  if (status === '204') return { description };
  const content = mediaType.split(',').map((type) => [type, answerIn(type, schema, components)]);
  return { description, content: Object.fromEntries(content) };
}

function answerIn(type: string, schema: JsonSchema | null, components: Components): JsonObject {
  if (schema !== null && type === 'application/json')
    return { schema: components.of(schema), example: exampleOf(schema) };
  if (type === 'application/json') return { schema: { type: 'object' } };
  const text = type.startsWith('text/') || type === 'application/sdp' || type === 'application/x-ndjson';
  return { schema: text ? { type: 'string' } : BYTES };
}

function failures(row: Row, components: Components): JsonObject {
  const codes: ErrorCode[] = ['E_BAD_PATH', 'E_NOT_IMPLEMENTED', 'E_RATE_LIMITED', ...row.fails];
  if (row.access !== 'public') codes.push('E_UNAUTHENTICATED', 'E_SCOPE');
  if (row.nearOnly) codes.push('E_REMOTE');
  if (row.tlsOnly) codes.push('E_TLS_REQUIRED');
  if (Object.keys(row.params).length > 0) codes.push('E_NOT_FOUND');
  if (row.method === 'WS') codes.push('E_UPGRADE');
  if (row.bodyKind !== 'none') codes.push('E_TOO_LARGE', 'E_MEDIA_TYPE');
  if (querySchemaOf(row) !== null) codes.push('E_INVALID_VALUE');
  if (row.armed !== '-') codes.push('E_ARMED');
  if (row.lane === 'residual') codes.push('E_UPSTREAM', 'E_UPSTREAM_DOWN', 'E_TIMEOUT');
  if (row.refusals === 'lifecycle') codes.push(...Object.values(REFUSALS).map(([, word]) => word));
  return Object.fromEntries(
    codes.map((code) => {
      const [status, description] = ERRORS[code];
      // A row may have a refusal of its own with the same status.
      const own = row.responses[status]?.schema ?? null;
      const shape = components.of(REFUSED[row.refusals]);
      const schema = own === null ? shape : { anyOf: [shape, components.of(own)] };
      return [status, { description, content: { 'application/json': { schema } } }];
    }),
  );
}
