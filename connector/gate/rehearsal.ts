import type { Row } from '../../shared/routes/row.ts';
import type { RowId } from '../../shared/routes/typed-row.ts';
import { Denial, type Reason } from '../denial.ts';
import type { Ask } from '../planes/ask.ts';
import { asRecord, rowOf } from '../rows.ts';

/** What the node would refuse whoever signed it. Anything else, an older node's words too, is for the call itself. */
const FINAL: ReadonlySet<Reason> = new Set<Reason>([
  'too_far',
  'needs_sticks',
  'armed_guard',
  'fc_unreachable',
  'precondition_failed',
]);
/** Arguments that the vehicle's kind does not know; 422 may be a node that does not know `dry_run`. */
const WRONG = 400;

/** The first write was looked at: nothing after it is tried. */
class Enough extends Error {}

/**
 * Asks the node what it would say to a call, before a person is asked to sign it: the call runs up to its first write, which is only
 * checked (a command by `dry_run`, else the armed guard of its row). Nothing is sent to the vehicle.
 * @param run the tool @throws Denial what the node would refuse
 */
export async function rehearse(run: (ask: Ask) => Promise<unknown>, ask: Ask): Promise<void> {
  const tried = async (row: RowId | Row, said?: Parameters<Ask>[1]): Promise<unknown> => {
    const { id, method, armed } = typeof row === 'string' ? rowOf(row) : row;
    if (method === 'GET') return typeof row === 'string' ? ask(row, said) : ask(row, said);
    const body = asRecord(said?.body);
    if (id === 'command.post') await ask('command.post', { ...said, body: { ...body, dry_run: true } });
    else if (armed === 'guard' && body['force'] !== true && asRecord(said?.query)['force'] === undefined) {
      const now = (await ask('status.get')).armed;
      if (now === true || now === 'unknown') throw new Denial('armed_guard', undefined, { armed: now });
    }
    throw new Enough();
  };
  try {
    await run(tried as Ask);
  } catch (error) {
    if (error instanceof Enough) return;
    if (!(error instanceof Denial)) throw error;
    if (FINAL.has(error.reason) || (error.reason === 'invalid_arguments' && error.detail['status'] === WRONG))
      throw error;
  }
}
