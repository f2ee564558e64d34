import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { worksAtLast } from '../ask-again.ts';
import { removeDir, tempDir } from '../temp.ts';

const run = promisify(execFile);
const HERE = import.meta.dirname;
const READY_MS = 20_000;

/** A program that runs beside the test, and its end. */
class Side {
  readonly #child: ChildProcess;
  output = '';

  constructor(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'close');
    this.#child.kill('SIGTERM');
    await gone;
  }
}

/** A system bus of the test's own, and the real nmcli that asks on it. Below it: NetworkManager's mock, or the real daemon. */
abstract class Bus {
  readonly base: string;
  /** Goes before PATH: an nmcli that keeps what it was asked for. */
  readonly bin: string;
  /** Where NetworkManager has its connections. */
  readonly profiles: string;
  readonly links: string;
  readonly address: string;
  #bus: Side | null = null;

  protected constructor(base: string) {
    this.base = base;
    this.bin = join(base, 'bin');
    this.profiles = join(base, 'etc/system-connections');
    this.links = join(base, 'links');
    this.address = `unix:path=${join(base, 'bus.sock')}`;
  }

  protected async startBus(): Promise<void> {
    for (const folder of [
      this.bin,
      this.profiles,
      this.links,
      join(this.base, 'var'),
      join(this.base, 'run'),
    ])
      await mkdir(folder, { recursive: true });
    await this.restorePrograms();
    await writeFile(join(this.bin, 'bus'), this.address);
    const config = join(this.base, 'bus.conf');
    const text = await readFile(join(HERE, 'bus.conf'), 'utf8');
    await writeFile(config, text.replace('@BUS@', join(this.base, 'bus.sock')));
    this.#bus = new Side('dbus-daemon', [`--config-file=${config}`, '--nofork', '--nopidfile']);
    await this.until(async () => this.dbus('org.freedesktop.DBus.ListNames'));
  }

  /** The real nmcli and mmcli again, after a test had put others there. */
  async restorePrograms(): Promise<void> {
    for (const name of ['nmcli', 'mmcli']) await copyFile(join(HERE, 'nmcli'), join(this.bin, name));
  }

  protected async dbus(
    method: string,
    destination = 'org.freedesktop.DBus',
    path = '/',
    ...more: readonly string[]
  ): Promise<string> {
    const args = [`--bus=${this.address}`, '--print-reply', `--dest=${destination}`, path, method, ...more];
    return (await run('dbus-send', args)).stdout;
  }

  /** The programs need some time, and do not say when they are ready. */
  protected async until(works: () => Promise<unknown>): Promise<void> {
    await worksAtLast('NetworkManager is ready', works, READY_MS);
  }

  /** For a node that uses it, and its helper. */
  get env(): Readonly<Record<string, string>> {
    const path = `${this.bin}:${process.env['PATH'] ?? ''}`;
    return {
      PATH: path,
      SVC_HELPER_PATH: `${this.bin}:/usr/bin:/bin`,
      SVC_HELPER_PROFILE_DIR: this.profiles,
      SVC_LINK_DIR: this.links,
      SVC_NETWORK_MANAGER_RUN: join(this.base, 'run'),
    };
  }

  /** All that nmcli was asked for, a line each, an argument in brackets. */
  async asked(): Promise<string> {
    return readFile(join(this.bin, 'asked'), 'utf8');
  }

  /** The real nmcli. */
  async nmcli(...args: readonly string[]): Promise<string> {
    return (await run('nmcli', args, { env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: this.address } }))
      .stdout;
  }

  async stop(): Promise<void> {
    await this.#bus?.stop();
    await removeDir(this.base);
  }
}

/** The mock: one Wi-Fi card (wlan0) that hears three networks, and one wired card (eth0). */
export class MockNetworkManager extends Bus {
  #mock: Side | null = null;

  static async start(): Promise<MockNetworkManager> {
    const mock = new MockNetworkManager(await tempDir());
    await mock.startBus();
    await mock.startDaemon();
    return mock;
  }

  async startDaemon(): Promise<void> {
    // The one of the machine: dbusmock is a package of it.
    const args = ['-m', 'dbusmock', '--system', '--template', join(HERE, 'mock.py')];
    this.#mock = new Side('/usr/bin/python3', args, { DBUS_SYSTEM_BUS_ADDRESS: this.address });
    const name = 'org.freedesktop.NetworkManager';
    const rig = async (): Promise<string> =>
      this.dbus('org.freedesktop.DBus.Mock.Rig', name, '/org/freedesktop/NetworkManager');
    await this.until(async () => this.dbus('org.freedesktop.DBus.Peer.Ping', name));
    await rig().catch((error: unknown) => {
      throw new Error(`${String(error)} ${this.#mock?.output ?? ''}`);
    });
  }

  async stopDaemon(): Promise<void> {
    await this.#mock?.stop();
  }

  override async stop(): Promise<void> {
    await this.stopDaemon();
    await super.stop();
  }
}

const CONF = `[main]
plugins=keyfile
auth-polkit=false
dhcp=internal
dns=none
rc-manager=unmanaged
[keyfile]
unmanaged-devices=interface-name:wwan*
[device]
match-device=interface-name:eth*
managed=1
`;

/** The real daemon in a network namespace of its own, with a cable (eth0) to another one in which dnsmasq gives addresses. */
export class RealNetworkManager extends Bus {
  readonly #cables: number;
  readonly #host: string;
  readonly #peer: string;
  #daemon: Side | null = null;
  #dnsmasq: Side | null = null;
  #modems: Side | null = null;

  private constructor(base: string, cables: number) {
    super(base);
    this.#cables = cables;
    this.#host = `nmh${process.pid}`;
    this.#peer = `nmp${process.pid}`;
  }

  /** @param cables how many: eth0 to 192.168.77.0/24, eth1 to 192.168.78.0/24, … */
  static async start(cables = 1): Promise<RealNetworkManager> {
    const real = new RealNetworkManager(await tempDir(), cables);
    await real.startBus();
    await real.#startDaemon();
    return real;
  }

  async #startDaemon(): Promise<void> {
    const [host, peer] = [this.#host, this.#peer];
    const ip = async (...args: readonly string[]): Promise<unknown> => run('ip', args);
    for (const name of [host, peer]) {
      await ip('netns', 'add', name);
      await ip('-n', name, 'link', 'set', 'lo', 'up');
    }
    for (const at of Array(this.#cables).keys()) {
      const [near, far] = [`eth${at}`, `p${at}`];
      await ip('-n', host, 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', peer);
      await ip('-n', peer, 'addr', 'add', `192.168.${77 + at}.1/24`, 'dev', far);
      await ip('-n', peer, 'link', 'set', far, 'up');
    }
    await this.serveAddresses();
    await writeFile(join(this.base, 'etc/NetworkManager.conf'), CONF);
    // With a writable /sys it takes itself for a whole machine, and waits for a udev that is not there.
    const script = [
      'mount --make-rprivate /',
      'mkdir -p /run/NetworkManager /var/lib/NetworkManager /etc/NetworkManager',
      `mount --bind ${this.base}/run /run/NetworkManager`,
      `mount --bind ${this.base}/var /var/lib/NetworkManager`,
      `mount --bind ${this.base}/etc /etc/NetworkManager`,
      'mount -o remount,ro /sys',
      'exec NetworkManager --no-daemon --debug',
    ].join(' && ');
    this.#daemon = new Side('ip', ['netns', 'exec', host, 'unshare', '-m', 'bash', '-c', script], {
      DBUS_SYSTEM_BUS_ADDRESS: this.address,
    });
    await this.until(async () => {
      const state = await this.nmcli('-t', '-f', 'DEVICE,STATE', 'device');
      if ([...Array(this.#cables).keys()].some((at) => !state.includes(`eth${at}:connected\n`)))
        throw new Error(`${state} ${this.#daemon?.output ?? ''}`);
    });
  }

  /** From now on dnsmasq gives addresses to who asks. */
  async serveAddresses(): Promise<void> {
    const options = [
      '--no-daemon',
      '--no-resolv',
      '--no-hosts',
      '--conf-file=/dev/null',
      '--port=0',
      '--bind-interfaces',
      ...[...Array(this.#cables).keys()].flatMap((at) => [
        `--interface=p${at}`,
        `--dhcp-range=192.168.${77 + at}.50,192.168.${77 + at}.99,1h`,
      ]),
      `--dhcp-leasefile=${this.base}/leases`,
      '--pid-file=',
    ];
    this.#dnsmasq = new Side('ip', ['netns', 'exec', this.#peer, 'dnsmasq', ...options]);
    return Promise.resolve();
  }

  /**
   * The world behind the other namespace, which hides the node's networks: an address of this machine that all uplinks lead to.
   * @returns it
   */
  async openWorld(): Promise<string> {
    const [near, far, address] = [`nmw${process.pid % 100_000}`, 'world', '203.0.113.1'];
    await run('ip', ['link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', this.#peer]);
    await run('ip', ['addr', 'add', `${address}/24`, 'dev', near]);
    await run('ip', ['link', 'set', near, 'up']);
    await this.onPeer('ip', 'addr', 'add', '203.0.113.2/24', 'dev', far);
    await this.onPeer('ip', 'link', 'set', far, 'up');
    await this.onPeer('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    await this.onPeer(
      'nft',
      'add table ip world; add chain ip world out { type nat hook postrouting priority 100 ; }',
    );
    await this.onPeer('nft', `add rule ip world out oifname ${far} masquerade`);
    return address;
  }

  /** Runs a program where the uplinks lead. */
  async onPeer(...program: readonly string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.#peer, ...program])).stdout;
  }

  /** And where the node is. */
  async onHost(...program: readonly string[]): Promise<string> {
    return (await run('ip', ['netns', 'exec', this.#host, ...program])).stdout;
  }

  /** ModemManager's mock, with no modem yet. */
  async startModems(): Promise<void> {
    const args = ['-m', 'dbusmock', '--system', '--template', join(HERE, 'modem-mock.py')];
    this.#modems = new Side('/usr/bin/python3', args, { DBUS_SYSTEM_BUS_ADDRESS: this.address });
    await this.until(async () => this.#ofModems('org.freedesktop.DBus.Peer.Ping'));
  }

  async stopModems(): Promise<void> {
    await this.#modems?.stop();
  }

  /** A modem whose data goes through a cable to the other namespace: 10.64.NUMBER.2, its gateway .1. @param given as in modem-mock.py */
  async addModem(number: number, given: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const [net, end] = [`wwan${number}`, `w${number}`];
    const there = await run('ip', ['-n', this.#host, 'link', 'show', net]).then(
      () => true,
      () => false,
    );
    if (!there)
      for (const args of [
        ['-n', this.#host, 'link', 'add', net, 'type', 'veth', 'peer', 'name', end, 'netns', this.#peer],
        ['-n', this.#peer, 'addr', 'add', `10.64.${number}.1/24`, 'dev', end],
        ['-n', this.#peer, 'link', 'set', end, 'up'],
      ])
        await run('ip', args);
    const facts: Readonly<Record<string, unknown>> = {
      net,
      port: `cdc-wdm${number}`,
      address: `10.64.${number}.2`,
      gateway: `10.64.${number}.1`,
      ...given,
    };
    await this.#ofModems(
      'org.freedesktop.DBus.Mock.AddModem',
      `uint32:${number}`,
      `string:${JSON.stringify(facts)}`,
    );
    await this.until(async () => {
      const devices = await this.nmcli('-t', '-f', 'DEVICE,TYPE', 'device');
      if (facts['sim'] !== 'absent' && !devices.includes(`${String(facts['port'])}:gsm`))
        throw new Error(devices);
    });
  }

  async removeModem(number: number): Promise<void> {
    await this.#ofModems('org.freedesktop.DBus.Mock.RemoveModem', `uint32:${number}`);
  }

  /** The PINs that SIMs were asked with, and what modems were connected with. */
  async askedOfModems(): Promise<{
    readonly pins: readonly string[];
    readonly connects: readonly unknown[];
  }> {
    const answer = await this.#ofModems('org.freedesktop.DBus.Mock.Asked');
    const [, text = '{}'] = /string "(.*)"\s*$/s.exec(answer) ?? [];
    return JSON.parse(text) as Awaited<ReturnType<RealNetworkManager['askedOfModems']>>;
  }

  async #ofModems(method: string, ...args: readonly string[]): Promise<string> {
    return this.dbus(method, 'org.freedesktop.ModemManager1', '/org/freedesktop/ModemManager1', ...args);
  }

  async stopAddresses(): Promise<void> {
    await this.#dnsmasq?.stop();
  }

  /** What runs a program beside the daemon, with its files and its network, when put before it. */
  get prefix(): readonly string[] {
    return ['nsenter', '-t', String(this.#daemon?.pid ?? 0), '-m', '-n'];
  }

  /** The folder has another name there. */
  override get env(): Readonly<Record<string, string>> {
    return { ...super.env, SVC_HELPER_PROFILE_DIR: '/etc/NetworkManager/system-connections' };
  }

  override async stop(): Promise<void> {
    await this.stopModems();
    await this.#daemon?.stop();
    await this.stopAddresses();
    for (const name of [this.#host, this.#peer])
      await run('ip', ['netns', 'del', name]).catch(() => undefined);
    await super.stop();
  }
}
