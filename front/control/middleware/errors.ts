import type { NextFunction, Request, Response } from 'express';
import { ApiError, ERRORS, messageOf } from '../../../shared/errors.ts';
import { failureOf, sendFailure } from '../../../shared/http/answer.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { endsWithAnswer } from './edge.ts';
import type { Exchange } from './exchange.ts';

/** Answers any error in the shape of its row. If part of an answer has gone out, it closes the connection. */
export function errors(log: Logger) {
  return (
    error: unknown,
    req: Request,
    res: Response<unknown, Partial<Exchange>>,
    _next: NextFunction,
  ): void => {
    const failure = failureOf(error, res.locals.pass?.row.refusals);
    res.locals.announced?.settle(ERRORS[failure.code][0], failure.code);
    if (!(error instanceof ApiError)) {
      log.error(`request failed: ${messageOf(error)}`, {
        stack: error instanceof Error ? error.stack : undefined,
      });
    }
    if (res.headersSent) res.destroy();
    else if (!res.destroyed) sendFailure(res, failure, endsWithAnswer(req));
  };
}
