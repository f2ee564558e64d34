import type { KeyObject } from 'node:crypto';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createPlain,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Authority, issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { caHashOf, formatCode, newCodeSecret } from '../../shared/fleet/code.ts';
import type { Enrolled, EnrollRequest } from '../../shared/fleet/hub-api.ts';
import {
  newSigningKey,
  publicJwk,
  signStatement,
  thumbprint,
  verifyStatement,
} from '../../shared/fleet/signed.ts';

export interface FakeHubOptions {
  /** Whom its own certificate names; null for plain http. */
  readonly names?: readonly string[] | null;
  /** Who signs its own certificate, and how; the fleet's authority as a server unless told. */
  readonly certificate?: (csr: string, authority: Authority) => Promise<string>;
  /** A real broker, with its authority. */
  readonly broker?: { readonly url: string; readonly authority: Authority };
}

/** What a hub can do wrong: hang up, say something else. Undefined: it answers as it should. */
type Spoil = (res: ServerResponse, path: string, answer: unknown) => 'spoilt' | undefined;

/** The part of a hub that a node enrols with, which can be broken at each step. */
export class FakeHub {
  readonly fleet = 'f-test';
  readonly authority: Authority;
  readonly url: string;
  /** What it was asked, with the bodies. */
  readonly asked: { readonly path: string; readonly body: string }[] = [];
  /** By node, the key of the newest enrolment. */
  readonly nodes = new Map<string, EnrollRequest['signing_key']>();
  readonly codes = new Set<string>();
  ca: string;
  /** Before it does what it was asked, and after. */
  before: Spoil = () => undefined;
  after: Spoil = () => undefined;
  readonly #broker: string;
  readonly #signing: KeyObject = newSigningKey();
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #issued = 0;

  private constructor(authority: Authority, server: Server, url: string, broker: string) {
    this.authority = authority;
    this.ca = authority.certificate;
    this.#server = server;
    this.url = url;
    this.#broker = broker;
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('request', (req, res) => {
      this.#answer(req, res).catch((error: unknown) => res.destroy(error as Error));
    });
  }

  static async start({ names = ['127.0.0.1'], certificate, broker }: FakeHubOptions = {}): Promise<FakeHub> {
    const authority = broker?.authority ?? (await newAuthority('svc fleet f-test', Date.now()));
    let server: Server;
    if (names === null) server = createPlain();
    else {
      const key = newCertificateKey();
      const { pem } = await certificateRequest(key);
      const cert =
        (await certificate?.(pem, authority)) ??
        (await issueCertificate(authority, pem, { server: 'hub', names }, Date.now()));
      server = createSecure({ key, cert });
    }
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `${names === null ? 'http' : 'https'}://127.0.0.1:${port}`;
    return new FakeHub(authority, server, url, broker?.url ?? 'mqtts://127.0.0.1:8883');
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  /** A code for one node. */
  code(): string {
    const secret = newCodeSecret();
    this.codes.add(secret);
    return formatCode({ caHash: caHashOf(new X509Certificate(this.authority.certificate)), secret });
  }

  get paths(): readonly string[] {
    return this.asked.map(({ path }) => path);
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? '';
    const body = Buffer.concat((await req.toArray()) as Buffer[]).toString();
    this.asked.push({ path, body });
    if (this.before(res, path, null) !== undefined) return;
    if (path === '/v1/ca') {
      res.end(this.ca);
      return;
    }
    const answer =
      path === '/v1/enroll' ? await this.#enrol(JSON.parse(body)) : await this.#renew(JSON.parse(body));
    if (this.after(res, path, answer) !== undefined) return;
    res.statusCode = answer === null ? 403 : 201;
    res.end(JSON.stringify(answer ?? { code: 'E_CODE', detail: 'This code is used up.' }));
  }

  async #enrol({ secret, device_id: id, csr, signing_key }: EnrollRequest): Promise<Enrolled | null> {
    if (!this.codes.delete(secret)) return null;
    this.nodes.set(id, signing_key);
    return this.#enrolled(id, csr);
  }

  async #renew({ statement }: { statement: string }): Promise<Enrolled | null> {
    const { payload } = await verifyStatement('svc-renew', statement, async (kid) => {
      for (const key of this.nodes.values()) if ((await thumbprint(key)) === kid) return key;
      return null;
    }).catch(() => ({ payload: null }));
    return payload === null ? null : this.#enrolled(payload.node, payload.csr);
  }

  async #enrolled(node: string, csr: string): Promise<Enrolled> {
    const { fleet, authority } = this;
    const jwk = publicJwk(this.#signing);
    const policy = { fleet, seq: ++this.#issued, iat: 1, keys: [jwk], revoked: [] };
    return {
      fleet,
      node,
      broker: this.#broker,
      ca: authority.certificate,
      certificate: await issueCertificate(authority, csr, { client: node }, Date.now()),
      policy: await signStatement('svc-policy', policy, this.#signing, await thumbprint(jwk)),
    };
  }
}
