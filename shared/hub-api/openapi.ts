import { ERRORS, type ErrorCode } from '../errors.ts';
import { CALLER_CSR_HEADER, CALLER_KEY_HEADER } from '../fleet/hub-api.ts';
import type { JsonObject } from '../member.ts';
import type { HubRow } from './row.ts';

const ERROR = { $ref: '#/components/schemas/Error' };
/** The form of every `{id}`. */
export const ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** OpenAPI 3.1 of the hub, from its table. */
export function hubOpenApi(rows: readonly HubRow[], version: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const row of rows) (paths[row.path] ??= {})[row.method.toLowerCase()] = operation(row);
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: 'svc-hub API', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        operator: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_op_…' },
        machine: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_mc_…' },
      },
      schemas: {
        Error: {
          type: 'object',
          required: ['detail', 'code'],
          properties: { detail: { type: 'string' }, code: { enum: Object.keys(ERRORS) } },
        },
      },
    },
  };
}

function operation(row: HubRow): JsonObject {
  const parameters = [...pathParameters(row), ...queryParameters(row), ...headerParameters(row)];
  const content = row.answer === null ? {} : { schema: row.answer };
  return {
    operationId: row.id,
    summary: row.summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(row.body === null
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: row.body } } } }),
    security: security(row),
    responses: {
      [row.status]: { description: row.summary, content: { [row.mediaType]: content } },
      ...failures(row),
    },
    'x-svc': { access: row.access, scope: row.scope, whole_fleet: row.wholeFleet },
  };
}

function pathParameters({ path }: HubRow): readonly JsonObject[] {
  return path.includes('{id}')
    ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: ID_PATTERN } }]
    : [];
}

function queryParameters({ query }: HubRow): readonly JsonObject[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false, // what the schema requires has a default
    schema,
  }));
}

function headerParameters({ access }: HubRow): readonly JsonObject[] {
  const header = (name: string, description: string): JsonObject => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
  });
  return access === 'machine'
    ? [
        header(CALLER_KEY_HEADER, "the caller's public key, JWK, base64url of its JSON"),
        header(CALLER_CSR_HEADER, 'PKCS #10 for the client certificate, DER, base64url'),
      ]
    : [];
}

function security({ access }: HubRow): readonly JsonObject[] {
  const both = [{ operator: [] }, { machine: [] }];
  switch (access) {
    case 'public':
      return [];
    case 'operator':
      return [{ operator: [] }];
    case 'machine':
      return [{ machine: [] }];
    case 'credential':
      return both;
  }
}

function failures(row: HubRow): JsonObject {
  const codes: ErrorCode[] = ['E_RATE_LIMITED', ...row.fails];
  if (row.access !== 'public') codes.push('E_UNAUTHENTICATED', 'E_SCOPE');
  if (row.path.includes('{id}')) codes.push('E_NOT_FOUND');
  if (row.body !== null) codes.push('E_BAD_REQUEST', 'E_TOO_LARGE', 'E_MEDIA_TYPE', 'E_INVALID_VALUE');
  if (row.query !== null || row.access === 'machine') codes.push('E_INVALID_VALUE');
  if (row.audited) codes.push('E_AUDIT');
  return Object.fromEntries(
    codes.map((code) => {
      const [status, description] = ERRORS[code];
      return [status, { description, content: { 'application/json': { schema: ERROR } } }];
    }),
  );
}
