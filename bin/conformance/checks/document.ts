import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, memberOf, recordOf } from '../../../shared/member.ts';
import { openApiDocument } from '../../../shared/routes/openapi.ts';
import { VERSION } from '../../../shared/version.ts';
import { must } from '../answers.ts';
import type { Report } from '../report.ts';
import { ALL } from '../rows.ts';

/** The members of an operation's policy that a client relies on. */
const POLICY = [
  'lane',
  'feature',
  'access',
  'scope',
  'relay',
  'armed',
  'websocket',
  'ticket',
  'read_ticket',
] as const;

type Operations = Readonly<Record<string, JsonObject>>;

/** The node's OpenAPI document has each route of the table, with the same policy, and no other. */
export async function checkDocument(report: Report, document: unknown): Promise<void> {
  const wanted = pathsOf(openApiDocument(ALL, VERSION));
  const theirs = pathsOf(document);
  for (const [path, operations] of Object.entries(wanted)) {
    for (const [verb, operation] of Object.entries(operations)) {
      await report.check(`document: ${verb.toUpperCase()} ${path}`, () => {
        const found = memberOf(memberOf(theirs, path), verb);
        must(found !== undefined, 'It is not in the document.');
        const [ours, its] = [policiesOf(operation), policiesOf(found)];
        must(
          isDeepStrictEqual(ours, its),
          `Its policy is ${JSON.stringify(its)} and should be ${JSON.stringify(ours)}.`,
        );
      });
    }
  }
  await report.check('document: no other route', () => {
    const more = Object.entries(theirs).flatMap(([path, operations]) =>
      Object.keys(operations)
        .filter((verb) => memberOf(memberOf(wanted, path), verb) === undefined)
        .map((verb) => `${verb.toUpperCase()} ${path}`),
    );
    must(more.length === 0, `These are not of this API: ${more.slice(0, 10).join(', ')}.`);
  });
}

function pathsOf(document: unknown): Operations {
  const paths = Object.entries(recordOf(memberOf(document, 'paths')));
  return Object.fromEntries(paths.map(([path, operations]) => [path, recordOf(operations)]));
}

/** A GET and a WebSocket on one path are one operation with two policies. */
function policiesOf(operation: unknown): readonly unknown[] {
  const x = memberOf(operation, 'x-svc');
  return (Array.isArray(x) ? x : [x]).map((one: unknown) =>
    POLICY.map((member) => memberOf(one, member) ?? null),
  );
}
