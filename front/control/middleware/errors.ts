import type { NextFunction, Request, Response } from 'express';
import { ERRORS } from '../../../shared/errors.ts';
import { endWithFailure, type Failure, failureOf } from '../../../shared/http/answer.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { endsWithAnswer } from './edge.ts';
import type { Exchange } from './exchange.ts';
import type { Records } from './records.ts';

/** Answers any error in the shape of its row. If part of an answer has gone out, it closes the connection. */
export function errors(log: Logger, records: Pick<Records, 'stalled'>) {
  return (
    error: unknown,
    req: Request,
    res: Response<unknown, Partial<Exchange>>,
    _next: NextFunction,
  ): void => {
    const failure = withReason(failureOf(error, res.locals.pass?.row.refusals), records.stalled);
    res.locals.announced?.settle(ERRORS[failure.code][0], failure.code);
    endWithFailure(res, error, failure, log, endsWithAnswer(req));
  };
}

/** What has waited too long has most likely waited for the disk that stands still. */
function withReason(failure: Failure, stalled: string | null): Failure {
  if (failure.code !== 'E_TIMEOUT' || stalled === null) return failure;
  return { ...failure, detail: `${failure.detail.replace(/\.$/, '')}: ${stalled}.` };
}
