import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { within } from '../../../shared/async/within.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import { failureOf, failureStatus, sendValue } from '../../../shared/http/answer.ts';
import { bodyStream } from '../../../shared/http/body.ts';
import { EventAnswer, wantsEvents } from '../../../shared/http/event-answer.ts';
import { type AnyHandler, type Call, type Progress, Reply } from '../../../shared/routes/handler.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { PrincipalWatch } from '../edge/principal-watch.ts';
import type { Step } from './exchange.ts';

/** The features whose changes end principals. */
const ENDING: ReadonlySet<Row['feature']> = new Set<Row['feature']>(['pairing', 'mcp']);

/**
 * The rows that this process implements. The value or error of a handler becomes the answer.
 * @param handlers by row id
 */
export function native(handlers: ReadonlyMap<string, AnyHandler>, principalWatch: PrincipalWatch): Step {
  /** A file or a stream may take long; it ends when its principal ends. */
  const endWithPrincipal = (res: ServerResponse, principal: Principal): void => {
    if (res.writableEnded || res.destroyed) return;
    res.once(
      'close',
      principalWatch.onEnd(principal, () => res.destroy()),
    );
  };
  return (req, res, next) => {
    const { pass, body, origin, announced } = res.locals;
    const { row, params, query, principal, forced } = pass;
    if (row.lane !== 'front') {
      next();
      return;
    }
    const handler = handlers.get(row.id);
    if (handler === undefined) throw new Error(`row ${row.id} has no handler`);
    const { bodyBytes, bodyMs, timeoutMs } = row.limits;
    const streams = row.bodyKind === 'stream';
    // What the edge has refused before this was a plain answer with its own status.
    const events = row.long && wantsEvents(req) ? new EventAnswer(res, () => performance.now()) : null;
    const call: Call<Row> = {
      params,
      query,
      // A body that is not there was validated as an empty one.
      body: streams ? bodyStream(req, bodyBytes) : row.bodyKind === 'json' ? (body ?? {}) : body,
      principal,
      peer: origin.peer,
      forced,
      headers: req.headers,
      progress: (progress: Progress) => events?.progress(progress),
    };
    const result = events === null ? handler(call) : (async () => handler(call))();
    if (!(result instanceof Promise)) {
      sendValue(res, result);
      endWithPrincipal(res, principal);
      announced?.settle(res.statusCode, 'done');
      return;
    }
    const ms = streams ? bodyMs + timeoutMs : timeoutMs;
    within(result, ms, () => new ApiError('E_TIMEOUT', `No answer within ${ms} ms.`))
      .then((value: unknown) => {
        if (ENDING.has(row.feature)) principalWatch.recheck();
        if (events !== null) events.result(value);
        else if (!res.destroyed) {
          sendValue(res, value);
          endWithPrincipal(res, principal);
        } else if (value instanceof Reply && value.body instanceof Readable) value.body.destroy();
        announced?.settle(value instanceof Reply ? value.status : 200, 'done');
      })
      .catch((error: unknown) => {
        if (events === null || !(error instanceof ApiError)) {
          next(error);
          return;
        }
        const failure = failureOf(error, row.refusals);
        announced?.settle(failureStatus(failure), failure.code);
        events.failure(failure);
      });
  };
}
