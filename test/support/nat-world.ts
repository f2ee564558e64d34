import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ROOT } from './node.ts';
import { selfSigned } from './secure.ts';
import { removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);

/** What a router lets through, and how it maps ports. `tcp443`: nothing but TCP to port 443 gets out. */
export type Nat = 'port-restricted' | 'symmetric' | 'tcp443';

/** Where TURN servers can be: each has an address of its own on the internet. */
export const TURN_AT = ['203.0.113.1', '203.0.113.9'] as const;
/** The node's router; its TCP port 443 leads to the node, which stands for whatever way signalling has. */
export const NODE_PUBLIC = '203.0.113.2';
export const VIEWER_PUBLIC = '203.0.113.3';
export const TURN_SECRET = 'a secret that coturn and the node share'.replaceAll(' ', '-');

const HOSTS = ['inet', 'gate-n', 'node', 'gate-v', 'viewer'] as const;
type Host = (typeof HOSTS)[number];
let counter = 0;

/** Null where real TURN servers can run, else why not. */
export function noCoturn(): string | null {
  return existsSync('/usr/bin/turnserver') ? null : 'needs turnserver (Debian: apt-get install coturn)';
}

/** A node and a viewer, each behind a router with NAT, and an internet between them with TURN servers in it. */
export class NatWorld {
  readonly #tag: string;
  readonly #folder: string;
  readonly #turn = new Map<string, ChildProcess>();
  readonly #cables: ChildProcess[] = [];

  private constructor(tag: string, folder: string) {
    this.#tag = tag;
    this.#folder = folder;
  }

  /** @param port of the node's HTTP */
  static async create(port: number, node: Nat, viewer: Nat): Promise<NatWorld> {
    const world = new NatWorld(`svct${process.pid}n${counter++}`, await tempDir());
    await world.#build();
    await world.nat('gate-n', node, port);
    await world.nat('gate-v', viewer, null);
    return world;
  }

  /** What runs a program on that host when put before it. */
  on(host: Host): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name(host)];
  }

  #name(host: Host): string {
    return `${this.#tag}${host}`;
  }

  async #ip(host: Host, ...args: readonly string[]): Promise<void> {
    await run('ip', ['-n', this.#name(host), ...args]);
  }

  async #nft(host: Host, rules: string): Promise<void> {
    await run('ip', ['netns', 'exec', this.#name(host), 'nft', rules]);
  }

  async #build(): Promise<void> {
    for (const host of HOSTS) {
      await run('ip', ['netns', 'add', this.#name(host)]);
      // An address of IPv6 that is there a second later is a change of the network to Chromium, which then loads the page no further.
      for (const which of ['all', 'default'])
        await run('ip', [
          'netns',
          'exec',
          this.#name(host),
          'sysctl',
          '-qw',
          `net.ipv6.conf.${which}.disable_ipv6=1`,
        ]);
      await this.#ip(host, 'link', 'set', 'lo', 'up');
    }
    await this.#ip('inet', 'link', 'add', 'br0', 'type', 'bridge');
    for (const address of TURN_AT) await this.#ip('inet', 'addr', 'add', `${address}/24`, 'dev', 'br0');
    await this.#ip('inet', 'link', 'set', 'br0', 'up');
    for (const [gate, home, outside, inside] of [
      ['gate-n', 'node', NODE_PUBLIC, '10.11.0'],
      ['gate-v', 'viewer', VIEWER_PUBLIC, '10.12.0'],
    ] as const) {
      await this.#cable('inet', gate, `to-${gate}`, 'out');
      await this.#ip('inet', 'link', 'set', `to-${gate}`, 'master', 'br0');
      await this.#ip(gate, 'addr', 'add', `${outside}/24`, 'dev', 'out');
      await this.#cable(gate, home, 'in', 'eth0');
      await this.#ip(gate, 'addr', 'add', `${inside}.1/24`, 'dev', 'in');
      await this.#ip(home, 'addr', 'add', `${inside}.2/24`, 'dev', 'eth0');
      await this.#ip(home, 'route', 'add', 'default', 'via', `${inside}.1`);
      await run('ip', [...this.on(gate).slice(1), 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    }
  }

  async #cable(near: Host, far: Host, device: string, other: string): Promise<void> {
    const end = ['type', 'veth', 'peer', 'name', other, 'netns', this.#name(far)];
    await this.#ip(near, 'link', 'add', device, ...end);
    await this.#ip(near, 'link', 'set', device, 'up');
    await this.#ip(far, 'link', 'set', other, 'up');
  }

  /** Makes a router of that kind. @param port TCP port 443 of its public address leads there on the node; null: nowhere */
  async nat(gate: 'gate-n' | 'gate-v', kind: Nat, port: number | null): Promise<void> {
    const masquerade = kind === 'symmetric' ? 'masquerade random,fully-random' : 'masquerade';
    const dnat = port === null ? '' : `iifname "out" tcp dport 443 dnat to 10.11.0.2:${port};`;
    const only =
      kind === 'tcp443'
        ? 'iifname { "in", "slow0" } tcp dport 443 accept;'
        : 'iifname { "in", "slow0" } accept;';
    await this.#nft(
      gate,
      `table ip nat {
        chain pre { type nat hook prerouting priority -100; ${dnat} }
        chain post { type nat hook postrouting priority 100; oifname "out" ${masquerade}; }
      }
      table ip gate {
        chain forward {
          type filter hook forward priority 0; policy drop;
          ct state established,related accept; ct status dnat accept; ${only}
        }
      }`,
    );
  }

  /** Makes the node's cable one that takes so long each way, as a modem does. */
  async slow(ms: number): Promise<void> {
    const script = join(ROOT, 'test/support/slow-cable.py');
    const ends = [this.#name('gate-n'), '10.13.0.1/30', this.#name('node'), '10.13.0.2/30'];
    const cable = spawn('python3', [script, String(ms), ...ends], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#cables.push(cable);
    await once(createInterface(cable.stdout), 'line');
    await this.#ip('node', 'route', 'replace', 'default', 'via', '10.13.0.1');
    await this.#ip('node', 'addr', 'flush', 'dev', 'eth0');
    await this.#ip('gate-n', 'route', 'replace', '10.11.0.2/32', 'via', '10.13.0.2');
    await this.#ip('node', 'addr', 'add', '10.11.0.2/32', 'dev', 'lo');
  }

  /** Loses that share of the UDP packets that cross the internet, each way. */
  async lose(percent: number): Promise<void> {
    const chain = (hook: string): string =>
      `chain ${hook} { type filter hook ${hook} priority 0; meta l4proto udp numgen random mod 100 < ${percent} drop; };`;
    await this.#nft('gate-v', `table ip lossy { ${chain('forward')} }`);
  }

  /** The packets that leave the node's network for that port, counted from now on. */
  async count(port: number): Promise<() => Promise<number>> {
    const name = `count${port}`;
    await this.#nft(
      'gate-n',
      `table ip ${name} {
        chain seen { type filter hook prerouting priority -200; iifname "in" meta l4proto { tcp, udp } th dport ${port} counter; }
      }`,
    );
    return async () => {
      const list = [...this.on('gate-n').slice(1), 'nft', 'list', 'table', 'ip', name];
      return Number(/packets (\d+)/.exec((await run('ip', list)).stdout)?.[1]);
    };
  }

  /** Another public address for the viewer's network; what came through the old one is lost. */
  async moveViewer(address: string): Promise<void> {
    await this.#ip('gate-v', 'addr', 'flush', 'dev', 'out');
    await this.#ip('gate-v', 'addr', 'add', `${address}/24`, 'dev', 'out');
    // A carrier's NAT forgets too.
    await run('ip', [...this.on('gate-v').slice(1), 'nft', 'add', 'table', 'ip', 'moved']);
  }

  /** Of the TURN server at that address; of nobody's authority. */
  async certificate(address: (typeof TURN_AT)[number]): Promise<{ cert: string; key: string }> {
    const [cert, key] = [join(this.#folder, `${address}.crt`), join(this.#folder, `${address}.key`)];
    if (!existsSync(cert)) await selfSigned('turn', cert, key, address);
    return { cert, key };
  }

  /** A real TURN server, with the example's configuration. */
  async turn(address: (typeof TURN_AT)[number], more: readonly string[] = []): Promise<void> {
    const { cert, key } = await this.certificate(address);
    const [program = '', ...before] = this.on('inet');
    const options = {
      '-c': join(ROOT, 'deploy/turn/turnserver.conf'),
      '--static-auth-secret': TURN_SECRET,
      '-L': address,
      '-E': address,
      '--realm': 'svc.test',
      '--log-file': 'stdout',
      '-m': '1',
      '--pidfile': join(this.#folder, `${address}.pid`),
      '--userdb': join(this.#folder, `${address}.db`),
      '--cert': cert,
      '--pkey': key,
    };
    const server = spawn(
      program,
      [...before, 'turnserver', '-v', ...Object.entries(options).flat(), ...more],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    this.#turn.set(address, server);
    const { promise: up, resolve, reject } = Promise.withResolvers<void>();
    const told: string[] = [];
    createInterface(server.stdout).on('line', (line) => {
      told.push(line);
      for (const [wanted, wake] of this.#waiting)
        if (wanted.test(line)) {
          this.#waiting.delete(wanted);
          wake(line);
        }
      if (line.includes(`TCP listener opened on : ${address}:3478`)) resolve();
      this.log.push(line);
    });
    server.once('exit', (code) => reject(new Error(`turnserver ended with ${code}: ${told.join('\n')}`)));
    await up;
  }

  /** All that the TURN servers wrote. */
  readonly log: string[] = [];
  readonly #waiting = new Map<RegExp, (line: string) => void>();

  /** The next line of a TURN server that fits. */
  async said(wanted: RegExp): Promise<string> {
    const line = this.log.find((each) => wanted.test(each));
    return line ?? new Promise((resolve) => this.#waiting.set(wanted, resolve));
  }

  /** Kills that TURN server; its relayed addresses are gone with it. */
  async killTurn(address: (typeof TURN_AT)[number]): Promise<void> {
    const server = this.#turn.get(address);
    if (server === undefined) throw new Error(`no TURN server at ${address}`);
    this.#turn.delete(address);
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  }

  async destroy(): Promise<void> {
    for (const address of TURN_AT) if (this.#turn.has(address)) await this.killTurn(address);
    for (const cable of this.#cables) {
      cable.stdin?.end();
      await once(cable, 'exit');
    }
    for (const host of HOSTS) await run('ip', ['netns', 'del', this.#name(host)]).catch(() => undefined); // it may not have come that far
    await removeDir(this.#folder);
  }
}
