import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { mosquittoAcl, mosquittoConfig } from '../../bin/hub/broker/mosquitto-files.ts';
import { type Authority, issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { CALLER_ID } from '../../shared/fleet/topics.ts';
import { askAgain } from './ask-again.ts';

const BINARY = '/usr/sbin/mosquitto';

/** Why these tests cannot run here; null where they can. */
export function noMosquitto(): string | null {
  try {
    execFileSync(BINARY, ['-h'], { stdio: 'ignore' });
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'mosquitto is not installed' : null;
  }
}

/** PEM of a client: what it connects with. */
export interface ClientIdentity {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Debian's Mosquitto with the hub's own configuration and rules, on a free port of loopback (or another address), with its own authority. */
export class Broker {
  readonly fleet: string;
  readonly port: number;
  readonly wsPort: number;
  readonly authority: Authority;
  readonly #folder: string;
  readonly #address: string;
  readonly #callers = new Set<string>();
  readonly #observers: string[] = [];
  #denied: readonly string[] = [];
  #process: ChildProcess | null = null;

  private constructor(
    fleet: string,
    port: number,
    wsPort: number,
    authority: Authority,
    folder: string,
    address: string,
  ) {
    this.fleet = fleet;
    this.port = port;
    this.wsPort = wsPort;
    this.authority = authority;
    this.#folder = folder;
    this.#address = address;
  }

  /** @param folder of the test; files are written below it */
  static async start(
    folder: string,
    fleet = 'f-test',
    given: Authority | null = null,
    port?: number,
    address = '127.0.0.1',
  ): Promise<Broker> {
    const authority = given ?? (await newAuthority(`svc fleet ${fleet}`, Date.now()));
    const broker = new Broker(
      fleet,
      port ?? (await freePort()),
      await freePort(),
      authority,
      join(folder, 'mosquitto'),
      address,
    );
    await mkdir(broker.#folder, { recursive: true });
    const key = newCertificateKey();
    const { pem } = await certificateRequest(key);
    const names = ['localhost', address];
    await writeFile(broker.#file('ca.pem'), authority.certificate);
    await writeFile(
      broker.#file('broker.pem'),
      await issueCertificate(authority, pem, { server: 'broker', names }, Date.now()),
    );
    await writeFile(broker.#file('broker.key'), key, { mode: 0o600 });
    await writeFile(
      broker.#file('mosquitto.conf'),
      mosquittoConfig({
        host: address,
        port: broker.port,
        ws: { host: '127.0.0.1', port: broker.wsPort },
        ca: broker.#file('ca.pem'),
        certificate: broker.#file('broker.pem'),
        key: broker.#file('broker.key'),
        acl: broker.#file('acl'),
        persistence: broker.#folder,
        user: userInfo().username,
      }),
    );
    await broker.deny([]);
    await broker.run();
    return broker;
  }

  /** Of the process that runs. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get url(): string {
    return `mqtts://${this.#address}:${this.port}`;
  }

  /** Its file of rules, and that of its process id. */
  get acl(): string {
    return this.#file('acl');
  }

  get pidFile(): string {
    return this.#file('pid');
  }

  /** The same by WebSocket. */
  get wsUrl(): string {
    return `wss://127.0.0.1:${this.wsPort}/mqtt`;
  }

  /** Writes the rules anew, and has them read. */
  async deny(ids: readonly string[]): Promise<void> {
    this.#denied = ids;
    const others = this.#observers.map((id) => `\nuser ${id}\ntopic read svc/1/${this.fleet}/#\n`);
    const rules = mosquittoAcl(this.fleet, [...this.#callers], ids);
    await writeFile(this.#file('acl'), [rules, ...others].join(''), { mode: 0o600 });
    this.#process?.kill('SIGHUP');
  }

  /** A client that may read everything, as the hub may. */
  async observer(id: string): Promise<ClientIdentity> {
    this.#observers.push(id);
    await this.deny(this.#denied);
    return this.identity(id);
  }

  /** Starts it, again after `kill`. */
  async run(): Promise<void> {
    const child = spawn(BINARY, ['-c', this.#file('mosquitto.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-2000); // it is shown only where the start fails
    });
    this.#process = child;
    await askAgain(
      'mosquitto listens',
      async () => {
        if (child.exitCode !== null) throw new Error(`mosquitto has ended: ${said}`);
        return isListening(this.#address, this.port);
      },
      Boolean,
    );
    await writeFile(this.pidFile, String(child.pid));
  }

  /** At once, as in a power cut. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** As the hub does for a credential: the rules name this machine. */
  async permit(id: string): Promise<void> {
    if (!CALLER_ID.test(id) || this.#callers.has(id)) return;
    this.#callers.add(id);
    await this.deny(this.#denied);
  }

  async identity(id: string): Promise<ClientIdentity> {
    await this.permit(id);
    const key = newCertificateKey();
    const { pem } = await certificateRequest(key);
    const cert = await issueCertificate(this.authority, pem, { client: id }, Date.now());
    return { ca: this.authority.certificate, cert, key };
  }

  /** A client with a certificate of its own. */
  async client(id: string, options: IClientOptions = {}): Promise<MqttClient> {
    return connectAsync(this.url, {
      ...(await this.identity(id)),
      clientId: id,
      protocolVersion: 5,
      reconnectPeriod: 0,
      ...options,
    });
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

/** By TLS: before Mosquitto answers that, a signal to read its rules again would end it. */
async function isListening(host: string, port: number): Promise<boolean> {
  const socket = connectTls({ host, port, rejectUnauthorized: false });
  return new Promise((resolve) => {
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
