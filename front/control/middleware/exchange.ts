import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import type { PeerBudgets } from '../../../shared/http/edge/rate.ts';
import type { Pass, RequestHead } from '../edge/decision.ts';
import type { Origin } from '../edge/origins.ts';
import type { Announced } from '../stores/audit.ts';

/** The values that one middleware passes to the next in `res.locals`. */
export interface Exchange extends Record<string, unknown> {
  origin: Origin;
  /** Set by `edge`, completed by `settle`. */
  pass: Pass;
  /** The body's bytes where `body` has read them, else undefined. */
  raw?: Buffer;
  /** The parsed body of a JSON row. */
  body?: unknown;
  /** The announced change, until its outcome is known. */
  announced?: Announced;
}

/** One middleware of the front. */
export type Step = (req: Request, res: Response<unknown, Exchange>, next: NextFunction) => void;

/** The arguments of `decide` for a request. */
export function headOf(
  req: IncomingMessage,
  origin: Origin,
  budgets: Pick<PeerBudgets, 'limitedFor' | 'lockedFor'>,
  upgrade: boolean,
): RequestHead {
  return {
    method: req.method ?? '',
    target: req.url ?? '',
    rawHeaders: req.rawHeaders,
    upgrade,
    peer: {
      kind: origin.kind,
      ...(origin.ground === null ? {} : { ground: origin.ground }),
      ...(origin.fleet === null ? {} : { fleet: origin.fleet }),
      address: origin.address,
      secure: origin.secure,
      proxy: origin.proxy,
      limitedFor: budgets.limitedFor(origin.peer),
      lockedFor: budgets.lockedFor(origin.peer),
      trusted: origin.trusted,
    },
  };
}
