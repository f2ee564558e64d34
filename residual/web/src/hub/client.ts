import { signal } from '@preact/signals';
import type { ErrorCode } from '../../../../shared/errors.ts';
import { parseJson, recordOf } from '../../../../shared/member.ts';
import { Refused } from '../api/client.ts';
import { heard, missed } from '../api/presence.ts';
import type { Me } from './answers.ts';

/** Requests to the hub, with the operator's credential as a header, so that no other site can speak for them. */

const STORED = 'svc-hub-operator';
const TIMEOUT_MS = 20_000;

/** Who is signed in; null: not asked yet. */
export const me = signal<Me | null>(null);

/** In memory and in this tab, so that a reload keeps it; in the browser only where that was asked for. Null: sign in. */
export const credential = signal<string | null>(
  localStorage.getItem(STORED) ?? sessionStorage.getItem(STORED),
);
/** The hub no longer takes what it took before. */
export const ended = signal(false);

/** Tries the credential. @param where it is kept @throws Refused */
export async function signIn(text: string, where: Storage): Promise<void> {
  me.value = await ask<Me>('/v1/me', { as: text });
  where.setItem(STORED, text);
  ended.value = false;
  credential.value = text;
}

export function signOut(why: 'ended' | null): void {
  for (const store of [localStorage, sessionStorage]) store.removeItem(STORED);
  void import('./fly/keys.ts').then(async ({ forgetKey }) => forgetKey('calls')).catch(() => undefined); // a browser that keeps nothing has none
  ended.value = why === 'ended';
  me.value = null;
  credential.value = null;
}

/** As asked for by the person, at once: what a provider has vouched for ends at the hub as well. */
export function leaveHub(): void {
  const [as, ends] = [credential.value, typeof me.value?.expires_at === 'number'];
  signOut(null);
  if (as !== null && ends) void ask('/v1/sign-in', { method: 'DELETE', as }).catch(() => undefined); // it ends by itself then
}

/** Of the hub's clock, ms: at `performance.now()` 0 it was at most this. Ages are told by the hub's clock, not this machine's. */
let hubZero = Date.now();

/** The hub's time now, ms since 1970; rather a second late than early, so that nothing is older than it is said to be. */
export function hubNow(): number {
  return performance.now() + hubZero;
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Members without a value are left out. */
  readonly query?: Readonly<Record<string, string | number | null>>;
  readonly body?: unknown;
  /** A credential that is only tried. */
  readonly as?: string;
  readonly signal?: AbortSignal;
}

/** @throws Refused */
export async function ask<T>(path: string, asked: Ask = {}): Promise<T> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const all = asked.signal === undefined ? late : AbortSignal.any([asked.signal, late]);
  const text = await (await open(path, { ...asked, signal: all })).text().catch((error: unknown) => {
    if (asked.signal?.aborted === true) throw error;
    throw away();
  });
  return (text === '' ? {} : parsed(text)) as T;
}

/** As `ask`, for an answer that goes on: the caller reads or cancels its body. @throws Refused */
export async function open(
  path: string,
  { method = 'GET', query = {}, body, as, signal: stop }: Ask,
): Promise<Response> {
  const bearer = as ?? credential.value;
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  ).toString();
  let response: Response;
  try {
    response = await fetch(search === '' ? path : `${path}?${search}`, {
      method,
      cache: 'no-store',
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(stop === undefined ? {} : { signal: stop }),
    });
  } catch (error) {
    if (stop?.aborted === true && stop.reason instanceof DOMException && stop.reason.name !== 'TimeoutError')
      throw error;
    missed();
    throw away();
  }
  heard();
  const at = Date.parse(response.headers.get('date') ?? '');
  // The header has whole seconds.
  if (Number.isFinite(at)) hubZero = at + 1000 - performance.now();
  if (response.ok) return response;
  const { detail, code, ...extras } = recordOf(parsed(await response.text().catch(() => '')));
  if (response.status === 401 && as === undefined && bearer !== null) signOut('ended');
  throw new Refused(
    response.status,
    (typeof code === 'string' ? code : 'E_AWAY') as ErrorCode,
    typeof detail === 'string' ? detail : `The hub answered ${response.status}.`,
    extras,
  );
}

function away(): Refused {
  return new Refused(0, 'E_AWAY', 'The hub does not answer.');
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return {}; // an answer of something in between; its status says enough
  }
}
