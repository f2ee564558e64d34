import { type ChildProcess, execFile, spawn } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { readHubConfig } from '../../bin/hub/config.ts';
import { openAnyDatabase } from '../../bin/hub/database/open.ts';
import type { Engine, HubDatabase } from '../../bin/hub/database/tables.ts';
import { placesIn } from '../../bin/hub/places.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { parseCode } from '../../shared/fleet/code.ts';
import {
  CALLER_CSR_HEADER,
  CALLER_KEY_HEADER,
  type Enrolled,
  type EnrollRequest,
} from '../../shared/fleet/hub-api.ts';
import { newSigningKey, publicJwk } from '../../shared/fleet/signed.ts';
import { readEvents } from '../../shared/http/event-reader.ts';
import { gone } from './events.ts';
import { Databases } from './hub-database.ts';
import type { Postgres } from './postgres.ts';
import { HUB_PROGRAM } from './program.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);

export interface HubAnswer {
  readonly status: number;
  readonly headers: Headers;
  // The tests say what they expect of it.
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  /** Null for none; the first operator's otherwise. */
  readonly credential?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A node as the hub sees it: its keys and what the hub has answered. */
export interface EnrolledNode {
  readonly id: string;
  readonly tlsKey: string;
  readonly signingKey: KeyObject;
  readonly enrolled: Enrolled;
}

/** What a command that fails wrote, and its exit code. @throws Error for one that does not fail */
export async function failing(
  promise: Promise<unknown>,
): Promise<{ readonly code: number; readonly stderr: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { code: number; stderr: string };
  }
  throw new Error('it did not fail');
}

/** svc-hub as a process with a Mosquitto of its own, in a folder of its own, on free ports. */
export class TestHub {
  readonly folder: string;
  readonly port: number;
  readonly httpsPort: number;
  readonly operator: string;
  stderr = '';
  #process: ChildProcess | null = null;
  #databases: Databases | null = null;
  readonly #lines = new EventEmitter();

  private constructor(folder: string, port: number, httpsPort: number, operator: string) {
    this.folder = folder;
    this.port = port;
    this.httpsPort = httpsPort;
    this.operator = operator;
  }

  /** @param more as of `init` */
  static async start(...more: readonly string[]): Promise<TestHub> {
    const hub = await TestHub.init(...more);
    await hub.serve();
    return hub;
  }

  /** With its database in a new one of this engine, which ends with it. */
  static async on(engine: Engine): Promise<TestHub> {
    const databases = await Databases.of(engine);
    const hub = await TestHub.start(...(await databases.flags()));
    hub.#databases = databases;
    return hub;
  }

  /** Where its database is, of one that `on` has started; null: in its folder. */
  get postgres(): Postgres | null {
    return this.#databases?.postgres ?? null;
  }

  /** @param more of the command line, as in `--ws-port 443` */
  static async init(...more: readonly string[]): Promise<TestHub> {
    return TestHub.initIn(join(await tempDir(), 'hub'), ...more);
  }

  /** In this folder. @throws Error what `init` says */
  static async initIn(folder: string, ...more: readonly string[]): Promise<TestHub> {
    const [port, https, broker] = await Promise.all([freePort(), freePort(), freePort()]);
    const ports = ['--port', String(port), '--https-port', String(https), '--broker-port', String(broker)];
    const { stdout } = await run(process.execPath, [
      ...HUB_PROGRAM,
      'init',
      '--dir',
      folder,
      ...ports,
      ...more,
    ]);
    return new TestHub(folder, port, https, stdout.trim().split(/\s+/).at(-1) ?? '');
  }

  /** A hub whose folder is there already: another replica of one. */
  static in(folder: string, port: number, httpsPort: number, operator: string): TestHub {
    return new TestHub(folder, port, httpsPort, operator);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Of its Mosquitto. */
  get brokerPid(): number {
    return this.#process === null ? 0 : this.#brokerOf(this.#process);
  }

  /** The only process that a hub starts; 0 while there is none. */
  #brokerOf({ pid = 0 }: ChildProcess): number {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
  }

  /** Starts it, again after `kill`; it is connected to its broker then. @param env beside this process's */
  async serve(ownBroker = true, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const own = ownBroker ? ['--own-broker'] : [];
    const child = spawn(process.execPath, [...HUB_PROGRAM, 'serve', ...own, '--dir', this.folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#process = child;
    this.stderr = '';
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text: string) => {
      this.stderr += text;
      this.#lines.emit('more');
    });
    child.once('exit', () => this.#lines.emit('error', new Error(`svc-hub has ended: ${this.stderr}`)));
    this.#lines.on('error', () => undefined); // also when nobody waits
    await Promise.all([this.logged('"connected to the broker"'), this.logged('"serving on')]);
  }

  /** Resolves when it has logged this text so many times since its start. */
  async logged(text: string, times = 1): Promise<void> {
    while (this.times(text) < times) await once(this.#lines, 'more');
  }

  /** How often it has logged this text since its start. */
  times(text: string): number {
    return this.stderr.split(text).length - 1;
  }

  /** At once, as in a power cut; its broker ends with it, which is waited for: the next one has the same port. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const broker = this.#brokerOf(child);
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    if (broker > 0) await gone(broker);
  }

  async stop(): Promise<void> {
    await this.kill('SIGTERM');
    await removeDir(join(this.folder, '..'));
    await this.#databases?.end();
  }

  /** A file of its folder. */
  async text(name: string): Promise<string> {
    return readFile(join(this.folder, name), 'utf8');
  }

  /** What its database answers, asked beside it. */
  async sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.inDatabase(
      async ({ queries }) => (await sql.raw<Record<string, unknown>>(text).execute(queries)).rows,
    );
  }

  /** Something with its database, beside it. */
  async inDatabase<T>(work: (database: HubDatabase) => Promise<T>): Promise<T> {
    const places = placesIn(this.folder);
    const database = await openAnyDatabase(places, await readHubConfig(places.config), () => undefined);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  /** The `svc-hub` command about this hub. */
  async command(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly stdout: string; readonly stderr: string }> {
    return run(process.execPath, [...HUB_PROGRAM, ...args, '--dir', this.folder], {
      env: { ...process.env, ...env },
    });
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<HubAnswer> {
    const { credential = this.operator, body, headers } = options;
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type') === 'application/json';
    return {
      status: answer.status,
      headers: answer.headers,
      body: (isJson ? JSON.parse(text) : { text }) as HubAnswer['body'],
    };
  }

  /** The one-time secret of a new code. @param again a node that is enrolled, which it is for */
  async secret(credential = this.operator, again?: string): Promise<string> {
    const query = again === undefined ? '' : `?node=${again}`;
    const { body } = await this.call('POST', `/v1/codes${query}`, { credential });
    const { secret } = parseCode(String(body['code'])) ?? {};
    if (secret === undefined) throw new Error(JSON.stringify(body));
    return secret;
  }

  /** A request to enrol, with new keys. */
  async request(
    id: string,
    secret: string,
  ): Promise<{ readonly body: EnrollRequest; readonly tlsKey: string; readonly signingKey: KeyObject }> {
    const tlsKey = newCertificateKey();
    const signingKey = newSigningKey();
    const { pem: csr } = await certificateRequest(tlsKey);
    const common = {
      secret,
      device_id: id,
      name: `name of ${id}`,
      profile: 'drone',
      version: '0.1.0',
    } as const;
    return { body: { ...common, csr, signing_key: publicJwk(signingKey) }, tlsKey, signingKey };
  }

  async enroll(id: string, secret?: string): Promise<EnrolledNode> {
    const { body, tlsKey, signingKey } = await this.request(id, secret ?? (await this.secret()));
    const answer = await this.call('POST', '/v1/enroll', { credential: null, body });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return { id, tlsKey, signingKey, enrolled: answer.body as unknown as Enrolled };
  }

  /** The node at the broker. */
  async connect({ id, tlsKey, enrolled }: EnrolledNode, options: IClientOptions = {}): Promise<MqttClient> {
    const { ca, certificate: cert, broker } = enrolled;
    return connectAsync(broker, { ca, cert, key: tlsKey, ...MQTT, clientId: id, ...options });
  }

  /** GET /api/mcp/session with these keys. */
  async session(credential: string, signingKey: KeyObject, tlsKey = newCertificateKey()): Promise<HubAnswer> {
    const { der } = await certificateRequest(tlsKey);
    const jwk = Buffer.from(JSON.stringify(publicJwk(signingKey))).toString('base64url');
    const headers = { [CALLER_KEY_HEADER]: jwk, [CALLER_CSR_HEADER]: der.toString('base64url') };
    return this.call('GET', '/api/mcp/session', { credential, headers });
  }

  /** The first event of the stream of nodes that fits. */
  async streamed(
    fits: (event: string, data: Readonly<Record<string, unknown>>) => boolean,
    credential = this.operator,
  ): Promise<Readonly<Record<string, unknown>>> {
    const ended = new AbortController();
    const headers = { authorization: `Bearer ${credential}` };
    const answer = await fetch(`${this.url}/v1/nodes/stream`, { headers, signal: ended.signal });
    if (answer.body === null || answer.status !== 200)
      throw new Error(`the stream answered ${answer.status}`);
    try {
      for await (const { event, data } of readEvents(Readable.fromWeb(answer.body as never)))
        if (fits(event, data as Readonly<Record<string, unknown>>))
          return data as Readonly<Record<string, unknown>>;
    } finally {
      ended.abort();
    }
    throw new Error('the stream has ended');
  }
}

const MQTT = { protocolVersion: 5, reconnectPeriod: 0 } as const;

/** The first message of a topic that fits. */
export async function heard(
  client: MqttClient,
  topic: string,
  fits: (text: string) => boolean = () => true,
): Promise<string> {
  const found = Promise.withResolvers<string>();
  const listen = (name: string, payload: Buffer): void => {
    if (name === topic && fits(payload.toString())) found.resolve(payload.toString());
  };
  client.on('message', listen);
  await client.subscribeAsync(topic, { qos: 1 });
  return found.promise.finally(() => client.off('message', listen));
}
