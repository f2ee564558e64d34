import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectAsync, type MqttClient } from 'mqtt';
import { parse, parseDocument } from 'yaml';
import { issueCertificate } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { askAgain, worksAtLast } from './ask-again.ts';
import { Balanced } from './balanced.ts';
import { noHaproxy } from './haproxy.ts';
import { TestHub } from './hub.ts';
import { inNamespace, Killable, type Machine } from './killable.ts';
import { findProgram } from './needs.ts';
import { asItsUser, noPostgres, postgresPrograms } from './postgres.ts';
import { copyOf, example, shared } from './replicas.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);
const FIRST_START_MS = 120_000;
/** The last numbers of the addresses in the files of `deploy/hub/examples`. */
const HUBS = [11, 12, 13] as const;
const BROKERS = [41, 42, 43] as const;
const DATABASES = [21, 22] as const;
const STORES = [31, 32, 33] as const;
const BALANCER = 5;

/** A name of a hub that no replica has here. */
const OBSERVER = 'hub-9';

/** Why this cannot run here; null where it can. */
export function noCluster(): string | null {
  const missing = ['rmqttd', 'patroni', 'etcd', 'unshare'].find((each) => findProgram(each) === null);
  return missing === undefined ? (noPostgres() ?? noHaproxy()) : `${missing} is not installed`;
}

/**
 * Three hubs, three RMQTT, two PostgreSQL of Patroni, three etcd and an HAProxy, each with the files of `deploy/hub/examples`: the
 * addresses 10.0.0.x are ones of loopback here, so that the ports stay.
 */
export class Cluster {
  readonly machines: readonly Machine[];
  readonly hubs: readonly TestHub[];
  /** Through the balancer, as all people and nodes. */
  readonly balanced: Balanced;
  readonly #folder: string;
  readonly #net: string;

  private constructor(
    folder: string,
    net: string,
    hubs: readonly TestHub[],
    machines: readonly Machine[],
    balanced: Balanced,
  ) {
    this.#folder = folder;
    this.#net = net;
    this.hubs = hubs;
    this.machines = machines;
    this.balanced = balanced;
  }

  static async start(): Promise<Cluster> {
    const folder = await tempDir();
    await chmod(folder, 0o755); // PostgreSQL's user has its files there
    const port = await freePort();
    const net = `127.${port >> 8}.${port & 255}`;
    const made = new Making(folder, net);
    const started: Machine[] = [];
    const go = async (machines: readonly Machine[]): Promise<void> => {
      started.push(...machines);
      await Promise.all(machines.map(async (machine) => machine.start()));
    };
    try {
      await go(await made.stores());
      await go(await made.databases());
      const balancer = await made.balancer();
      await go([balancer]);
      const passwordFile = await made.database();
      const hubs = await made.hubs(passwordFile);
      await made.fleetOf(hubs[0]);
      await balancer.kill();
      await balancer.start();
      await made.reached();
      await go(await made.brokers());
      await Promise.all(BROKERS.map(async (at) => listens(`${net}.${at}`, 1885)));
      const asMachines = hubs.map((hub, at) => hubMachine(hub, `hub ${at + 1}`));
      await go(asMachines);
      const [first] = hubs;
      const ca = await first.text('ca.pem');
      const balanced = new Balanced({
        host: `${net}.${BALANCER}`,
        port: 8193,
        ca,
        credential: first.operator,
      });
      return new Cluster(folder, net, hubs, started, balanced);
    } catch (error) {
      const said = started.map(saidBy).join('\n');
      for (const machine of started) await machine.kill();
      await removeDir(folder);
      throw new Error(said, { cause: error });
    }
  }

  /** For people and nodes: the balancer. */
  get url(): string {
    return `https://${this.#net}.${BALANCER}:8193`;
  }

  get first(): TestHub {
    const [first] = this.hubs;
    if (first === undefined) throw new Error('no hub');
    return first;
  }

  /** A client that may hear everything, as a hub may. */
  async asHub(): Promise<MqttClient> {
    const [ca, caKey] = await Promise.all([this.first.text('ca.pem'), this.first.text('ca.key')]);
    const key = newCertificateKey();
    const { pem } = await certificateRequest(key);
    const authority = { certificate: ca, key: caKey };
    const cert = await issueCertificate(authority, pem, { client: OBSERVER }, Date.now());
    const url = `mqtts://${this.#net}.${BALANCER}:8883`;
    return connectAsync(url, { ca, cert, key, clientId: OBSERVER, protocolVersion: 5, reconnectPeriod: 0 });
  }

  machine(name: string): Machine {
    const found = this.machines.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  }

  /** The database that is written now. */
  async primary(): Promise<string> {
    for (const [at, number] of DATABASES.entries())
      if ((await asked(`http://${this.#net}.${number}:8008/primary`)) === 200) return `database ${at + 1}`;
    return 'no database';
  }

  /** Resolves when each machine has its part: nothing is left of what happened. */
  async whole(): Promise<void> {
    await shared(this.first, this.hubs.length);
    for (const at of STORES) await answers(`http://${this.#net}.${at}:2379/health`);
    for (const at of BROKERS)
      await worksAtLast(`broker ${at - 40} is one of three`, async () => {
        const url = `http://${this.#net}.${at}:6060/api/v1/health/check`;
        const text = await (await fetch(url, { signal: AbortSignal.timeout(5000) })).text();
        if (!text.includes('"Ok"')) throw new Error(text);
      });
    await worksAtLast('a standby has what is committed', async () => {
      const states = await Promise.all(
        DATABASES.map(async (at) => asked(`http://${this.#net}.${at}:8008/synchronous`)),
      );
      if (!states.includes(200)) throw new Error(states.join());
    });
    for (const at of HUBS)
      await askAgain(
        'the hub is ready',
        async () => this.hubs[at - HUBS[0]]?.call('GET', '/readyz', { credential: null }),
        (answer) => answer?.status === 200,
      );
  }

  /** What the machines wrote last. */
  said(): string {
    return this.machines.map(saidBy).join('\n');
  }

  async end(): Promise<void> {
    for (const machine of this.machines) await machine.kill();
    await removeDir(this.#folder);
  }
}

function saidBy(machine: Machine): string {
  return machine instanceof Killable ? `--- ${machine.name}\n${machine.said.slice(-2500)}` : '';
}

function hubMachine(hub: TestHub, name: string): Machine {
  return { name, kill: async () => hub.kill(), start: async () => hub.serve(false) };
}

/** Writes the files of all machines. */
class Making {
  readonly #folder: string;
  readonly #net: string;
  readonly #password = 'of-this-test-only';

  constructor(folder: string, net: string) {
    this.#folder = folder;
    this.#net = net;
  }

  async stores(): Promise<readonly Machine[]> {
    const peers = STORES.map((at) => `etcd${at - 30}=http://${this.#net}.${at}:2380`).join();
    return STORES.map((at) => {
      const [name, here] = [`etcd${at - 30}`, `http://${this.#net}.${at}`];
      const options = {
        name,
        'data-dir': join(this.#folder, name),
        'listen-peer-urls': `${here}:2380`,
        'initial-advertise-peer-urls': `${here}:2380`,
        'listen-client-urls': `${here}:2379`,
        'advertise-client-urls': `${here}:2379`,
        'initial-cluster': peers,
      };
      const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
      return new Killable(`etcd ${at - 30}`, inNamespace(program('etcd'), ...args));
    });
  }

  async databases(): Promise<readonly Machine[]> {
    const binaries = postgresPrograms() ?? '';
    return Promise.all(
      DATABASES.map(async (at) => {
        const base = join(this.#folder, `db${at - 20}`);
        await mkdir(base);
        if (userInfo().uid === 0) {
          const { stdout } = await run('id', ['-u', 'postgres']);
          await chown(base, Number(stdout), -1);
        }
        const config = parseDocument(
          this.#here((await example('cluster/patroni.yml')).replaceAll('10.0.0.21', `10.0.0.${at}`)),
        );
        config.set('name', `db${at - 20}`);
        config.setIn(['postgresql', 'data_dir'], join(base, 'data'));
        config.setIn(['postgresql', 'bin_dir'], binaries);
        config.setIn(['postgresql', 'pgpass'], join(base, 'pgpass'));
        const file = join(this.#folder, `patroni-${at - 20}.yml`);
        await writeFile(file, config.toString());
        const [command, args] = asItsUser('unshare', inNamespace(program('patroni'), file).slice(1));
        return new Killable(`database ${at - 20}`, [command, ...args]);
      }),
    );
  }

  /** Makes the hubs' one. @returns the file with its password */
  async database(): Promise<string> {
    await worksAtLast(
      'PostgreSQL is written',
      async () => this.#psql('CREATE TABLE IF NOT EXISTS tried (n int)'),
      FIRST_START_MS,
    );
    await this.#psql(`CREATE ROLE hub LOGIN PASSWORD '${this.#password}'`);
    await this.#psql('CREATE DATABASE hub OWNER hub');
    const file = join(this.#folder, 'password');
    await writeFile(file, `${this.#password}\n`, { mode: 0o600 });
    return file;
  }

  /** The balancer sends somebody to the database. */
  async reached(): Promise<void> {
    await worksAtLast('the database is reached', async () => this.#psql('SELECT 1'));
  }

  async hubs(passwordFile: string): Promise<readonly [TestHub, ...TestHub[]]> {
    const address = `${this.#net}.${BALANCER}`;
    const database = `postgres://hub@${address}:5433/hub`;
    const names = ['--host', 'localhost', '--host', address];
    const where = ['--database', database, '--database-password-file', passwordFile];
    const first = await TestHub.init(...names, ...where);
    const config = parseDocument(await first.text('hub.yaml'));
    config.setIn(['broker', 'url'], `mqtts://${address}:8883`);
    config.setIn(['https', 'balancers'], ['127.0.0.0/8']);
    const hubs: TestHub[] = [];
    for (const at of HUBS) {
      const http = await freePort();
      config.setIn(['http', 'port'], http);
      config.setIn(['https', 'host'], `${this.#net}.${at}`);
      config.setIn(['https', 'port'], 8193);
      hubs.push(await copyOf(first, join(this.#folder, `hub-${at - 10}`), config, [http, 8193]));
    }
    await removeDir(join(first.folder, '..'));
    const [one, ...others] = hubs;
    if (one === undefined) throw new Error('no hub');
    return [one, ...others];
  }

  /** Of which the brokers before it did not know: its authority, its id. */
  async fleetOf(hub: TestHub): Promise<void> {
    const [ca, certificate, key] = await Promise.all(
      ['ca.pem', 'broker.pem', 'broker.key'].map(async (name) => hub.text(name)),
    );
    await writeFile(join(this.#folder, 'svc-hub-ca.pem'), ca ?? '');
    await writeFile(join(this.#folder, 'broker.both.pem'), `${certificate}${key}`, { mode: 0o600 });
    const fleet = String(parseDocument(await hub.text('hub.yaml')).get('fleet'));
    await mkdir(join(this.#folder, 'rights'));
    for (const name of ['hub.json', 'node.json', 'machine.json'])
      await writeFile(
        join(this.#folder, 'rights', name),
        ofFleet(await example(`cluster/rights/${name}`), fleet),
      );
    await writeFile(join(this.#folder, 'denied.lst'), '');
    const parts = ['haproxy.cfg', 'cluster/haproxy-brokers.cfg', 'cluster/haproxy-database.cfg'];
    await this.#balance(
      ofFleet((await Promise.all(parts.map(async (name) => example(name)))).join('\n'), fleet),
    );
  }

  /** Before there is a hub it has the database alone. */
  async balancer(): Promise<Machine> {
    const defaults = (await example('haproxy.cfg')).split('frontend hub')[0] ?? '';
    await this.#balance(`${defaults}\n${await example('cluster/haproxy-database.cfg')}`);
    return new Killable(
      'balancer',
      inNamespace(program('haproxy'), '-db', '-f', join(this.#folder, 'haproxy.cfg')),
    );
  }

  async brokers(): Promise<readonly Machine[]> {
    return Promise.all(
      BROKERS.map(async (at) => {
        const folder = join(this.#folder, `broker-${at - 40}`);
        await mkdir(join(folder, 'plugins'), { recursive: true });
        const mine = (text: string): string => this.#here(text.replaceAll('10.0.0.41', `10.0.0.${at}`));
        const config = mine(await example('cluster/rmqtt/rmqtt.toml'))
          .replace('node.id = 1', `node.id = ${at - 40}`)
          .replace('/etc/rmqtt/plugins', join(folder, 'plugins'));
        await writeFile(join(folder, 'rmqtt.toml'), config);
        const plugins = 'cluster/rmqtt/plugins';
        for (const name of await readdir(join(import.meta.dirname, '../../deploy/hub/examples', plugins))) {
          const text = this.#here(await example(`${plugins}/${name}`));
          // Three machines have three loopbacks.
          await writeFile(
            join(folder, 'plugins', name),
            text.replace('127.0.0.1:6060', `${this.#net}.${at}:6060`),
          );
        }
        return new Killable(
          `broker ${at - 40}`,
          inNamespace(program('rmqttd'), '-f', join(folder, 'rmqtt.toml')),
        );
      }),
    );
  }

  /** At the one that is written, as its superuser. */
  async #psql(text: string): Promise<void> {
    const config: unknown = parse(await example('cluster/patroni.yml'));
    const { password } = (config as { postgresql: { authentication: { superuser: { password: string } } } })
      .postgresql.authentication.superuser;
    const url = `postgres://postgres:${password}@${this.#net}.${BALANCER}:5433/postgres`;
    await run(join(postgresPrograms() ?? '', 'psql'), [url, '-v', 'ON_ERROR_STOP=1', '-qAtc', text]);
  }

  async #balance(text: string): Promise<void> {
    const file = join(this.#folder, 'haproxy.cfg');
    await writeFile(
      file,
      this.#here(text)
        .replaceAll('bind :', `bind ${this.#net}.${BALANCER}:`)
        .replaceAll('/etc/haproxy/', `${this.#folder}/`),
    );
  }

  /** Its addresses are ones of this machine. */
  #here(text: string): string {
    return text.replaceAll('10.0.0.0/24', '127.0.0.0/8').replaceAll('10.0.0.', `${this.#net}.`);
  }
}

function ofFleet(text: string, fleet: string): string {
  return text.replaceAll('svc/1/F/', `svc/1/${fleet}/`);
}

function program(name: string): string {
  const found = findProgram(name);
  if (found === null) throw new Error(`${name} is not installed`);
  return found;
}

/** Its status; 0: nobody answers. */
async function asked(url: string): Promise<number> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ status }) => status,
    () => 0,
  );
}

async function answers(url: string): Promise<void> {
  await askAgain(
    url,
    async () => asked(url),
    (status) => status === 200,
  );
}

async function listens(host: string, port: number): Promise<void> {
  await worksAtLast(`${host}:${port} listens`, async () => {
    const socket = connect(port, host);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.destroy();
  });
}
