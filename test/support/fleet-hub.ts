import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { MqttClient } from 'mqtt';
import type { Scope } from '../../shared/auth/scopes.ts';
import { issueCertificate } from '../../shared/certificates/authority.ts';
import {
  CALLER_CSR_HEADER,
  CALLER_KEY_HEADER,
  type CallerSession,
  type NodeEntry,
} from '../../shared/fleet/hub-api.ts';
import { requestClass } from '../../shared/fleet/request-class.ts';
import {
  bodySha256,
  NotBelieved,
  newSigningKey,
  publicJwk,
  signStatement,
  thumbprint,
  verifyStatement,
} from '../../shared/fleet/signed.ts';
import { callerOf, topics } from '../../shared/fleet/topics.ts';
import type {
  CallStatement,
  Confirm,
  MachineToken,
  PublicJwk,
} from '../../shared/schemas/fleet-statements.ts';
import { Broker } from './mosquitto.ts';

type Json = Readonly<Record<string, unknown>>;

const HOUR_MS = 3_600_000;

interface Credential {
  readonly id: string;
  readonly scopes: readonly Scope[];
  readonly nodes: readonly string[] | null;
  /** The first key that used it. */
  bound: PublicJwk | null;
  revoked: boolean;
}

/** As much of svc-hub as a connector asks for, with a real broker. */
export class FleetHub implements AsyncDisposable {
  readonly broker: Broker;
  readonly nodes = new Map<string, FleetTestNode>();
  /** The requests that came, `METHOD /path`. */
  readonly came: string[] = [];
  /** What sessions say instead of the broker's address. */
  brokerUrl: string | null = null;
  readonly #key = newSigningKey();
  readonly #credentials = new Map<string, Credential>();
  readonly #streams = new Map<ServerResponse, Credential>();
  #server: Server | null = null;
  #port = 0;

  private constructor(broker: Broker) {
    this.broker = broker;
  }

  static async start(folder: string): Promise<FleetHub> {
    const hub = new FleetHub(await Broker.start(folder));
    await hub.listen();
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get publicKey(): PublicJwk {
    return publicJwk(this.#key);
  }

  /** A new machine credential. */
  credential(scopes: readonly Scope[], nodes: readonly string[] | null = null): string {
    const id = `mc_${randomBytes(8).toString('hex')}`;
    const credential = `svc_mc_${randomBytes(32).toString('base64url')}`;
    this.#credentials.set(credential, { id, scopes, nodes, bound: null, revoked: false });
    return credential;
  }

  revoke(credential: string): void {
    const found = this.#credentials.get(credential);
    if (found !== undefined) found.revoked = true;
  }

  async node(id: string, name = id): Promise<FleetTestNode> {
    const node = await FleetTestNode.start(this, id, name);
    this.nodes.set(id, node);
    this.tell(node);
    return node;
  }

  /** Tells all listeners what the hub knows of a node now. */
  tell(node: FleetTestNode): void {
    for (const [stream, { nodes }] of this.#streams)
      if (nodes === null || nodes.includes(node.id)) send(stream, 'node', node.entry());
  }

  async remove(node: FleetTestNode): Promise<void> {
    await node.leave();
    this.nodes.delete(node.id);
    for (const stream of this.#streams.keys()) send(stream, 'removed', { id: node.id });
  }

  async listen(): Promise<void> {
    this.#server = createServer((req, res) => void this.#answer(req, res));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Nobody answers any more. */
  async away(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.away();
    for (const node of this.nodes.values()) await node.leave();
    await this.broker.kill();
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    this.came.push(`${req.method ?? ''} ${path}`);
    const [, bearer = ''] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
    const credential = this.#credentials.get(bearer);
    if (credential === undefined || credential.revoked)
      return json(res, 401, { code: 'E_UNAUTHENTICATED', detail: 'This credential is not honoured.' });
    switch (path) {
      case '/v1/me':
        return json(res, 200, { id: credential.id });
      case '/v1/flights':
        return json(res, 200, { flights: [{ id: 7, node: 'drone-1', armed_s: 60 }], next: null });
      case '/v1/flights/7':
        return json(res, 200, { id: 7, node: 'drone-1', findings: [], track: { type: 'Feature' } });
      case '/v1/nodes/stream':
        return this.#stream(credential, res);
      case '/api/mcp/session':
        return this.#session(credential, req, res);
      default:
        return json(res, 404, { code: 'E_NOT_FOUND', detail: 'Nothing at this path.' });
    }
  }

  #stream(credential: Credential, res: ServerResponse): void {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const mine = [...this.nodes.values()].filter(({ id }) => credential.nodes?.includes(id) ?? true);
    for (const node of mine) send(res, 'node', node.entry());
    send(res, 'ready', { total: mine.length });
    this.#streams.set(res, credential);
    res.once('close', () => this.#streams.delete(res));
  }

  async #session(credential: Credential, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text = (name: string): Buffer => Buffer.from(String(req.headers[name] ?? ''), 'base64url');
    const jwk = JSON.parse(text(CALLER_KEY_HEADER).toString('utf8')) as PublicJwk;
    credential.bound ??= jwk;
    if (credential.bound.x !== jwk.x)
      return json(res, 403, { code: 'E_SCOPE', detail: 'The credential belongs to another key.' });
    const { id, scopes, nodes } = credential;
    await this.broker.permit(id);
    const { fleet, authority, url, wsUrl } = this.broker;
    const csr = text(CALLER_CSR_HEADER);
    const iat = Math.floor(Date.now() / 1000);
    const claims: MachineToken = { sub: id, fleet, scopes, nodes, cnf: { jwk }, iat, exp: iat + 3600 };
    const session: CallerSession = {
      id,
      operator: 'tester',
      fleet,
      scopes,
      nodes,
      broker: this.brokerUrl ?? url,
      broker_ws: wsUrl,
      ca: authority.certificate,
      certificate: await issueCertificate(authority, csr, { client: id }, Date.now()),
      token: await signStatement(
        'svc-machine-token',
        claims,
        this.#key,
        await thumbprint(publicJwk(this.#key)),
      ),
      expires_at: Date.now() + HOUR_MS,
    };
    return json(res, 200, session);
  }
}

export type FleetAnswer = readonly [status: number, body: unknown];
/** What a node does with its signed reply: sends it, or something else, or nothing. */
export type Deliver = (
  reply: string,
  send: (jws: string) => void,
  call: CallStatement,
) => void | Promise<void>;

/** A node at the broker, which verifies as a real one does: token, key, node, nonce, jti, a person's confirm. */
export class FleetTestNode {
  readonly id: string;
  name: string;
  /** By `METHOD /path`. */
  readonly answers = new Map<
    string,
    FleetAnswer | 'silent' | ((call: CallStatement) => FleetAnswer | Promise<FleetAnswer>)
  >();
  /** What ran, `METHOD /path`. */
  readonly ran: string[] = [];
  /** Why calls were not believed. */
  readonly refused: string[] = [];
  /** Whose confirm counts. */
  operators: readonly PublicJwk[] = [];
  deliver: Deliver = (reply, deliver) => deliver(reply);
  readonly key = newSigningKey();
  boot = newBoot();
  /** Those before it are old; the hub may still have one of them. */
  nonce = 1;
  /** The nonce that the hub tells. */
  told: string;
  online = true;
  readonly #hub: FleetHub;
  readonly #seen = new Set<string>();
  #client: MqttClient | null = null;

  private constructor(hub: FleetHub, id: string, name: string) {
    this.#hub = hub;
    this.id = id;
    this.name = name;
    this.told = `${this.boot}.1`;
    this.answers.set('GET /api/status', [200, { version: '1', fc_connected: true, armed: false, name }]);
    this.answers.set('GET /healthz', [200, { ok: true }]);
  }

  static async start(hub: FleetHub, id: string, name: string): Promise<FleetTestNode> {
    const node = new FleetTestNode(hub, id, name);
    await node.join();
    return node;
  }

  async join(): Promise<void> {
    const { broker } = this.#hub;
    this.#client = await broker.client(this.id, { properties: { sessionExpiryInterval: 0 } });
    await this.#client.subscribeAsync(
      [topics.machineCalls(broker.fleet, this.id), topics.personCalls(broker.fleet, this.id)],
      { qos: 1 },
    );
    if (this.#client.stream instanceof Socket) this.#client.stream.setNoDelay(true);
    this.#client.on('message', (topic, payload) => void this.#take(topic, payload.toString('utf8')));
    this.online = true;
  }

  async leave(): Promise<void> {
    this.online = false;
    await this.#client?.endAsync(true);
    this.#client = null;
  }

  reboot(): void {
    this.boot = newBoot();
    this.#seen.clear();
  }

  /** @param name as whom it is signed */
  async sign(call: CallStatement, status: number, body: unknown, name = this.id): Promise<string> {
    const reply = { node: name, jti: call.jti, status, body };
    return signStatement('svc-reply', reply, this.key, await thumbprint(publicJwk(this.key)));
  }

  publish(topic: string, payload: string): void {
    this.#client?.publish(topic, payload, { qos: 1 });
  }

  entry(): NodeEntry {
    return {
      id: this.id,
      name: this.name,
      profile: 'drone',
      version: '1',
      enrolled_at: 0,
      signing_key: publicJwk(this.key),
      online: this.online,
      seen_at: Date.now(),
      status: { armed: false, fc_connected: true, mode: 'LOITER', battery_percent: 80, nonce: this.told },
      alarm: null,
    };
  }

  async #take(topic: string, jws: string): Promise<void> {
    const caller = callerOf(topic) ?? '';
    const reply = (body: string): void =>
      this.publish(topics.reply(this.#hub.broker.fleet, caller, this.id), body);
    try {
      const { call, confirm } = await this.#believe(caller, jws);
      const [status, body] = (await this.#answer(call, confirm)) ?? [];
      if (status === undefined) return;
      await this.deliver(await this.sign(call, status, body), reply, call);
    } catch (error) {
      if (!(error instanceof NotBelieved)) throw error;
      this.refused.push(error.message);
    }
  }

  async #believe(
    caller: string,
    jws: string,
  ): Promise<{ readonly call: CallStatement; readonly confirm: string | undefined }> {
    const { publicKey, broker } = this.#hub;
    const { payload: call, confirm } = await verifyStatement('svc-call', jws, async (_kid, { token }) => {
      const { payload } = await verifyStatement('svc-machine-token', token ?? '', () => publicKey);
      const reaches = payload.nodes?.includes(this.id) ?? true;
      const valid =
        payload.exp * 1000 > Date.now() && payload.fleet === broker.fleet && payload.sub === caller;
      if (!reaches || !valid) throw new NotBelieved('the token is not for this');
      return payload.cnf.jwk;
    });
    if (call.node !== this.id) throw new NotBelieved('for another node');
    return { call, confirm };
  }

  async #answer(call: CallStatement, confirm: string | undefined): Promise<FleetAnswer | null> {
    const fresh = `${this.boot}.${this.nonce}`;
    const [boot, number] = call.nonce.split('.');
    if (boot !== this.boot)
      return [409, { code: 'E_OUTCOME_UNKNOWN', detail: 'Another boot.', nonce: fresh }];
    if (Number(number) < this.nonce) return [401, { code: 'E_STALE', detail: 'Old.', nonce: fresh }];
    if (this.#seen.has(call.jti)) return null;
    this.#seen.add(call.jti);
    const problem = await this.#unconfirmed(call, confirm);
    if (problem !== null) return [403, { code: 'E_CONFIRM', detail: problem }];
    const key = `${call.method} ${call.path.split('?', 1)[0] ?? ''}`;
    this.ran.push(key);
    const found = this.answers.get(key) ?? ([404, { code: 'E_NOT_FOUND', detail: 'nothing' }] as const);
    const answer = typeof found === 'function' ? await found(call) : found;
    return answer === 'silent' ? null : answer;
  }

  /** Why a person has not confirmed it as this call needs; null if that is fine. */
  async #unconfirmed(call: CallStatement, confirm: string | undefined): Promise<string | null> {
    const scope = requestClass(call);
    if (scope !== 'flight' && scope !== 'destructive') return null;
    if (confirm === undefined) return 'no operator has confirmed it';
    const keys = new Map(
      await Promise.all(this.operators.map(async (key) => [await thumbprint(key), key] as const)),
    );
    let payload: Confirm;
    try {
      ({ payload } = await verifyStatement('svc-confirm', confirm, (kid) => keys.get(kid) ?? null));
    } catch (error) {
      if (error instanceof NotBelieved) return error.message;
      throw error;
    }
    const { how, body_sha256: hash, ...named } = payload;
    const { node, method, path, nonce, jti } = call;
    const same = JSON.stringify(named) === JSON.stringify({ node, method, path, nonce, jti });
    if (!same || hash !== bodySha256(call.body)) return 'the confirm is for another call';
    return scope === 'destructive' && how !== 'confirm' ? 'holding is not enough' : null;
  }
}

function newBoot(): string {
  return randomBytes(6).toString('hex');
}

function send(res: ServerResponse, event: string, data: Json): void {
  res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function json(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
