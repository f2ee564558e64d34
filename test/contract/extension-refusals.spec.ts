import { expect } from 'chai';
import { ERRORS, type ErrorCode, isErrorCode } from '../../shared/errors.ts';
import { failureBody, failureOf } from '../../shared/http/answer.ts';
import { PluginRefusal, REFUSALS, type RefusalKind } from '../../shared/plugins/refusal.ts';
import { openApiDocument } from '../../shared/routes/openapi.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { KEY } from '../support/edge.ts';
import { type LoneFront, startFront } from '../support/front.ts';
import { rawHttp } from '../support/raw-http.ts';
import { targetOf } from '../support/send-row.ts';

const PLUGINS: readonly Row[] = ROWS.filter(({ feature }) => feature === 'plugins');
const LIFECYCLE = PLUGINS.filter(({ refusals }) => refusals === 'lifecycle');
const key = { 'x-svc-key': KEY };

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Kind {
  readonly what: string;
  readonly code: ErrorCode;
  readonly of: (row: Row) => boolean;
  readonly sent: (row: Row) => Sent;
}

const json = { ...key, 'content-type': 'application/json' };
const isJson = ({ bodyKind }: Row): boolean => bodyKind === 'json';
const all = (): boolean => true;
/** Past the armed guard, which comes before the schema. */
const forced = (row: Row): string => `${targetOf(row)}${isJson(row) ? '' : '?force=1&zz=1'}`;

/** Everything that the edge, the body reader and the proxy refuse. The front alone does not know whether the vehicle is armed. */
const KINDS: readonly Kind[] = [
  { what: 'no credential', code: 'E_UNAUTHENTICATED', of: all, sent: () => ({ headers: {} }) },
  {
    what: 'a token without the scope',
    code: 'E_SCOPE',
    of: ({ relay }) => relay === 'ok' || relay === 'forbid',
    sent: () => ({ headers: { 'x-svc-mcp-token': token } }),
  },
  {
    what: 'a relay',
    code: 'E_RELAY_FORBIDDEN',
    of: ({ relay }) => relay === 'forbid',
    sent: () => ({ headers: { ...key, 'x-svc-relayed': 'x' } }),
  },
  {
    what: 'a foreign page',
    code: 'E_ORIGIN',
    of: all,
    sent: () => ({
      headers: { origin: 'http://a.example', 'access-control-request-method': 'GET' },
      method: 'OPTIONS',
    }),
  },
  {
    what: 'the armed guard',
    code: 'E_ARMED',
    of: ({ armed }) => armed === 'guard',
    sent: (row) => (isJson(row) ? { headers: json, body: '{}' } : {}),
  },
  {
    what: 'what the schema does not know',
    code: 'E_INVALID_VALUE',
    of: (row) => isJson(row) || row.query !== null,
    sent: (row) => ({
      target: forced(row),
      ...(isJson(row) && { headers: json, body: '{"force": true, "zz": 1}' }),
    }),
  },
  { what: 'no JSON', code: 'E_BAD_REQUEST', of: isJson, sent: () => ({ headers: json, body: '{' }) },
  {
    what: 'another type of body',
    code: 'E_MEDIA_TYPE',
    of: isJson,
    sent: () => ({ headers: { ...key, 'content-type': 'text/plain' }, body: '{}' }),
  },
  {
    what: 'too large a body',
    code: 'E_TOO_LARGE',
    of: ({ bodyKind }) => bodyKind !== 'none',
    sent: (row) => ({ headers: { ...json, 'content-length': String(row.limits.bodyBytes + 1) } }),
  },
  {
    what: 'a body that the route does not take',
    code: 'E_BAD_REQUEST',
    of: ({ bodyKind, method }) => bodyKind === 'none' && method !== 'GET',
    sent: () => ({ headers: json, body: '{}' }),
  },
  {
    what: 'another method',
    code: 'E_METHOD',
    of: all,
    sent: ({ path }) => ({ method: path.endsWith('/x') ? 'GET' : 'PATCH' }),
  },
  {
    what: 'a parameter of another form',
    code: 'E_BAD_PATH',
    of: ({ params }) => Object.keys(params).length > 0,
    sent: (row) => ({ target: targetOf(row).replace('x1', '-x1') }),
  },
  {
    what: 'two hosts',
    code: 'E_BAD_REQUEST',
    of: all,
    sent: () => ({ headers: { ...key, Host: 'other.example' } }),
  },
  {
    what: 'an upgrade',
    code: 'E_METHOD',
    of: ({ method }) => method === 'GET',
    sent: () => ({
      headers: {
        ...key,
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    }),
  },
  {
    what: 'a residual that is down',
    code: 'E_UPSTREAM_DOWN',
    of: ({ bodyKind }) => bodyKind === 'none',
    sent: (row) => ({ target: `${targetOf(row)}${row.armed === '-' ? '' : '?force=1'}` }),
  },
];

let token = '';

describe('a refusal on a route of the lifecycle of extensions', () => {
  let front: LoneFront;
  let without: LoneFront;
  before(async () => {
    front = await startFront('mcp:\n  token_accept_enabled: true\n');
    without = await startFront('features:\n  plugins: false\n');
    const minted = await fetch(`${front.url}/api/mcp/tokens`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ scopes: ['safe_write'] }),
    });
    ({ token } = (await minted.json()) as { token: string });
  });
  after(async () => Promise.all([front.stop(), without.stop()]));

  async function ask({ port }: LoneFront, row: Row, sent: Sent) {
    const { method = row.method, target = targetOf(row), headers = key, body = '' } = sent;
    const lines = Object.entries({
      host: `127.0.0.1:${port}`,
      ...(body === '' ? {} : { 'content-length': String(body.length) }),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}`);
    const { text } = await rawHttp(
      port,
      `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`,
    );
    const [top = '', answer = ''] = text.split('\r\n\r\n');
    return { status: Number(top.split(' ')[1]), body: JSON.parse(answer) as Record<string, unknown> };
  }

  function expectEnvelope(
    { status, body }: Awaited<ReturnType<typeof ask>>,
    code: ErrorCode,
    at: string,
  ): void {
    expect([status, body['error']], `${at}: ${JSON.stringify(body)}`).to.deep.equal([ERRORS[code][0], code]);
    expect(body['ok'], at).to.equal(false);
    expect(body['code'], at).to.be.a('number');
    expect(Number.isInteger(body['code']), at).to.equal(true);
    expect(body['kind'], at)
      .to.be.a('string')
      .and.match(/^[a-z0-9_]+$/);
    expect(body['detail'], at).to.be.a('string').and.not.equal('');
  }

  it('there are such rows, and rows of extensions that are none', () => {
    expect(LIFECYCLE).to.have.length.above(12);
    expect(PLUGINS.filter(({ refusals }) => refusals === 'plain').map(({ id }) => id)).to.include.members([
      'plugins.id.state.get',
      'plugins.id.tools.tool.invoke.post',
      'plugins.id.x.path.get',
    ]);
  });

  for (const { what, code, of, sent } of KINDS) {
    it(`has the envelope: ${what} (${code})`, async () => {
      const rows = LIFECYCLE.filter(of);
      expect(rows.length).to.be.above(0);
      for (const row of rows)
        expectEnvelope(await ask(front, row, sent(row)), code, `${row.method} ${row.path}`);
    });
  }

  it('has the envelope: the feature is off (E_NOT_IMPLEMENTED)', async () => {
    for (const row of LIFECYCLE) {
      const answer = await ask(without, row, {});
      expectEnvelope(answer, 'E_NOT_IMPLEMENTED', row.path);
      expect(answer.body).to.include({ feature: 'plugins', profile: 'drone' });
    }
  });

  it('keeps the extras beside', async () => {
    const enable = LIFECYCLE.find(({ id }) => id === 'plugins.id.enable.post');
    if (enable === undefined) throw new Error('no such row');
    const { body } = await ask(front, enable, { headers: json, body: '{}' });
    expect(body).to.include({ ok: false, code: 19, kind: 'armed', error: 'E_ARMED', armed: 'unknown' });
    expect(body['override']).to.deep.equal({ body: { force: true }, query: 'force=1' });
  });

  it('OpenAPI says of each route which of the two shapes it has', () => {
    const { paths } = openApiDocument(ROWS, '1') as {
      paths: Record<string, Record<string, { responses: Record<string, { content: object }> }>>;
    };
    for (const { path, method, refusals } of ROWS as readonly Row[]) {
      const verb = method === 'WS' || method === 'ANY' ? 'get' : method.toLowerCase();
      const refused = paths[path.replaceAll('{*', '{')]?.[verb]?.responses['429'];
      const name = refusals === 'lifecycle' ? 'LifecycleRefusal' : 'Refusal';
      expect(refused?.content, `${method} ${path}`).to.deep.equal({
        'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
      });
    }
  });

  it('every other route has {detail, code} for the same', async () => {
    const plain = (ROWS as readonly Row[]).filter(
      ({ refusals, access, method, onBox }) =>
        refusals === 'plain' && access === 'key' && method === 'GET' && !onBox,
    );
    for (const row of plain) {
      const { status, body } = await ask(front, row, { headers: {} });
      expect([status, Object.keys(body).toSorted()], row.path).to.deep.equal([401, ['code', 'detail']]);
      expect(isErrorCode(body['code']), row.path).to.equal(true);
    }
    const state = PLUGINS.find(({ id }) => id === 'plugins.id.state.get');
    if (state === undefined) throw new Error('no such row');
    expect((await ask(front, state, {})).body).to.include({ code: 'E_UPSTREAM_DOWN' });
  });

  it("an extension's own refusal says its kind, its number, and a word of the catalogue with the same status", () => {
    for (const [kind, [number, word]] of Object.entries(REFUSALS)) {
      const refusal = new PluginRefusal(kind as RefusalKind, 'Because.', { at: 'x' });
      expect(failureBody(failureOf(refusal, 'lifecycle'))).to.deep.equal({
        at: 'x',
        ok: false,
        code: number,
        kind,
        detail: 'Because.',
        error: word,
      });
      expect(failureBody(failureOf(refusal, 'plain'))).to.deep.equal({
        at: 'x',
        kind,
        detail: 'Because.',
        code: word,
      });
    }
  });
});
