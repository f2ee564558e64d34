import { type ChildProcessByStdio, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';

const run = promisify(execFile);
let counter = 0;

/** For a node in a namespace: avahi on this machine's bus is in another one, and would publish there for it. */
export const NO_SYSTEM_BUS = { DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/nowhere' } as const;

export interface RemoteRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** One of the host's addresses; see `pool`. */
  readonly from?: string;
  /** A WebSocket handshake; 101 is then the status of one that was accepted, and the socket is closed. */
  readonly upgrade?: boolean;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly body: string;
}

/** Names this machine's ends of the cables. */
const NEAR_PREFIX = 'vh';

/** This machine's addresses on the cables of all tests that run now: another test's are gone when it ends. */
export function cableAddresses(): ReadonlySet<string> {
  const cables = Object.entries(networkInterfaces()).filter(([name]) => name.startsWith(NEAR_PREFIX));
  return new Set(cables.flatMap(([, addresses]) => addresses?.map(({ address }) => address) ?? []));
}

/** Null where this machine can make network namespaces, else why not. */
export function noNamespaces(): string | null {
  if (process.getuid?.() !== 0) return 'needs root';
  try {
    execFileSync('ip', ['netns', 'list'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs iproute2';
  }
}

/**
 * The right to have this machine's addresses of one subnet: two cables with the same one at once would get each other's answers.
 * Whoever wants it while another test has it waits; a process that is gone has none.
 */
class Subnet {
  readonly #held: Server;
  readonly #waiting: ReadonlySet<Socket>;

  private constructor(held: Server, waiting: ReadonlySet<Socket>) {
    this.#held = held;
    this.#waiting = waiting;
  }

  /** @param near an address with prefix length */
  static async take(near: string): Promise<Subnet> {
    const [first = '', second = '', third = ''] = near.split(/[.:/]/);
    const path = `\0svc-test-subnet-${first}.${second}.${near.endsWith('/16') || near.includes(':') ? '' : third}`;
    for (;;) {
      const waiting = new Set<Socket>();
      const server = createServer((socket) => {
        waiting.add(socket);
        socket.on('error', () => undefined); // it has stopped waiting
        socket.on('close', () => waiting.delete(socket));
      });
      server.unref().listen(path);
      // `once` of 'listening' would throw what 'error' brings.
      const taken = await new Promise<boolean>((resolve) =>
        server.once('listening', () => resolve(true)).once('error', () => resolve(false)),
      );
      if (taken) {
        await removeLeft();
        return new Subnet(server, waiting);
      }
      const holder = connect(path);
      holder.on('error', () => undefined); // it has just been given
      await once(holder, 'close');
    }
  }

  give(): void {
    this.#held.close();
    for (const socket of this.#waiting) socket.destroy();
  }
}

/** Removes cables of tests that were killed. */
async function removeLeft(): Promise<void> {
  for (const name of Object.keys(networkInterfaces())) {
    const pid = new RegExp(`^${NEAR_PREFIX}(\\d+)-\\d+$`).exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await run('ip', ['link', 'del', name]).catch((error: unknown) => {
      if (existsSync(`/sys/class/net/${name}`)) throw error; // else another test has removed it
    });
  }
}

/** A host of its own beside this machine, joined by a cable (veth), from which real requests come. */
export class RemoteHost {
  /** This machine's address on the cable. */
  readonly near: string;
  readonly #name: string;
  /** Its end of the cable. */
  readonly #far: string;
  readonly #caller: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;
  readonly #waiting: ((answer: RemoteAnswer | { error: string }) => void)[] = [];

  /** This machine's end. */
  readonly #device: string;
  readonly #subnet: Subnet;

  private constructor(
    name: string,
    device: string,
    far: string,
    near: string,
    caller: ChildProcessByStdio<Writable, Readable, null>,
    subnet: Subnet,
  ) {
    this.#subnet = subnet;
    this.#name = name;
    this.#device = device;
    this.#far = far;
    this.near = near;
    this.#caller = caller;
    this.#lines = createInterface(caller.stdout);
    this.#lines.on('line', (line) => this.#waiting.shift()?.(JSON.parse(line) as RemoteAnswer));
  }

  /**
   * @param near this machine's address on the cable, with prefix length
   * @param far the remote host's
   * @param pool a block of further addresses of the remote host, all of which it may call from
   */
  static async create(near: string, far: string, pool?: string): Promise<RemoteHost> {
    const name = `svct${process.pid}-${counter++}`;
    const [here, there] = [`${NEAR_PREFIX}${process.pid}-${counter}`, `vn${process.pid}-${counter}`];
    const family = near.includes(':') ? ['-6'] : [];
    const nodad = near.includes(':') ? ['nodad'] : [];
    const ip = async (...args: string[]) => run('ip', args);
    const subnet = await Subnet.take(near);
    await ip('netns', 'add', name);
    await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name);
    await ip(...family, 'addr', 'add', near, 'dev', here, ...nodad);
    await ip('link', 'set', here, 'up');
    await ip('-n', name, ...family, 'addr', 'add', far, 'dev', there, ...nodad);
    await ip('-n', name, 'link', 'set', there, 'up');
    await ip('-n', name, 'link', 'set', 'lo', 'up');
    if (pool !== undefined) {
      await ip('-n', name, 'route', 'add', 'local', pool, 'dev', 'lo');
    }
    const script = join(import.meta.dirname, 'remote-caller.ts');
    const caller = spawn('ip', ['netns', 'exec', name, process.execPath, script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return new RemoteHost(name, here, there, near.replace(/\/\d+$/, ''), caller, subnet);
  }

  /** Makes the cable towards the host thin, with a queue of 400 ms before it. @param kbit a second; null: as it was */
  async thin(kbit: number | null): Promise<void> {
    const qdisc = ['qdisc', kbit === null ? 'del' : 'replace', 'dev', this.#device, 'root'];
    const tbf = kbit === null ? [] : ['tbf', 'rate', `${kbit}kbit`, 'burst', '4kb', 'latency', '400ms'];
    await run('tc', [...qdisc, ...tbf]);
  }

  /** The same towards this machine. */
  async thinFar(kbit: number): Promise<void> {
    const tbf = ['tbf', 'rate', `${kbit}kbit`, 'burst', '4kb', 'latency', '400ms'];
    await run('ip', [...this.prefix.slice(1), 'tc', 'qdisc', 'replace', 'dev', this.#far, 'root', ...tbf]);
  }

  /** Loses that share of the UDP packets towards the host. */
  async lose(percent: number): Promise<void> {
    const rule = `oifname ${this.#device} meta l4proto udp numgen random mod 100 < ${percent} drop`;
    await run('nft', [
      `table inet ${this.#device} { chain out { type filter hook output priority 0; ${rule}; }; }`,
    ]);
  }

  /** Loses that share of all packets, each way; 0: none. */
  async loseAll(percent: number): Promise<void> {
    await this.#forget(`${this.#device}-all`);
    if (percent === 0) return;
    const chain = (hook: 'input' | 'output', match: 'iifname' | 'oifname'): string =>
      `chain ${hook} { type filter hook ${hook} priority 0; ${match} ${this.#device} numgen random mod 100 < ${percent} drop; };`;
    await run('nft', [
      `table inet ${this.#device}-all { ${chain('input', 'iifname')} ${chain('output', 'oifname')} }`,
    ]);
  }

  /** Takes the cable out, or puts it back. */
  async plug(connected: boolean): Promise<void> {
    await run('ip', ['link', 'set', this.#device, connected ? 'up' : 'down']);
  }

  /** Sends that destination out over the cable. */
  async route(destination: string): Promise<void> {
    await run('ip', ['-n', this.#name, 'route', 'add', destination, 'dev', this.#far]);
  }

  /** Gives that host another address, or takes it. */
  async address(verb: 'add' | 'del', cidr: string): Promise<void> {
    await run('ip', ['-n', this.#name, 'addr', verb, cidr, 'dev', this.#far]);
  }

  /** What runs a program on that host when put before it. */
  get prefix(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  async call(request: RemoteRequest): Promise<RemoteAnswer> {
    const answer = await new Promise<RemoteAnswer | { error: string }>((resolve) => {
      this.#waiting.push(resolve);
      this.#caller.stdin.write(`${JSON.stringify(request)}\n`);
    });
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }

  async #forget(table: string): Promise<void> {
    await run('nft', ['delete', 'table', 'inet', table]).catch(() => undefined); // there may be none
  }

  async destroy(): Promise<void> {
    const gone = once(this.#caller, 'exit');
    this.#caller.stdin.end();
    await gone;
    await this.#forget(this.#device);
    await this.#forget(`${this.#device}-all`);
    await run('ip', ['netns', 'del', this.#name]);
    // The namespace takes the cable with it, but later; by then its addresses may be another test's.
    await run('ip', ['link', 'del', this.#device]).catch(() => undefined); // it may have gone
    this.#subnet.give();
  }
}
