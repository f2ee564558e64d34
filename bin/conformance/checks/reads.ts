import { ERRORS } from '../../../shared/errors.ts';
import { memberOf } from '../../../shared/member.ts';
import { openApiDocument } from '../../../shared/routes/openapi.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { VERSION } from '../../../shared/version.ts';
import { jsonOf, mediaTypeOf, must, mustBeSafe, mustFit, mustRefuse } from '../answers.ts';
import type { Report } from '../report.ts';
import { ALL, isHeadOnly, isServed, mayAsk, type NodeFacts, targetOf } from '../rows.ts';
import type { Answer, Target } from '../target.ts';

const GRACE_MS = 5000;
const LONGEST_MS = 45_000;

/**
 * Every read, with the key: status, type and body as documented; 501 where the node has not the feature. Then as HEAD, and with a query
 * that it does not know.
 * @returns the ids of the rows that answered with a server's error, though a documented one
 */
export async function checkReads(
  report: Report,
  target: Target,
  facts: NodeFacts,
): Promise<ReadonlySet<string>> {
  const out = new Set<string>();
  const paths = openApiDocument(ALL, VERSION)['paths'];
  for (const row of ALL.filter(({ method, scope }) => method === 'GET' && scope !== 'inner')) {
    const headOnly = isHeadOnly(row);
    const timeoutMs = Math.min(LONGEST_MS, row.limits.timeoutMs + GRACE_MS);
    const ask = { target: `${targetOf(row)}${neededQuery(row)}`, timeoutMs, headOnly };
    if (!isServed(row, facts)) {
      await report.check(`GET ${row.path}: 501, as the node does not have it`, async () => {
        mustRefuse(await target.ask({ ...ask, headOnly: false }), 'E_NOT_IMPLEMENTED');
      });
      continue;
    }
    const documented = memberOf(
      memberOf(memberOf(paths, row.path.replaceAll('{*', '{')), 'get'),
      'responses',
    );
    const fine = await report.check(`GET ${row.path}: answers as documented`, async () => {
      mayAsk(row);
      const answer = await target.ask(ask);
      if (answer.status >= 500) out.add(row.id);
      judge(row, answer, Object.keys(documented ?? {}), headOnly);
    });
    if (!fine || headOnly) continue;
    await report.check(`HEAD ${row.path}: no body`, async () => {
      const answer = await target.ask({ ...ask, method: 'HEAD' });
      must(answer.bytes.length === 0, 'It has a body.');
      must(answer.status < 500 || documentsStatus(documented, answer), `It answered ${answer.status}.`);
      mustBeSafe(answer);
    });
    if (row.query?.additionalProperties !== false || row.readTicket !== null || row.path.includes('{'))
      continue;
    await report.check(`GET ${row.path}: refuses a query that it does not know`, async () => {
      mustRefuse(await target.ask({ ...ask, target: `${targetOf(row)}?zz_unknown=1` }), 'E_INVALID_VALUE');
    });
  }
  return out;
}

function documentsStatus(documented: unknown, { status }: Answer): boolean {
  return memberOf(documented, String(status)) !== undefined;
}

/** @throws Failed */
function judge(row: Row, answer: Answer, documented: readonly string[], headOnly: boolean): void {
  const { status } = answer;
  must(documented.includes(String(status)), `It answered ${status}, which is not documented.`);
  mustBeSafe(answer);
  if (headOnly && (status >= 400 || mediaTypeOf(answer) === 'application/json')) return;
  const spec = row.responses[status];
  // A refusal of its own, or one that all rows have.
  if (status >= 400 && (spec?.schema === undefined || spec.schema === null || hasCode(answer))) {
    mustRefuse(answer);
    return;
  }
  if (spec === undefined) return;
  const types = spec.mediaType.split(',');
  const type = mediaTypeOf(answer);
  must(
    types.some((each) => each === '*/*' || each === 'application/octet-stream' || each === type),
    `It is ${type || 'of no type'} instead of ${spec.mediaType}.`,
  );
  if (type !== 'application/json') return;
  const body = jsonOf(answer);
  if (spec.schema !== null) mustFit(body, spec.schema);
}

function hasCode(answer: Answer): boolean {
  const code = memberOf(jsonOf(answer), 'code');
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

/** What a query must have, with a value that no node knows; empty for most. */
function neededQuery({ query }: Row): string {
  const needed = query?.required ?? [];
  return needed.length === 0 ? '' : `?${needed.map((name) => `${name}=x1`).join('&')}`;
}
