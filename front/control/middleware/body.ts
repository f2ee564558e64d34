import type { IncomingMessage } from 'node:http';
import { within } from '../../../shared/async/within.ts';
import { ApiError } from '../../../shared/errors.ts';
import { checkEncoding, checkType, hasBody, readBody, tooLarge } from '../../../shared/http/body.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { Step } from './exchange.ts';

/**
 * Reads the body of a JSON row; any other body is passed on as a stream. Either way it must arrive within the row's body
 * time-out.
 */
export function body(): Step {
  return (req, res, next) => {
    const { row: outer, policy } = res.locals.pass;
    // Through the relay proxy the body is that of the drone's route.
    const row = outer.scope === 'inner' ? policy : outer;
    const json = row.bodyKind === 'json';
    if (row.bodyMedia !== null && !json) checkType(req, row.bodyMedia);
    if (!hasBody(req)) {
      next();
      return;
    }
    checkAnnounced(req, row);
    const { bodyBytes, bodyMs } = row.limits;
    if (!json) {
      if (!req.complete) limitTime(req, bodyMs, next);
      if (req.headers.expect !== undefined) res.writeContinue();
      next();
      return;
    }
    if (req.headers.expect !== undefined) res.writeContinue();
    within(readBody(req, bodyBytes, row.bodyMedia), bodyMs, () => tooSlow(bodyMs))
      .then((read) => {
        res.locals.raw = read.raw;
        res.locals.body = read.value;
        next();
      })
      .catch(next);
  };
}

/** Checks by the head alone whether this route takes a body and whether it is too large. */
function checkAnnounced(req: IncomingMessage, row: Row): void {
  if (row.bodyKind === 'none') throw new ApiError('E_BAD_REQUEST', 'This route takes no request body.');
  checkEncoding(req.headers);
  const length = Number(req.headers['content-length'] ?? 0);
  const limit = row.limits.bodyBytes;
  if (length > limit) throw tooLarge(limit);
}

/** A streamed body: calls `late` if its end has not come in time. */
function limitTime(req: IncomingMessage, bodyMs: number, late: (error: ApiError) => void): void {
  const timer = setTimeout(() => late(tooSlow(bodyMs)), bodyMs);
  const done = (): void => clearTimeout(timer);
  req.once('end', done);
  req.once('close', done);
}

function tooSlow(bodyMs: number): ApiError {
  return new ApiError('E_REQUEST_TIMEOUT', `The body did not arrive within ${bodyMs / 1000} s.`);
}
