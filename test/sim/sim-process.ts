import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { FaultMessage } from '../rig/sim/fault-message.ts';
import { SimClient } from './sim-client.ts';

const MAIN = join(import.meta.dirname, '../rig/sim/main.ts');

/** A running svc-sim and one client on it. `await using` stops both. */
export class SimProcess implements AsyncDisposable {
  readonly port: number;
  /** Of each vehicle of a fleet. */
  readonly ports: readonly number[];
  readonly child: ChildProcess;
  readonly #clients: SimClient[] = [];

  readonly #isPx4: boolean;

  private constructor(child: ChildProcess, info: ChildMessage['info'], isPx4: boolean) {
    this.child = child;
    this.#isPx4 = isPx4;
    this.port = info.port;
    this.ports = info.ports;
  }

  /** Starts the simulator as the supervisor does, with PX4 and faults; settles in 60 ms unless `args` say otherwise. */
  static async start(...args: string[]): Promise<SimProcess> {
    const child = spawn(process.execPath, [MAIN, '--port', '0', '--settle', '60', ...args], {
      stdio: ['ignore', 'ignore', process.env['SIM_LOG'] === undefined ? 'ignore' : 'inherit', 'ipc'],
    });
    child.send({ type: 'init', secret: '' });
    for await (const [message] of on(child)) {
      if (message.type === 'ready') return new SimProcess(child, message.info, args.includes('px4'));
    }
    throw new Error('svc-sim ended');
  }

  async connect(port = this.port): Promise<SimClient> {
    const client = await SimClient.connect(port);
    this.#clients.push(client);
    if (this.#isPx4) client.standAsStation(); // or it tells no texts
    return client;
  }

  /** Connects, asks for fast heartbeats and positions, and waits until the vehicle knows where it is. */
  async ready(): Promise<SimClient> {
    const client = await this.connect();
    await client.fastTelemetry();
    return client;
  }

  /** Changes faults at run time; the channel keeps the order, so a later command meets them. */
  async fault(members: Omit<FaultMessage, 'type'>): Promise<void> {
    const message: FaultMessage = { type: 'fault', ...members };
    await new Promise<void>((resolve, reject) => {
      this.child.send(message, (error) => (error === null ? resolve() : reject(error)));
    });
    // The pong says that the message before it has been read.
    const pong = this.#pong();
    this.child.send({ type: 'ping', seq: 1 });
    await pong;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await gone;
  }

  async #pong(): Promise<void> {
    for await (const [message] of on(this.child)) if (message.type === 'pong') return;
  }
}

interface ChildMessage {
  readonly type: string;
  readonly info: { readonly port: number; readonly ports: readonly number[] };
}

async function* on(child: ChildProcess): AsyncGenerator<[ChildMessage]> {
  for (;;) {
    const ended = new AbortController();
    const gone = once(child, 'exit', { signal: ended.signal }).then(
      () => undefined,
      () => undefined,
    );
    const message = await Promise.race([once(child, 'message', { signal: ended.signal }), gone]);
    ended.abort();
    if (message === undefined) return;
    yield message as [ChildMessage];
  }
}
