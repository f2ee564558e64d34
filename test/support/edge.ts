import { secretHash } from '../../front/control/edge/credentials.ts';
import { decide } from '../../front/control/edge/decide.ts';
import {
  type CredentialChecks,
  type Decision,
  type EdgeState,
  NO_OTHER_CREDENTIALS,
  type RequestHead,
} from '../../front/control/edge/decision.ts';
import { settle } from '../../front/control/edge/settle.ts';
import type { AddressClass } from '../../shared/auth/address.ts';
import type { Principal } from '../../shared/auth/principal.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';

export const KEY = 'svc_0123456789abcdef0123456789abcdef0123456789a';

const { matcher } = compileTable(ROWS);
/** The table as if code stood behind every row, so that a property about passing says something about every row. */
export const { matcher: everythingBuilt } = compileTable(
  (ROWS as readonly Row[]).map((row) => ({ ...row, built: true })),
);

/** A paired, disarmed drone that runs everything; `change` says what is different. */
export function edgeState(change: Partial<EdgeState> = {}): EdgeState {
  return {
    matcher,
    pairing: { paired: true, keyHash: secretHash(KEY) },
    armed: false,
    anyArmed: change.armed ?? false,
    profile: 'drone',
    features: new Set(FEATURES.filter((feature) => feature !== 'ground-station')),
    residual: true,
    origins: new Set(['http://localhost:4000']),
    hosts: new Set(['192.168.1.7', '127.0.0.1', '::1', 'svc-a1b2c3.local']),
    credentials: NO_OTHER_CREDENTIALS,
    validate: () => null,
    pilot: null,
    port: 8080,
    tls: { required: false, port: 8443 },
    ...change,
  };
}

export interface Ask {
  readonly method?: string;
  readonly target: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly from?: AddressClass;
  readonly upgrade?: boolean;
  /** It comes by TLS. */
  readonly secure?: boolean;
  readonly unix?: boolean;
  /** The ground station whose relay it arrives through. */
  readonly ground?: string;
  readonly limitedFor?: number;
  readonly lockedFor?: number;
  /** The process at the other end of a loopback connection is root's. */
  readonly trusted?: boolean;
}

export function head(ask: Ask): RequestHead {
  const headers = ask.headers ?? [];
  const host = headers.some(([name]) => name.toLowerCase() === 'host') ? [] : ['Host', '192.168.1.7:8080'];
  return {
    method: ask.method ?? 'GET',
    target: ask.target,
    rawHeaders: [...host, ...headers.flat()],
    upgrade: ask.upgrade ?? false,
    peer: {
      kind: ask.unix === true ? 'unix' : ask.ground === undefined ? 'tcp' : 'relay',
      ...(ask.ground === undefined ? {} : { ground: ask.ground }),
      address: ask.unix === true ? 'loopback' : (ask.from ?? 'lan'),
      secure: ask.secure ?? false,
      limitedFor: ask.limitedFor ?? null,
      lockedFor: ask.lockedFor ?? null,
      trusted: () => ask.trusted ?? false,
    },
  };
}

/** Both halves of the decision. */
export function judge(ask: Ask, state: EdgeState = edgeState(), body?: unknown): Decision {
  const first = decide(head(ask), state);
  return first.kind === 'pass' ? settle(first, body, state) : first;
}

/** `pass`, `preflight`, or the code of the refusal. */
export function verdict(ask: Ask, state?: EdgeState, body?: unknown): string {
  const decision = judge(ask, state, body);
  return decision.kind === 'refuse' ? decision.code : decision.kind;
}

export const withKey = ['X-SVC-Key', KEY] as const;

/** A token that is valid and may do nothing. */
export const NO_SCOPES: Principal = { kind: 'token', id: 'empty', scopes: [] };

/** Credentials of which every offered one is valid, a token with `scopes`. */
export function trusting(scopes: readonly Scope[] = []): CredentialChecks {
  const as = (kind: Principal['kind'], granted: Principal['scopes'] = null): Principal => ({
    kind,
    id: kind,
    scopes: granted,
  });
  return {
    session: () => as('session'),
    ticket: () => as('ticket'),
    readTicket: () => as('ticket'),
    token: () => as('token', scopes),
  };
}
