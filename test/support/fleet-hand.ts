import { type KeyObject, randomBytes } from 'node:crypto';
import type { Scope } from '../../shared/auth/scopes.ts';
import {
  bodySha256,
  newSigningKey,
  publicJwk,
  signStatement,
  thumbprint,
  verifyStatement,
} from '../../shared/fleet/signed.ts';
import type {
  CallStatement,
  Confirm,
  MachineToken,
  Policy,
  PublicJwk,
  Reply,
  Watch,
} from '../../shared/schemas/fleet-statements.ts';
import { NONCE_MS } from '../../shared/schemas/nonce.ts';

/** A key with what everybody may know of it. */
export interface Signer {
  readonly key: KeyObject;
  readonly kid: string;
  readonly jwk: PublicJwk;
}

export async function newSigner(): Promise<Signer> {
  const key = newSigningKey();
  const jwk = publicJwk(key);
  return { key, jwk, kid: await thumbprint(jwk) };
}

/** A caller of a fleet: its key, its id, its token. */
export interface TestCaller {
  readonly id: string;
  readonly signer: Signer;
  readonly token: string;
}

const HOUR_S = 3600;

/** Signs as a hub, its callers and its operators would, also what no honest one would. */
export class FleetHand {
  readonly fleet: string;
  readonly hub: Signer;

  private constructor(fleet: string, hub: Signer) {
    this.fleet = fleet;
    this.hub = hub;
  }

  static async create(fleet = 'f-test'): Promise<FleetHand> {
    return new FleetHand(fleet, await newSigner());
  }

  async policy(change: Partial<Policy> = {}, by: Signer = this.hub): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const policy = { fleet: this.fleet, seq: 1, iat, keys: [this.hub.jwk], revoked: [], ...change };
    return signStatement('svc-policy', policy, by.key, by.kid);
  }

  async token(signer: Signer, change: Partial<MachineToken> = {}, by: Signer = this.hub): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const scopes: Scope[] = ['read', 'safe_write', 'admin', 'flight', 'destructive'];
    const token: MachineToken = {
      sub: 'mc_caller001',
      fleet: this.fleet,
      scopes,
      nodes: null,
      cnf: { jwk: signer.jwk },
      iat,
      exp: iat + HOUR_S,
      ...change,
    };
    return signStatement('svc-machine-token', token, by.key, by.kid);
  }

  async caller(change: Partial<MachineToken> = {}): Promise<TestCaller> {
    const signer = await newSigner();
    return { id: change.sub ?? 'mc_caller001', signer, token: await this.token(signer, change) };
  }

  async watch(
    node: string,
    nonce: string,
    change: Partial<Watch> = {},
    by: Signer = this.hub,
  ): Promise<string> {
    const watch = { node, nonce, jti: newJti(), telemetry_hz: 10, pictures_hz: 5, seconds: 10, ...change };
    return signStatement('svc-watch', watch, by.key, by.kid);
  }

  async ack(node: string, stream: string, seq: number, by: Signer = this.hub): Promise<string> {
    return signStatement('svc-ack', { node, stream, seq }, by.key, by.kid);
  }
}

export function newJti(): string {
  return randomBytes(12).toString('base64url');
}

/** Without a deadline it is good for as long as its nonce. */
export type UnsignedCall = Omit<CallStatement, 'within_ms'> & Partial<Pick<CallStatement, 'within_ms'>>;

export async function signCall(
  { signer, token }: Pick<TestCaller, 'signer' | 'token'>,
  call: UnsignedCall,
  confirm?: string,
): Promise<string> {
  return signStatement('svc-call', { within_ms: NONCE_MS, ...call }, signer.key, signer.kid, {
    token,
    ...(confirm === undefined ? {} : { confirm }),
  });
}

export async function signConfirm(
  operator: Signer,
  { node, method, path, body, nonce, jti }: UnsignedCall,
  how: Confirm['how'],
): Promise<string> {
  const confirm = { node, method, path, body_sha256: bodySha256(body), nonce, jti, how };
  return signStatement('svc-confirm', confirm, operator.key, operator.kid);
}

/** @throws NotBelieved unless the node has signed it */
export async function readReply(jws: string, node: PublicJwk): Promise<Reply> {
  return (await verifyStatement('svc-reply', jws, () => node)).payload;
}
