import type { EdgeState } from '../edge/decision.ts';
import { settle as settlePass } from '../edge/settle.ts';
import { refuse } from './edge.ts';
import type { Step } from './exchange.ts';
import type { Records } from './records.ts';

/** The rest of the decision, which needs the body: override, armed guard, validation. Then records the change in the audit. */
export function settle(state: EdgeState, records: Records): Step {
  return (_req, res, next) => {
    const { pass, body, origin } = res.locals;
    const settled = settlePass(pass, body, state);
    if (settled.kind === 'refuse') {
      refuse(res, settled, records);
      return;
    }
    res.locals.pass = settled;
    const announced = records.announce(settled, body, origin);
    if (announced !== undefined) res.locals.announced = announced;
    next();
  };
}
