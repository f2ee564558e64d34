import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../../shared/errors.ts';
import { checkType, hasBody, parseJson, readJson } from '../../../shared/http/body.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { Step } from '../exchange.ts';

/**
 * Reads the body of a JSON row; any other body streams on to whoever takes it. Either way it has to be there within the time
 * that its row gives it.
 */
export function body(): Step {
  return (req, res, next) => {
    const { row } = res.locals.pass;
    if (row.bodyMedia !== null) checkType(req, row.bodyMedia);
    if (!hasBody(req)) {
      next();
      return;
    }
    checkAnnounced(req, row);
    if (!req.complete) limitTime(req, row, next);
    const { raw } = res.locals;
    if (row.bodyKind !== 'json') {
      if (raw === undefined && req.headers.expect !== undefined) res.writeContinue();
      next();
      return;
    }
    if (raw !== undefined) {
      res.locals.body = parseJson(req, raw).value;
      next();
      return;
    }
    if (req.headers.expect !== undefined) res.writeContinue();
    readJson(req, row.limits.bodyBytes)
      .then((read) => {
        res.locals.raw = read.raw;
        res.locals.body = read.value;
        next();
      })
      .catch(next);
  };
}

/** What the head alone says about the body: whether this route takes one, and whether it is too large. */
function checkAnnounced(req: IncomingMessage, row: Row): void {
  if (row.bodyKind === 'none') throw new ApiError('E_BAD_REQUEST', 'This route takes no request body.');
  const length = Number(req.headers['content-length'] ?? 0);
  const limit = row.limits.bodyBytes;
  if (length > limit) throw new ApiError('E_TOO_LARGE', `The body is larger than ${limit} bytes.`, { limit });
}

/** From the request's first byte, whether or not there is room for it behind us. */
function limitTime(req: IncomingMessage, { limits: { bodyMs } }: Row, late: (error: ApiError) => void): void {
  const timer = setTimeout(
    () => late(new ApiError('E_REQUEST_TIMEOUT', `The body was not there within ${bodyMs / 1000} s.`)),
    bodyMs,
  );
  const done = (): void => clearTimeout(timer);
  req.once('end', done);
  req.once('close', done);
}
