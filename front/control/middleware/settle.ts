import { ERRORS } from '../../../shared/errors.ts';
import { needsAudit } from '../edge/audited.ts';
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
    if (announced === undefined) {
      next();
      return;
    }
    res.locals.announced = announced;
    if (!needsAudit(settled, body)) {
      next(); // what ends a flight waits for no disk
      return;
    }
    records.written(announced).then(() => {
      const again = settlePass(pass, body, state); // the vehicle may have been armed meanwhile
      if (again.kind === 'pass') next();
      else {
        announced.settle(ERRORS[again.code][0], again.code);
        refuse(res, again, records);
      }
    }, next);
  };
}
