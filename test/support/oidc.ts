import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';
import { parse, stringify } from 'yaml';
import { asRecord } from '../../shared/member.ts';
import type { HubAnswer, TestHub } from './hub.ts';
import { freePort } from './temp.ts';

const CLIENT = 'svc-hub';
const SECRET = randomBytes(24).toString('base64url');
const KEY = 'first';

type Claims = Readonly<Record<string, unknown>>;

/** Who has which rights at the hubs of these tests. The first that fits counts. */
export const GROUPS = [
  { group: 'fleet-admins', scopes: ['read', 'safe_write', 'flight', 'admin'], nodes: null },
  { group: 'north', scopes: ['read', 'flight'], nodes: ['north-1'] },
  { group: 'watchers', scopes: ['read'], tags: ['watched'] },
] as const;

/** Gives a hub that does not run a provider. @param more of its `oidc` */
export async function useProvider(hub: TestHub, issuer: string, more: Claims = {}): Promise<void> {
  const secretFile = join(hub.folder, 'oidc.secret');
  await writeFile(secretFile, `${SECRET}\n`, { mode: 0o600 });
  const path = join(hub.folder, 'hub.yaml');
  const oidc = {
    issuer,
    name: 'Example login',
    page_url: `https://localhost:${hub.httpsPort}`,
    client_id: CLIENT,
    client_secret_file: secretFile,
    groups: GROUPS,
    ...more,
  };
  await writeFile(path, stringify({ ...asRecord(parse(await readFile(path, 'utf8'))), oidc }), {
    mode: 0o600,
  });
}

/** One browser's sign-in at a hub, from its beginning. */
export interface Begun {
  readonly url: URL;
  /** As a browser sends it back. */
  readonly cookie: string;
  /** As the hub has set it. */
  readonly attributes: string;
}

export async function begin(hub: TestHub): Promise<Begun> {
  const { status, headers, body } = await hub.call('POST', '/v1/sign-in', { credential: null });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const [cookie = '', ...attributes] = headers.getSetCookie().join().split('; ');
  return { url: new URL(String(body['url'])), cookie, attributes: attributes.join('; ') };
}

/** What the hub says to the answer of a provider. */
export async function end(hub: TestHub, answer: string, cookie: string): Promise<HubAnswer> {
  return hub.call('POST', '/v1/sign-in/answer', { credential: null, body: { answer }, headers: { cookie } });
}

/** Of a hosted AI client, which has no secret. */
export const HOSTED = { client_id: 'hosted', redirect_uri: 'http://127.0.0.1:1/callback' } as const;

/**
 * `oidc-provider` with its own pages: whoever signs in says who they are; their groups are told by its userinfo, and by access
 * tokens for a resource.
 */
export class RealProvider {
  readonly issuer: string;
  readonly #server: Server;

  private constructor(issuer: string, server: Server) {
    this.issuer = issuer;
    this.#server = server;
  }

  /** @param people their groups, by name @param pages where hubs have their pages */
  static async start(
    people: Readonly<Record<string, readonly string[]>>,
    pages: readonly string[],
  ): Promise<RealProvider> {
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT,
          client_secret: SECRET,
          redirect_uris: [...pages],
          grant_types: ['authorization_code'],
        },
        {
          client_id: HOSTED.client_id,
          redirect_uris: [HOSTED.redirect_uri],
          token_endpoint_auth_method: 'none',
          application_type: 'native',
          grant_types: ['authorization_code'],
        },
      ],
      features: {
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx, resource) => ({
            scope: 'openid profile groups',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 600,
          }),
        },
      },
      extraTokenClaims: (_ctx, token) => {
        const who = 'accountId' in token ? token.accountId : '';
        return { groups: [...(people[who] ?? [])], name: `Name of ${who}` };
      },
      claims: { openid: ['sub'], profile: ['name'], groups: ['groups'] },
      scopes: ['openid', 'profile', 'groups'],
      pkce: { required: () => true },
      cookies: { keys: ['of these tests'] },
      findAccount: (_ctx, sub) => ({
        accountId: sub,
        claims: () => ({ sub, name: `Name of ${sub}`, groups: [...(people[sub] ?? [])] }),
      }),
    });
    const answer = provider.callback();
    const server = createServer((req, res) => void answer(req, res));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new RealProvider(issuer, server);
  }

  /** Signs in and agrees, as a browser does. @returns the query with which it is sent back */
  async signIn(url: URL, who: string): Promise<string> {
    const jar = new Map<string, string>();
    let at = url;
    let form: string | null = null;
    for (let step = 0; step < 20; step++) {
      if (at.origin !== this.issuer) return at.search.slice(1);
      const answer: Response = await fetch(at, {
        method: form === null ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { cookie: [...jar].map((each) => each.join('=')).join('; ') },
        ...(form === null ? {} : { body: new URLSearchParams(form) }),
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (cookie.split(';', 1)[0] ?? '').split('=');
        jar.set(name, value);
      }
      const next = answer.headers.get('location');
      const text = await answer.text();
      if (next !== null) [at, form] = [new URL(next, at), null];
      else if (text.includes('value="login"')) form = `prompt=login&login=${who}&password=any`;
      else if (text.includes('value="consent"')) form = 'prompt=consent';
      else throw new Error(`the provider answered ${answer.status}: ${text.slice(0, 500)}`);
    }
    throw new Error('the provider goes round in circles');
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

export interface Lies {
  /** In place of the claims of its token: undefined ones are not there. */
  readonly claims?: Claims;
  /** Signs with a key that it does not publish, under the name of the one that it does. */
  readonly otherKey?: boolean;
  /** Without a signature. */
  readonly unsigned?: boolean;
  /** Calls itself so. */
  readonly issuer?: string;
  /** How it answers to a code. */
  readonly token?: 'never' | 'endless' | 'failing' | 'no-json' | 'elsewhere';
  readonly discovery?: 'never' | 'endless' | 'failing';
}

interface Keys {
  readonly own: CryptoKey;
  readonly other: CryptoKey;
  readonly published: JWK;
}

/** A provider that says what a test wants. It is strict itself: a code is good once, with the verifier and the secret. */
export class LyingProvider {
  lies: Lies = {};
  /** How many codes it has taken. */
  taken = 0;
  readonly issuer: string;
  readonly #server: Server;
  readonly #keys: Keys;
  readonly #codes = new Map<string, { readonly challenge: string; readonly nonce: string }>();

  private constructor(issuer: string, keys: Keys) {
    this.issuer = issuer;
    this.#keys = keys;
    this.#server = createServer((req, res) => {
      this.#answer(req, res).catch((error: unknown) => res.destroy(error as Error));
    });
  }

  static async start(): Promise<LyingProvider> {
    const port = await freePort();
    const [own, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
    const published = { ...(await exportJWK(own.publicKey)), kid: KEY, alg: 'ES256', use: 'sig' };
    const keys = { own: own.privateKey, other: other.privateKey, published };
    const provider = new LyingProvider(`http://127.0.0.1:${port}`, keys);
    provider.#server.listen(port, '127.0.0.1');
    await once(provider.#server, 'listening');
    return provider;
  }

  /** As if a person had signed in there. @returns the query with which the browser is sent back */
  authorize(url: URL): string {
    const asked = url.searchParams;
    const code = randomBytes(16).toString('hex');
    this.#codes.set(code, {
      challenge: asked.get('code_challenge') ?? '',
      nonce: asked.get('nonce') ?? '',
    });
    return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: this.issuer }).toString();
  }

  /** An access token, that of a person of `fleet-admins` unless the claims say otherwise. @param header undefined members are not there */
  async accessToken(resource: string, claims: Claims = {}, header: Claims = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const usual = {
      iss: this.issuer,
      aud: resource,
      sub: 'ada',
      groups: ['fleet-admins'],
      iat: now,
      exp: now + 300,
    };
    const head = { alg: 'ES256', kid: KEY, typ: 'at+jwt', ...header };
    const { own, other, published } = this.#keys;
    const payload = { ...usual, ...claims };
    if (head.alg === 'none')
      return this.#sign(payload).then(
        (text) => `${encoded(head)}.${encoded(payload)}.${text.split('.')[2] || 'x'}`,
      );
    // The public key as a secret, as some libraries once took it.
    const key =
      head.alg === 'HS256'
        ? Buffer.from(JSON.stringify(published))
        : this.lies.otherKey === true
          ? other
          : own;
    return new SignJWT(payload).setProtectedHeader(head).sign(key);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { issuer } = this;
    if (req.url === '/jwks') return json(res, 200, { keys: [this.#keys.published] });
    const isToken = req.url === '/token';
    const how = isToken ? this.lies.token : this.lies.discovery;
    if (how === 'never') return;
    if (how === 'failing') return json(res, 500, { error: 'server_error' });
    if (how === 'endless') return endless(res);
    if (how === 'no-json') {
      res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>');
      return;
    }
    if (how === 'elsewhere') {
      res.writeHead(307, { location: `${issuer}/other` }).end();
      return;
    }
    if (isToken) return this.#token(req, res);
    json(res, 200, {
      issuer: this.lies.issuer ?? issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
    });
  }

  async #token(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = new URLSearchParams(Buffer.concat(await req.toArray()).toString());
    const code = form.get('code') ?? '';
    const given = this.#codes.get(code);
    this.#codes.delete(code);
    this.taken++;
    // RFC 6749 2.3.1: both are encoded as in a form.
    const [id, secret] = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent);
    const isKnown = id === CLIENT && secret === SECRET;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!isKnown) return json(res, 401, { error: 'invalid_client' });
    if (given?.challenge !== challenge) return json(res, 400, { error: 'invalid_grant' });
    const now = Math.floor(Date.now() / 1000);
    const claims: Claims = {
      iss: this.issuer,
      aud: CLIENT,
      sub: 'ada',
      name: 'Ada',
      groups: ['fleet-admins'],
      nonce: given.nonce,
      iat: now,
      exp: now + 300,
      ...this.lies.claims,
    };
    const id_token = await this.#sign(claims);
    json(res, 200, { access_token: 'not used', token_type: 'Bearer', expires_in: 300, id_token });
  }

  async #sign(claims: Claims): Promise<string> {
    const { own, other } = this.#keys;
    if (this.lies.unsigned === true) {
      const parts = [{ alg: 'none' }, claims].map((each) =>
        Buffer.from(JSON.stringify(each)).toString('base64url'),
      );
      return `${parts.join('.')}.`;
    }
    const key = this.lies.otherKey === true ? other : own;
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: KEY }).sign(key);
  }
}

function encoded(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function json(res: ServerResponse, status: number, value: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** 100 MB, if somebody reads so much. */
function endless(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.write('{"more":"');
  let left = 100;
  const more = (): void => {
    while (left-- > 0) if (!res.write('x'.repeat(1_000_000))) return;
    res.end('"}');
  };
  res.on('drain', more);
  more();
}
