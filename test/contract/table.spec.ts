import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { configSchema } from '../../shared/config/schema.ts';
import { bodySchema } from '../../shared/routes/body-schema.ts';
import { openApiDocument } from '../../shared/routes/openapi.ts';
import type { Row } from '../../shared/routes/row.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { createAjv } from '../../shared/schemas/validator.ts';
import { ROUTES_FILE, routesDocument } from '../support/routes-file.ts';

const rows = ROWS as readonly Row[];
const CONTRACT = readFileSync(join(import.meta.dirname, 'routes.tsv'), 'utf8');

interface Classified {
  readonly lane: string;
  readonly feature: string;
  readonly access: string;
  readonly scope: string;
  readonly relay: string;
  readonly armed: string;
  readonly websocket?: boolean;
}
interface OpenApi {
  readonly paths: Record<string, Record<string, { 'x-svc'?: Classified | Classified[] }>>;
}

/** Method, path, lane, feature, profiles, access, scope, relay, armed of each row. */
function contractRows(): string[][] {
  return CONTRACT.split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .slice(1)
    .map((line) => line.split('\t').slice(0, 9));
}

/** Properties of a schema that are a point in time, as a number, and do not say since when and in what. */
function timesWithoutUnit(node: unknown): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, child]: [string, unknown]) => {
    const { type, description } = (child ?? {}) as { type?: unknown; description?: unknown };
    const isNumber = [type].flat().some((each) => each === 'number' || each === 'integer');
    const silent = isNumber && /(?:_at|_ts|_us)$/.test(name) && !/1970/.test(String(description));
    return [...(silent ? [name] : []), ...timesWithoutUnit(child)];
  });
}

describe('the route table', () => {
  it('agrees with the contract (routes.tsv), row by row', () => {
    const have = rows.map((r) =>
      [r.method, r.path, r.lane, r.feature, r.profiles, r.access, r.scope, r.relay, r.armed].join(' '),
    );
    expect([...have].sort()).to.deep.equal(
      contractRows()
        .map((columns) => columns.join(' '))
        .sort(),
    );
  });

  it('is what docs/routes.md shows; if not, run npm run docs', () => {
    expect(readFileSync(ROUTES_FILE, 'utf8')).to.equal(routesDocument());
  });

  it('says the same in its OpenAPI document', () => {
    const { paths } = JSON.parse(JSON.stringify(openApiDocument(ROWS, '0'))) as OpenApi;
    const told = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) =>
        [operation['x-svc'] ?? []].flat().map(({ lane, feature, access, scope, relay, armed, websocket }) => {
          const verb = websocket === true ? 'WS' : method.toUpperCase();
          return [verb, path, lane, feature, access, scope, relay, armed].join(' ');
        }),
      ),
    );
    const wanted = contractRows().flatMap(([method = '', path = '', lane, feature, , ...policy]) =>
      (method === 'ANY' ? ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] : [method]).map((verb) =>
        [verb, path.replace('{*', '{'), lane, feature, ...policy].join(' '),
      ),
    );
    expect(told.sort()).to.deep.equal(wanted.sort());
  });

  it('has schemas that compile in strict mode, for bodies, queries and answers', () => {
    const ajv = createAjv({ checkSchemas: true });
    ajv.compile(configSchema);
    for (const row of rows) {
      const body = bodySchema(row);
      if (body !== null) ajv.compile(body as object);
      if (row.query !== null) ajv.compile(row.query as object);
      for (const { schema } of Object.values(row.responses))
        if (schema !== null) ajv.compile(schema as object);
    }
  });

  it('describes the body and the answer of every row that is built', () => {
    for (const row of rows.filter(({ built }) => built)) {
      if (row.bodyKind === 'json' && row.armed === '-') expect(row.body, row.id).to.not.equal(null);
      expect(Object.values(row.responses)[0]?.description, row.id).to.not.equal('not in this build');
    }
  });

  it('names what a guarded row does so that a person understands it alone, as the `action` of E_ARMED', () => {
    const short = rows
      .filter(({ armed, path }) => armed !== '-' && !path.includes('{path}'))
      .filter(({ summary }) => !/^[a-z]+ .*[a-z]+/.test(summary) || summary.split(' ').length < 3)
      .map(({ id, summary }) => `${id}: ${summary}`);
    expect(short).to.deep.equal([]);
  });

  it('says in which unit each number that is a time counts', () => {
    const silent = rows.flatMap(({ id, body, query, responses }) =>
      timesWithoutUnit({ body, query, responses }).map((name) => `${id} ${name}`),
    );
    expect(silent).to.deep.equal([]);
  });

  describe('refuses to compile', () => {
    const status = rows.find(({ id }) => id === 'status.get') as Row;
    const unpair = rows.find(({ id }) => id === 'pairing.unpair.post') as Row;
    const param = rows.find(({ id }) => id === 'params.name.get') as Row;
    const broken: readonly [string, readonly Row[], RegExp][] = [
      ['a duplicate id', [status, { ...status, path: '/x' }], /two rows have the id/],
      ['a duplicate method and path', [status, { ...status, id: 'x' }], /two rows for GET/],
      ['a public write that is not in the short list', [{ ...unpair, access: 'public' }], /a public write/],
      ['a read that needs a write class (C2)', [{ ...status, scope: 'admin' }], /cannot need admin/],
      ['a parameter without a pattern', [{ ...param, params: {} }], /no pattern/],
      [
        'two templates of one shape',
        [
          param,
          {
            ...param,
            id: 'x',
            path: '/api/params/{other}',
            params: { other: { pattern: 'x', description: '', example: 'x' } },
          },
        ],
        /match the same paths/,
      ],
      ['a socket without a ticket scope', [{ ...status, method: 'WS', access: 'ws' }], /no ticket scope/],
      ['raw bytes for the front', [{ ...unpair, bodyKind: 'raw' }], /a raw body in the front/],
      [
        'a body with no room',
        [{ ...unpair, limits: { bodyBytes: 0, bodyMs: 1000, timeoutMs: 1 } }],
        /limit of 0 bytes/,
      ],
    ];
    for (const [name, list, why] of broken) it(name, () => expect(() => compileTable(list)).to.throw(why));
  });
});

describe('OpenAPI', () => {
  const document = openApiDocument(ROWS, '1.2.3') as {
    paths: Record<string, Record<string, { 'x-svc': unknown; operationId: string }>>;
  };
  it('has one operation id each', () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).to.equal(ids.length);
  });
  it('lists both classifications where a GET and a WebSocket share a path', () => {
    const x = document.paths['/api/plugins/{id}/x/{path}']?.['get']?.['x-svc'];
    expect(x).to.be.an('array').with.length(2);
    expect((x as { websocket?: boolean }[])[1]?.websocket).to.equal(true);
  });
});
