import type { ChildProcess } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, parseDocument } from 'yaml';
import { SPACE } from '../../bin/hub/replicas/locks.ts';
import { askAgain } from './ask-again.ts';
import { Balanced } from './balanced.ts';
import { noHaproxy, startHaproxy } from './haproxy.ts';
import { TestHub } from './hub.ts';
import { Databases } from './hub-database.ts';
import { Broker, noMosquitto } from './mosquitto.ts';
import { noPostgres, type Postgres } from './postgres.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

/** Why these tests cannot run here; null where they can. */
export function noReplicas(): string | null {
  return noMosquitto() ?? noPostgres() ?? noHaproxy();
}

/** A file of `deploy/hub/examples`. */
export async function example(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, '../../deploy/hub/examples', name), 'utf8');
}

/** Another replica of a hub, with this configuration. @param ports of http and https */
export async function copyOf(
  { folder, operator }: TestHub,
  copy: string,
  config: Document,
  [http, https]: readonly [number, number],
): Promise<TestHub> {
  await cp(folder, copy, { recursive: true });
  await writeFile(join(copy, 'hub.yaml'), config.toString());
  return TestHub.in(copy, http, https, operator);
}

/** Resolves when each of the replicas that run hears its share of the nodes. @param any one of them */
export async function shared(any: TestHub, running: number): Promise<void> {
  await askAgain(
    'the nodes are divided',
    async () =>
      any.sql(
        `SELECT count(*) AS parts FROM pg_locks WHERE locktype = 'advisory' AND classid = ${SPACE} AND objid < 64 AND granted GROUP BY pid`,
      ),
    (rows) => rows.length === running && rows.reduce((sum, { parts }) => sum + Number(parts), 0) === 64,
  );
}

/** Three hubs of one fleet behind an HAProxy, with one PostgreSQL and one Mosquitto. */
export class Replicas {
  readonly hubs: readonly TestHub[];
  readonly broker: Broker;
  /** Has what is committed, and takes over once it is promoted. */
  readonly standby: Postgres;
  /** Through the balancer. */
  readonly balanced: Balanced;
  readonly #databases: Databases;
  readonly #folder: string;
  readonly #ca: string;
  readonly #port: number;
  #balancer: ChildProcess | null = null;

  private constructor(made: {
    hubs: readonly TestHub[];
    broker: Broker;
    databases: Databases;
    standby: Postgres;
    folder: string;
    ca: string;
    port: number;
  }) {
    this.hubs = made.hubs;
    this.broker = made.broker;
    this.standby = made.standby;
    this.#databases = made.databases;
    this.#folder = made.folder;
    this.#ca = made.ca;
    this.#port = made.port;
    const { ca, port } = made;
    this.balanced = new Balanced({ host: '127.0.0.1', port, ca, credential: this.first.operator });
  }

  /** @param environments of the processes, beside this one's @param count how many of the three are started */
  static async start(
    environments: readonly Readonly<Record<string, string>>[] = [],
    count = 3,
  ): Promise<Replicas> {
    const databases = await Databases.of('postgres');
    const { postgres } = databases;
    if (postgres === null) throw new Error('no PostgreSQL');
    const first = await TestHub.init(...(await databases.flags()));
    const standby = await postgres.standby();
    const folder = await tempDir();
    const databasePort = await freePort();
    const config = parseDocument(await first.text('hub.yaml'));
    const database = String(config.get('database'));
    config.setIn(['https', 'balancers'], ['127.0.0.1']);
    config.set('database', database.replace(`:${postgres.port}/`, `:${databasePort}/`));
    await writeFile(join(first.folder, 'hub.yaml'), config.toString());
    const [ca, key] = await Promise.all([first.text('ca.pem'), first.text('ca.key')]);
    const port = Number(new URL(String(config.getIn(['broker', 'url']))).port);
    const fleet = String(config.get('fleet'));
    const broker = await Broker.start(folder, fleet, { certificate: ca, key }, port);
    const hubs = [first];
    for (const number of [2, 3]) {
      const [http, https] = await Promise.all([freePort(), freePort()]);
      config.setIn(['http', 'port'], http);
      config.setIn(['https', 'port'], https);
      hubs.push(await copyOf(first, join(folder, `hub-${number}`), config, [http, https]));
    }
    // The one beside the broker writes its rules.
    const beside = parseDocument(await first.text('hub.yaml'));
    beside.setIn(['broker', 'acl'], broker.acl);
    beside.setIn(['broker', 'pid_file'], broker.pidFile);
    await writeFile(join(first.folder, 'hub.yaml'), beside.toString());
    const replicas = new Replicas({ hubs, broker, databases, standby, folder, ca, port: await freePort() });
    await replicas.#balance(databasePort);
    await Promise.all(hubs.slice(0, count).map(async (hub, at) => hub.serve(false, environments[at])));
    await askAgain(
      'the balancer sends somebody to a hub',
      async () => replicas.balanced.call('GET', '/readyz').catch((error: unknown) => error),
      (answer) => (answer as { readonly status?: unknown }).status === 200,
    );
    return replicas;
  }

  get postgres(): Postgres {
    const { postgres } = this.#databases;
    if (postgres === null) throw new Error('no PostgreSQL');
    return postgres;
  }

  get first(): TestHub {
    return this.at(0);
  }

  at(index: number): TestHub {
    const hub = this.hubs[index];
    if (hub === undefined) throw new Error(`there is no replica ${index}`);
    return hub;
  }

  /** The one that looks after the whole fleet now. */
  async keeper(): Promise<TestHub> {
    return askAgain(
      'a replica has the upkeep',
      async () => {
        const [row] = await this.first.sql("SELECT holder FROM leases WHERE name = 'upkeep'");
        const names = await this.first.sql(
          `SELECT name FROM leases WHERE holder = '${String(row?.['holder'])}' AND name LIKE 'replica-%'`,
        );
        const name = `hub-${String(names[0]?.['name']).slice('replica-'.length)}`;
        return this.hubs.find((hub) => hub.stderr.includes(`"msg":"${name}: `)) ?? null;
      },
      (hub) => hub !== null,
    ).then((hub) => hub ?? this.first);
  }

  async shared(running = this.hubs.length): Promise<void> {
    await shared(this.first, running);
  }

  async #balance(databasePort: number): Promise<void> {
    const file = join(this.#folder, 'haproxy.cfg');
    const ca = join(this.#folder, 'ca.pem');
    await writeFile(ca, this.#ca);
    const parts = ['haproxy.cfg', 'haproxy-standby.cfg'].map(async (name) => example(name));
    const shipped = (await Promise.all(parts)).join('\n');
    const servers = this.hubs.map(
      ({ httpsPort }, at) => `  server hub${at + 1} 127.0.0.1:${httpsPort} check`,
    );
    const text = shipped
      .replaceAll(/^ {2}server hub\d .*\n/gm, '')
      .replace('# The replicas.\n', `# The replicas.\n${servers.join('\n')}\n`)
      .replace('bind 127.0.0.1:5433', `bind 127.0.0.1:${databasePort}`)
      .replace('10.0.0.21:5432', `127.0.0.1:${this.postgres.port}`)
      .replace('10.0.0.22:5432', `127.0.0.1:${this.standby.port}`)
      .replace('bind :8193', `bind 127.0.0.1:${this.#port}`)
      .replaceAll('/etc/haproxy/svc-hub-ca.pem', ca);
    this.#balancer = await startHaproxy(file, text, async () =>
      this.first.sql('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
  }

  async end(): Promise<void> {
    this.#balancer?.kill('SIGKILL');
    for (const hub of this.hubs) await hub.kill('SIGKILL');
    await this.broker.kill();
    await this.standby.remove();
    await this.#databases.end();
    await removeDir(this.#folder);
    await rm(join(this.first.folder, '..'), { recursive: true, force: true });
  }
}
