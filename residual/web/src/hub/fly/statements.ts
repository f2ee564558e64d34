import { CompactSign, compactVerify, errors, importJWK } from 'jose';
import { memberOf, parseJson } from '../../../../../shared/member.ts';
import type {
  CallStatement,
  Confirm,
  PublicJwk,
  Reply,
} from '../../../../../shared/schemas/fleet-statements.ts';
import type { BrowserKey } from './keys.ts';

/** What this browser says under its own signature, and what it believes: compact JWS as in docs/contract/fleet.md. */

const ALG = 'Ed25519';

async function sign(
  typ: 'svc-call' | 'svc-confirm',
  payload: CallStatement | Confirm,
  { key, kid }: BrowserKey,
  carried: { readonly token?: string; readonly confirm?: string } = {},
): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return new CompactSign(bytes).setProtectedHeader({ alg: ALG, typ, kid, ...carried }).sign(key);
}

/**
 * One call, signed. @param token the hub's, for the key that signs
 * @param operator the key of whoever holds the button down; null: nothing of it flies
 */
export async function signCall(
  call: CallStatement,
  caller: BrowserKey,
  token: string,
  operator: BrowserKey | null,
): Promise<string> {
  if (operator === null) return sign('svc-call', call, caller, { token });
  const { node, method, path, nonce, jti, body } = call;
  const confirm = {
    node,
    method,
    path,
    body_sha256: await bodySha256(body),
    nonce,
    jti,
    how: 'hold',
  } as const;
  return sign('svc-call', call, caller, { token, confirm: await sign('svc-confirm', confirm, operator) });
}

/** As the node makes it: of the JSON of the body; of nothing where there is none. */
async function bodySha256(body: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The node's answer to this call; null for everything that it has not signed. */
export async function readReply(
  jws: string,
  key: PublicJwk,
  { node, jti }: Pick<CallStatement, 'node' | 'jti'>,
): Promise<Pick<Reply, 'status' | 'body'> | null> {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, await importJWK({ ...key }, ALG), {
      algorithms: [ALG],
    });
    const said = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    const status = memberOf(said, 'status');
    const fits =
      protectedHeader.typ === 'svc-reply' &&
      memberOf(said, 'node') === node &&
      memberOf(said, 'jti') === jti &&
      typeof status === 'number';
    return fits ? { status, body: memberOf(said, 'body') } : null;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      return null;
    throw error;
  }
}
