import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import type { Principal } from '../../../shared/auth/principal.ts';
import { sendFailure } from '../../../shared/http/answer.ts';
import { hasBody } from '../../../shared/http/body.ts';
import type { PeerBudgets } from '../../../shared/http/edge/rate.ts';
import { decide } from '../edge/decide.ts';
import type { EdgeState, Refusal } from '../edge/decision.ts';
import type { Origins } from '../edge/origins.ts';
import { type Exchange, headOf, type Step } from './exchange.ts';
import type { Records } from './records.ts';

export interface EdgeParts {
  readonly state: EdgeState;
  readonly origins: Origins;
  readonly budgets: PeerBudgets;
  readonly records: Records;
  /** Notes that a credential was used, from this address. */
  readonly seen: (principal: Principal, ip: string) => void;
}

/** The kinds of principal that have a credential of their own. */
const SHOWN: ReadonlySet<Principal['kind']> = new Set<Principal['kind']>([
  'key',
  'session',
  'token',
  'ticket',
]);

/** Decides by the head alone: target, CORS, row, credential. */
export function edge(parts: EdgeParts): Step {
  const { state, origins, budgets, records, seen } = parts;
  return (req, res, next) => {
    const origin = origins.of(req.socket);
    const decision = decide(headOf(req, origin, budgets, false), state);
    res.locals.origin = origin;
    switch (decision.kind) {
      case 'preflight':
        res.writeHead(204, decision.headers).end();
        return;
      case 'redirect':
        // Not to be kept: once the node is paired, or its config another, the same address is another page again.
        res.writeHead(decision.status, {
          location: decision.location,
          'cache-control': 'no-store',
          'content-length': 0,
        });
        res.end();
        return;
      case 'refuse':
        refuse(res, decision, records);
        return;
      case 'pass':
        if (decision.counted) budgets.spend(origin.peer);
        if (SHOWN.has(decision.principal.kind)) origins.know(origin);
        if (decision.cors !== null) allowOrigin(res, decision.cors);
        seen(decision.principal, origin.ip);
        if (decision.target !== null) {
          req.url = decision.target; // what is forwarded
          res.setHeader('referrer-policy', 'no-referrer'); // a page would tell its address, with the ticket, to others
        }
        res.locals.pass = decision;
        next();
    }
  };
}

/** Answers a refusal, of `decide` or of `settle`, and writes it down. */
export function refuse(res: Response<unknown, Exchange>, refusal: Refusal, records: Records): void {
  const { req } = res;
  records.refused(refusal, res.locals.origin);
  const send = (): void => {
    if (res.destroyed) return;
    if (refusal.cors !== null && !res.hasHeader('vary')) allowOrigin(res, refusal.cors);
    sendFailure(res, refusal, endsWithAnswer(req));
  };
  const unwritten = records.unwritten();
  if (unwritten === null) send();
  else void unwritten.then(send);
}

/** The body is not read, so the connection must close after the answer. */
export function endsWithAnswer(req: IncomingMessage): Readonly<Record<string, string>> {
  return hasBody(req) && !req.complete ? { connection: 'close' } : {};
}

function allowOrigin(res: Response, origin: string): void {
  res.setHeader('access-control-allow-origin', origin);
  res.setHeader('access-control-expose-headers', 'Location, ETag, Link');
  res.setHeader('vary', 'Origin');
}
