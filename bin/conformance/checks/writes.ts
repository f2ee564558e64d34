import type { Row } from '../../../shared/routes/row.ts';
import { must, mustRefuse } from '../answers.ts';
import { NotRun, type Report } from '../report.ts';
import { ALL, isServed, isWrite, type NodeFacts, targetOf } from '../rows.ts';
import type { Answer, Target } from '../target.ts';
import { needsMembers } from './refusals.ts';

const JSON_TYPE = ['content-type', 'application/json'] as const;

/**
 * Bodies that no write can take. Only on rows where an empty body would be wrong too, and never on one that can move the vehicle: even a
 * node that checks nothing does nothing then.
 */
export async function checkWrites(report: Report, target: Target, facts: NodeFacts): Promise<void> {
  for (const row of ALL.filter((each) => isWrite(each) && each.scope !== 'inner' && isServed(each, facts))) {
    const at = `${row.method} ${row.path}`;
    await report.check(`${at}: refuses a body that does not fit`, async () => {
      const why = whyNot(row);
      if (why !== null) throw new NotRun(why);
      refused(await send(target, row, '[]'));
      if (row.body?.additionalProperties === false)
        refused(await send(target, row, '{"zz_conformance_unknown": true}'));
    });
    if (whyNot(row) !== null) continue;
    // Refused before its body is read, if the kit is not near or comes in the clear.
    const far = [...(row.nearOnly ? ['E_REMOTE'] : []), ...(row.tlsOnly ? ['E_TLS_REQUIRED'] : [])];
    await report.check(`${at}: refuses what is no JSON`, async () => {
      mustRefuse(await send(target, row, '{broken'), 'E_BAD_REQUEST', ...far);
    });
    if (row.bodyMedia !== null) continue;
    await report.check(`${at}: refuses another type`, async () => {
      mustRefuse(
        await send(target, row, 'x', ['content-type', 'text/plain']),
        'E_MEDIA_TYPE',
        'E_INVALID_VALUE',
        ...far,
      );
    });
  }
  const config = ALL.find(({ id }) => id === 'config.put');
  if (config === undefined || !isServed(config, facts)) return;
  await report.check(`${config.method} ${config.path}: refuses a body that is too long`, async () => {
    const long = `[${' '.repeat(config.limits.bodyBytes + 1024)}]`;
    mustRefuse(await send(target, config, long), 'E_TOO_LARGE');
  });
}

function whyNot(row: Row): string | null {
  if (row.blast === 'aircraft') return 'a mistake could move the vehicle';
  if (row.bodyKind !== 'json') return 'it takes no JSON, so nothing tells a wrong body from a right one';
  return needsMembers(row) ? null : 'without a body it would act';
}

async function send(
  target: Target,
  row: Row,
  body: string,
  type: readonly [string, string] = JSON_TYPE,
): Promise<Answer> {
  return target.ask({ method: row.method, target: targetOf(row), body, headers: [type] });
}

/** @throws Failed */
function refused(answer: Answer): void {
  mustRefuse(answer);
  must(answer.status < 500, `It answered ${answer.status}: the body was not what it refused.`);
}
