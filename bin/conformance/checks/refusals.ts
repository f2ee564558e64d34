import { randomBytes } from 'node:crypto';
import type { Row } from '../../../shared/routes/row.ts';
import { must, mustBeSafe, mustRefuse } from '../answers.ts';
import type { Report } from '../report.ts';
import { ALL, isServed, isWrite, type NodeFacts, targetOf } from '../rows.ts';
import type { Ask, Target } from '../target.ts';

const EVIL = 'http://evil.example';
/** Takes the trust of this machine away, should the kit run on the node itself. */
const FROM_AFAR = ['forwarded', 'for=unknown'] as const;
/** The node locks a peer after ten wrong keys in a minute; there are two of these. */
const wrongKey = (): readonly [string, string] => [
  'x-svc-key',
  `svc_${randomBytes(24).toString('base64url')}`,
];

const ODD_TARGETS = [
  '//api/status',
  '/api//status',
  '/api/status/',
  '/api/../api/status',
  '/api/./status',
  '/api/%73tatus',
  '/api/status%2F',
  '/api\\status',
  '/api/status;x=1',
] as const;

/** What a request without a credential must be like, so that it harms nothing on a node that lets it in; null: there is none. */
function harmless(row: Row): Omit<Ask, 'target'> | null {
  if (!isWrite(row)) return {};
  if (row.bodyKind !== 'json' || row.blast === 'aircraft' || !needsMembers(row)) return null;
  return { method: row.method, body: '[]', headers: [['content-type', 'application/json']] };
}

/** Whether an empty body is none of this row's: then what does not read the body does not act on it either. */
export function needsMembers({ body }: Row): boolean {
  return (
    body !== null &&
    ((body.required?.length ?? 0) > 0 || (body.minProperties ?? 0) > 0 || body.oneOf !== undefined)
  );
}

/** Who is refused, and how. */
export async function checkRefusals(report: Report, target: Target, facts: NodeFacts): Promise<void> {
  await checkCredentials(report, target);
  await checkOrigins(report, target);
  await checkTargets(report, target, facts);
}

async function checkCredentials(report: Report, target: Target): Promise<void> {
  for (const row of ALL) {
    const how = harmless(row);
    if (row.access === 'public' || row.method === 'WS' || row.scope === 'inner' || how === null) continue;
    const headers = [...(how.headers ?? []), ...(row.onBox ? [FROM_AFAR] : [])];
    await report.check(`${row.method} ${row.path}: refused without a credential`, async () => {
      mustRefuse(
        await target.ask({ ...how, headers, target: targetOf(row), keyed: false }),
        'E_UNAUTHENTICATED',
      );
    });
  }
  const status = '/api/status';
  await report.check('a wrong key is refused as none is', async () => {
    const none = await target.ask({ target: status, keyed: false });
    const wrong = await target.ask({ target: status, keyed: false, headers: [wrongKey()] });
    mustRefuse(wrong, 'E_UNAUTHENTICATED');
    must(none.bytes.equals(wrong.bytes), 'The two answers differ.');
  });
  await report.check('a key that comes twice is none', async () => {
    const { 'x-svc-key': key = '' } = target.credential;
    const headers = [['x-svc-key', key] as const];
    mustRefuse(await target.ask({ target: status, headers }), 'E_UNAUTHENTICATED');
  });
  const forged = [
    ['x-svc-principal', 'local'],
    ['x-svc-mcp-scopes', 'read,admin,flight,destructive'],
    ['x-svc-onbox', '1'],
    ['x_svc_principal', 'local'],
  ] as const;
  for (const header of forged) {
    await report.check(`the header ${header[0]} makes nobody trusted`, async () => {
      mustRefuse(await target.ask({ target: status, keyed: false, headers: [header] }), 'E_UNAUTHENTICATED');
    });
  }
  await report.check('a key in the query is none', async () => {
    const key = encodeURIComponent(wrongKey()[1]);
    mustRefuse(await target.ask({ target: `${status}?key=${key}`, keyed: false }), 'E_UNAUTHENTICATED');
  });
  for (const row of ALL.filter(({ method, relay }) => method === 'GET' && relay === 'forbid')) {
    await report.check(`GET ${row.path}: refused through a relay`, async () => {
      const headers = [['x-svc-relayed', '1'] as const];
      mustRefuse(await target.ask({ target: targetOf(row), headers }), 'E_RELAY_FORBIDDEN');
    });
  }
}

async function checkOrigins(report: Report, target: Target): Promise<void> {
  const status = '/api/status';
  await report.check('a foreign web page may read nothing', async () => {
    const answer = await target.ask({ target: status, headers: [['origin', EVIL]] });
    must(answer.headers['access-control-allow-origin'] === undefined, 'It allows the origin to read it.');
  });
  await report.check('a foreign web page is refused its preflight', async () => {
    const headers = [
      ['origin', EVIL],
      ['access-control-request-method', 'POST'],
    ] as const;
    mustRefuse(await target.ask({ method: 'OPTIONS', target: status, headers, keyed: false }), 'E_ORIGIN');
  });
  await report.check('an allowed web page is named, and no other', async () => {
    const origin = 'http://localhost:4000';
    const { headers, status: code } = await target.ask({ target: status, headers: [['origin', origin]] });
    const allowed = headers['access-control-allow-origin'];
    must(allowed === undefined || allowed === origin, `It allows ${String(allowed)}.`);
    must(allowed === undefined || /\borigin\b/i.test(headers.vary ?? ''), 'It lacks Vary: Origin.');
    must(code === 200, `It answered ${code}.`);
  });
  for (const row of ALL.filter(({ method, onBox }) => method === 'GET' && onBox)) {
    await report.check(`GET ${row.path}: refused under a foreign host name`, async () => {
      const answer = await target.ask({ target: targetOf(row), host: 'evil.example', keyed: false });
      mustRefuse(answer, 'E_UNAUTHENTICATED', 'E_ORIGIN');
    });
  }
  await report.check('two Host headers are refused', async () => {
    const headers = [
      ['host', target.url.host],
      ['host', 'evil.example'],
    ] as const;
    const answer = await target.ask({ target: status, headers });
    must(answer.status === 400, `It answered ${answer.status} instead of 400.`);
  });
}

async function checkTargets(report: Report, target: Target, facts: NodeFacts): Promise<void> {
  for (const odd of ODD_TARGETS) {
    await report.check(`${odd}: refused as ambiguous`, async () => {
      const answer = await target.ask({ target: odd });
      mustRefuse(answer, 'E_BAD_PATH');
    });
  }
  await report.check('an unknown path is 404, and 401 for a stranger', async () => {
    const unknown = { target: '/api/zz-conformance' };
    mustRefuse(await target.ask(unknown), 'E_NOT_FOUND');
    mustRefuse(await target.ask({ ...unknown, keyed: false }), 'E_UNAUTHENTICATED');
  });
  const methods = Map.groupBy(ALL, ({ path }) => path);
  for (const [path, rows] of methods) {
    const [row] = rows;
    if (row === undefined || rows.length > 1 || path.includes('{') || !isServed(row, facts)) continue;
    if (row.method === 'GET')
      await report.check(`PATCH ${path}: 405, with what it has`, async () => {
        const answer = await target.ask({ method: 'PATCH', target: path });
        mustRefuse(answer, 'E_METHOD');
        must(
          /\bGET\b/.test(answer.headers.allow ?? ''),
          `Its Allow header is ${String(answer.headers.allow)}.`,
        );
      });
    else if (row.method === 'WS')
      await report.check(`GET ${path}: 426, as it is a WebSocket`, async () => {
        mustRefuse(await target.ask({ target: path }), 'E_UPGRADE');
      });
  }
  await report.check('answers are not to be stored', async () => {
    const answer = await target.ask({ target: '/api/status' });
    mustBeSafe(answer);
    must(answer.headers['cache-control'] === 'no-store', 'An answer with data may be stored.');
  });
}
