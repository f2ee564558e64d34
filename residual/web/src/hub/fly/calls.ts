import { isErrorCode } from '../../../../../shared/errors.ts';
import type { NodeEntry, PersonToken } from '../../../../../shared/fleet/hub-api.ts';
import { memberOf, recordOf } from '../../../../../shared/member.ts';
import type { CallStatement, Reply } from '../../../../../shared/schemas/fleet-statements.ts';
import { NONCE_MS } from '../../../../../shared/schemas/nonce.ts';
import { Refused } from '../../api/client.ts';
import { ask, credential, hubNow, me } from '../client.ts';
import { hub } from '../hub-words.ts';
import { type BrowserKey, ensureKey, findKey, lacksKeys } from './keys.ts';
import { readReply, signCall } from './statements.ts';

/** Calls to a node through the hub: signed here, carried by the hub, answered under the node's signature. */

/** A node that is called, as the hub lists it. */
export type Called = Pick<NodeEntry, 'id' | 'signing_key'>;

export interface NodeCall {
  readonly method: CallStatement['method'];
  readonly path: string;
  readonly body?: unknown;
  /** A button is held down for exactly this: the operator's key signs for it. */
  readonly held?: boolean;
}

type NodeAnswer = Pick<Reply, 'status' | 'body'>;

/** Below what a request to the hub waits for. */
const TIMEOUT_MS = 15_000;
/** A token is renewed so long before its end. */
const EARLY_MS = 5 * 60_000;
/** A nonce is good for 30 s; what is held for must not be refused for an old one, and is not asked about in the moment it counts. */
const FRESH_MS = 5000;
/** Of no boot: the node refuses it, and says its own. */
const NO_NONCE = '00000000.0';

interface HeldToken {
  readonly token: PersonToken;
  readonly key: BrowserKey;
  /** Whose it is. */
  readonly credential: string;
  /** The node that it is for; null: all of theirs. */
  readonly only: string | null;
}

let held: HeldToken | null = null;
const nonces = new Map<string, { readonly nonce: string; readonly at: number }>();

/** @throws Refused where this browser can sign nothing */
async function session(node: Called): Promise<HeldToken> {
  const who = credential.value;
  if (who === null) throw new Refused(401, 'E_UNAUTHENTICATED', hub.signIn.title);
  // Whoever has nodes by tags may have thousands, and each call carries their names.
  const only = (me.value?.tags ?? []).length === 0 ? null : node.id;
  if (
    held !== null &&
    held.credential === who &&
    held.only === only &&
    held.token.expires_at - hubNow() > EARLY_MS
  )
    return held;
  const key = await signing(async () => ensureKey('calls'));
  if (key === null) throw new Refused(0, 'E_NOT_IMPLEMENTED', hub.keys.lacks.ed25519);
  const token = await ask<PersonToken>('/v1/me/token', {
    method: 'POST',
    body: { key: key.jwk, ...(only === null ? {} : { nodes: [only] }) },
  });
  held = { token, key, credential: who, only };
  return held;
}

/** @throws Refused where this browser cannot */
async function signing(work: () => Promise<BrowserKey | null>): Promise<BrowserKey | null> {
  const lack = lacksKeys();
  if (lack !== null) throw new Refused(0, 'E_NOT_IMPLEMENTED', hub.keys.lacks[lack]);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const unknown = error instanceof DOMException && error.name === 'NotSupportedError';
    throw new Refused(0, 'E_NOT_IMPLEMENTED', unknown ? hub.keys.lacks.ed25519 : error.message);
  }
}

/** Gets ready what a call needs, while a button begins to be held: then the call is one way there and back. */
export async function prepare(node: Called): Promise<void> {
  await session(node);
  const known = nonces.get(node.id);
  if (known === undefined || performance.now() - known.at > FRESH_MS)
    await once(node, { method: 'GET', path: '/healthz' }, noNonce());
}

/**
 * The body of the node's answer.
 * @throws Refused as the node or the hub refuses it; where what became of it is not known, it says so
 */
export async function callNode(node: Called, call: NodeCall): Promise<unknown> {
  const answer = await answerOf(node, call);
  if (answer.status >= 200 && answer.status <= 299) return answer.body;
  throw refusedBy(answer);
}

/** Status and body of the node's answer, whatever it is. @throws Refused where none came, or the hub refuses the call */
export async function answerOf(node: Called, call: NodeCall): Promise<NodeAnswer> {
  if (call.held === true || call.method !== 'GET' || !nonces.has(node.id)) await prepare(node);
  const first = await once(node, call);
  const code = memberOf(first.body, 'code');
  // Nothing ran, or only a read: once more with the nonce that the node has told.
  const again =
    (first.status === 401 && code === 'E_STALE') ||
    (first.status === 409 && code === 'E_OUTCOME_UNKNOWN' && call.method === 'GET');
  return again ? once(node, call) : first;
}

/** The node's own words. */
export function refusedBy({ status, body }: NodeAnswer): Refused {
  const { detail, code, ...extras } = recordOf(body);
  return new Refused(
    status,
    isErrorCode(code) ? code : 'E_INTERNAL',
    typeof detail === 'string' ? detail : hub.fly.answered({ status }),
    extras,
  );
}

async function once(
  node: Called,
  { method, path, body, held: isHeld = false }: NodeCall,
  known = nonces.get(node.id) ?? noNonce(),
): Promise<NodeAnswer> {
  const { token, key } = await session(node);
  const operator = isHeld ? await signing(async () => findKey('operator')) : null;
  if (isHeld && operator === null) throw new Refused(0, 'E_CONFIRM', hub.keys.none);
  const jti = newJti();
  const statement: CallStatement = {
    method,
    path,
    node: node.id,
    nonce: known.nonce,
    // As the node counts from when it made the nonce, so that it begins nothing after we have given up.
    within_ms: Math.min(NONCE_MS, Math.floor(performance.now() - known.at + TIMEOUT_MS)),
    jti,
    ...(body === undefined ? {} : { body }),
  };
  const jws = await signCall(statement, key, token.token, operator);
  const { reply } = await ask<{ reply: string }>(`/v1/nodes/${encodeURIComponent(node.id)}/calls`, {
    method: 'POST',
    body: { call: jws, timeout_ms: TIMEOUT_MS },
  });
  const read = await readReply(reply, node.signing_key, statement);
  if (read === null) throw new Refused(0, 'E_UPSTREAM', hub.fly.notBelieved);
  const told = memberOf(read.body, 'nonce');
  if (typeof told === 'string' && (read.status === 401 || read.status === 409))
    nonces.set(node.id, { nonce: told, at: performance.now() });
  return read;
}

function noNonce(): { readonly nonce: string; readonly at: number } {
  return { nonce: NO_NONCE, at: performance.now() };
}

function newJti(): string {
  return [...crypto.getRandomValues(new Uint8Array(18))]
    .map((byte) => byte.toString(36).padStart(2, '0'))
    .join('');
}
