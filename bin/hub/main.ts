/** svc-hub: the command line and the composition root. The only file of it that reads env and argv. */

import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { parseDocument } from 'yaml';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { messageOf } from '../../shared/errors.ts';
import { sweepTemporary, writeAtomic } from '../../shared/files/atomic-write.ts';
import { takePidLock } from '../../shared/files/pid-lock.ts';
import { EVERY_NODE } from '../../shared/hub-api/caller.ts';
import { recordOf } from '../../shared/member.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named, runServices } from '../../shared/process/services.ts';
import { VERSION } from '../../shared/version.ts';
import { newCode } from './api/hub-handlers.ts';
import { hubPage } from './api/page.ts';
import { verifyHubAudit } from './audit.ts';
import { mosquittoConfig } from './broker/mosquitto-files.ts';
import { DATABASE, isLoopbackName, listenHost, readHubConfig } from './config.ts';
import { moveDatabase } from './database/move.ts';
import { makeDatabase, openAnyDatabase, openDatabase } from './database/open.ts';
import { migrate, pendingIn } from './database/schema.ts';
import { printFlights } from './flights/print-flights.ts';
import { buildHub } from './hub.ts';
import { hubLock, type InitOptions, initHub, isHub } from './init.ts';
import { noteSigningKey } from './keys/identity.ts';
import { addSigningKey, retireSigningKey } from './keys/signer.ts';
import { type HubPlaces, placesIn } from './places.ts';
import { PRINTED_BY } from './stores/codes.ts';
import { Operators } from './stores/operators.ts';

const USAGE = `svc-hub: a fleet of nodes in one place.

  svc-hub --demo          a hub with a Mosquitto of its own, made at the first start; prints an enrolment code
  svc-hub init            makes the files of a hub; prints the first operator's credential, once
  svc-hub serve           runs it; with --own-broker also a Mosquitto
  svc-hub code            a new enrolment code of the hub that runs; credential of an operator in SVC_HUB_CREDENTIAL;
                          --node ID for a node that is enrolled and is to enrol again
  svc-hub flights         the newest flights of the hub that runs, or with --csv all as a table; --node ID for
                          those of one node; credential as for code
  svc-hub operator NAME   adds an operator who may do everything; prints the credential, once
  svc-hub migrate         makes a database of an older version one of this; two at once do it once
  svc-hub move --to postgres://user@host/database
                          copies a stopped hub's SQLite there, compares, and uses it from then on; the file stays
  svc-hub backup FILE     a copy of the database, also while the hub runs; it has no key in it
  svc-hub mosquitto       prints a configuration for a Mosquitto that others run
  svc-hub key add|retire  adds a key that will sign; retires the oldest. Restart the hub after each
  svc-hub audit verify    checks the chains of the audit

  --dir DIR               default .svc-hub (SVC_HUB_DIR)
  init and --demo:
  --host NAME             name or address of hub and broker, once for each; the first is told to the nodes
                          (default: 127.0.0.1, so that only this machine reaches hub and broker)
  --name NAME             what the fleet is called
  --port 8190, --https-port 8193, --broker-port 8883
  --database postgres://user@host/database   instead of SQLite; the password in PGPASSWORD, or in
  --database-password-file FILE
  --ws-port 443           the broker also takes WebSockets there (default: not)
`;

class UsageError extends Error {}
type Env = Readonly<Record<string, string | undefined>>;
type Flags = ReturnType<typeof parse>['values'];

const wall = (): number => Date.now();
const EVERYTHING = { scopes: SCOPES, ...EVERY_NODE };
const REQUEST_MS = 10_000;
/** As many pages as there are: one step, so that a hub that writes meanwhile does not make it begin again and again. */
const ALL_PAGES = 2 ** 31 - 1;

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        demo: { type: 'boolean' },
        help: { type: 'boolean' },
        version: { type: 'boolean' },
        'own-broker': { type: 'boolean' },
        csv: { type: 'boolean' },
        node: { type: 'string' },
        dir: { type: 'string' },
        name: { type: 'string' },
        host: { type: 'string', multiple: true },
        port: { type: 'string' },
        to: { type: 'string' },
        database: { type: 'string' },
        'database-password-file': { type: 'string' },
        'https-port': { type: 'string' },
        'broker-port': { type: 'string' },
        'ws-port': { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

async function run(argv: readonly string[], env: Env): Promise<number> {
  const { values, positionals } = parse(argv);
  if (values.version === true) return say(VERSION);
  if (values.help === true || (positionals.length === 0 && values.demo !== true)) {
    process.stdout.write(USAGE);
    return values.help === true ? 0 : 2;
  }
  process.umask(0o077);
  const places = placesIn(values.dir ?? env['SVC_HUB_DIR'] ?? '.svc-hub');
  const [command = 'demo', ...rest] = positionals;
  const [argument] = rest;
  switch (command) {
    case 'demo':
      return demo(places, values);
    case 'init':
      return say(`first operator  ${await initHub(places, initOptions(values), wall)}`);
    case 'serve':
      return serve(places, values['own-broker'] === true, async () => undefined);
    case 'code':
      return printCode(places, env, values.node);
    case 'flights':
      return flights(places, env, values);
    case 'operator':
      return operator(places, needed(argument, 'operator NAME'));
    case 'backup':
      return copyDatabase(places, needed(argument, 'backup FILE'));
    case 'migrate':
      return migrateDatabase(places);
    case 'move':
      return move(places, databaseOf(needed(values.to, 'move --to postgres://user@host/database')), values);
    case 'mosquitto':
      return mosquitto(places);
    case 'key':
      return changeKeys(places, needed(argument, 'key add|retire'));
    case 'audit':
      if (argument !== 'verify') throw new UsageError('svc-hub audit verify');
      return verifyAudit(places);
    default:
      throw new UsageError(`there is no svc-hub ${command}`);
  }
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function needed(argument: string | undefined, usage: string): string {
  if (argument === undefined) throw new UsageError(`svc-hub ${usage}`);
  return argument;
}

function initOptions({ name, host, port, ...ports }: Flags): InitOptions {
  const always = [hostname(), 'localhost', '127.0.0.1', '::1'];
  return {
    name: name ?? 'my fleet',
    names: [...new Set([...(host ?? ['127.0.0.1']), ...always])],
    httpPort: portOf(port, 8190),
    httpsHost: (host ?? []).every(isLoopbackName) ? '127.0.0.1' : '0.0.0.0',
    httpsPort: portOf(ports['https-port'], 8193),
    brokerPort: portOf(ports['broker-port'], 8883),
    database: databaseOf(ports.database),
    database_password_file: ports['database-password-file'] ?? null,
    wsPort: ports['ws-port'] === undefined ? null : portOf(ports['ws-port'], 443),
  };
}

function databaseOf(text = 'sqlite'): string {
  if (DATABASE.test(text)) return text;
  throw new UsageError('--database is sqlite, or postgres://user@host/database without a password');
}

function portOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new UsageError(`${text} is no port`);
  return port;
}

async function demo(places: HubPlaces, flags: Flags): Promise<number> {
  const first = isHub(places) ? null : await initHub(places, initOptions(flags), wall);
  if (first === null) await migrateDatabase(places);
  return serve(places, true, async (newestCode) => {
    const { name, names, http, https } = await readHubConfig(places.config);
    const [host = 'localhost'] = names;
    const url = `https://${host.includes(':') ? `[${host}]` : host}:${https.port}`;
    const lines = [
      '',
      `  svc-hub ${VERSION}   http://${http.host}:${http.port}   ${url}`,
      '',
      `  fleet      ${name}`,
      first === null ? '' : `  operator   ${first}   shown this once`,
      `  code       ${newestCode}`,
      `             a node enrols with: npx svc fleet enroll ${url} ${newestCode}`,
      '',
      '  Ctrl-C stops hub and broker.',
      '',
    ];
    say(lines.filter((line, at) => line !== '' || lines[at - 1] !== '').join('\n'));
  });
}

/** Null where it was not built: the hub works without. */
function builtPage(log: Logger): ReturnType<typeof hubPage> | null {
  try {
    return hubPage(join(import.meta.dirname, '../../residual/web/dist'));
  } catch (error) {
    log.warn(messageOf(error));
    return null;
  }
}

/** Runs until it is told to stop. @param onReady gets a fresh enrolment code, if it asks for one */
async function serve(
  places: HubPlaces,
  ownBroker: boolean,
  onReady: (newestCode: string) => Promise<void>,
): Promise<number> {
  const log = createLogger('svc-hub');
  const config = await readHubConfig(places.config);
  const release = takePidLock(hubLock(places));
  if (release === null) throw new Error(`a hub runs in ${places.folder} already`);
  const asked = new AbortController();
  let hasFailed = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => asked.abort());
  try {
    await sweepTemporary([places.folder], wall(), (problem) => log.warn(problem));
    const database = await openDatabase(places, config, (problem) =>
      log.warn(`the database: ${messageOf(problem)}`),
    );
    const { hostname: host, port } = new URL(config.broker.url);
    const hub = await buildHub({
      places,
      config,
      database,
      ownBroker: ownBroker ? { host: listenHost(host), port: Number(port) } : null,
      page: builtPage(log),
      now: wall,
      monotonic: () => performance.now(),
      random: Math.random,
      stop: () => {
        hasFailed = true;
        asked.abort();
      },
      log,
    });
    const ready = (): void => {
      log.info(
        `serving on ${config.http.host}:${config.http.port} and ${config.https.host}:${config.https.port}`,
      );
      const by = { id: PRINTED_BY, ...EVERY_NODE };
      const told = async (): Promise<void> => onReady(ownBroker ? (await newCode(hub, by)).code : '');
      told().catch((error: unknown) => log.error(messageOf(error)));
    };
    const services = [named('database', { stop: async () => database.close() }), ...hub.services];
    const ok = await runServices(services, asked.signal, ready, (problem) => log.error(problem));
    return ok && !hasFailed ? 0 : 1;
  } finally {
    release();
  }
}

function credentialIn(env: Env): string {
  const credential = env['SVC_HUB_CREDENTIAL'];
  if (credential === undefined) throw new UsageError("put an operator's credential into SVC_HUB_CREDENTIAL");
  return credential;
}

async function flights(places: HubPlaces, env: Env, { csv = false, node }: Flags): Promise<number> {
  const credential = credentialIn(env);
  const { http } = await readHubConfig(places.config);
  const url = `http://${http.host}:${http.port}`;
  await printFlights({ url, credential, csv, node, write: process.stdout });
  return 0;
}

async function printCode(places: HubPlaces, env: Env, node: string | undefined): Promise<number> {
  const credential = credentialIn(env);
  const { http } = await readHubConfig(places.config);
  const query = node === undefined ? '' : `?node=${encodeURIComponent(node)}`;
  const answer = await fetch(`http://${http.host}:${http.port}/v1/codes${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}` },
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const { code, detail } = recordOf(await answer.json());
  if (answer.status !== 201 || typeof code !== 'string')
    throw new Error(typeof detail === 'string' ? detail : `the hub answered ${answer.status}`);
  return say(code);
}

async function operator(places: HubPlaces, name: string): Promise<number> {
  const database = await openDatabase(places, await readHubConfig(places.config), warn);
  try {
    return say((await new Operators(database.queries, wall).add(name, EVERYTHING)).text);
  } finally {
    await database.close();
  }
}

async function copyDatabase(places: HubPlaces, file: string): Promise<number> {
  if (existsSync(file)) throw new Error(`${file} exists`);
  const config = await readHubConfig(places.config);
  if (config.database !== 'sqlite')
    throw new Error(
      'this hub is in PostgreSQL: pg_dump makes a backup of it (docs/fleet.md, "Backup and restore")',
    );
  await (await openAnyDatabase(places, config, warn)).close(); // refuses one that is lost
  return say(`${await backupTo(places, file)} pages in ${file}`);
}

/** @returns how many pages the copy of the SQLite file has */
async function backupTo(places: HubPlaces, file: string): Promise<number> {
  const db = new DatabaseSync(places.database, { readOnly: true });
  const part = `${file}.part`;
  try {
    const pages = await backup(db, part, { rate: ALL_PAGES });
    await rename(part, file);
    return pages;
  } finally {
    db.close();
  }
}

/** A database of an older version becomes one of this: while no hub of the older version needs it, or with one that goes on. */
async function migrateDatabase(places: HubPlaces): Promise<number> {
  const database = await openAnyDatabase(places, await readHubConfig(places.config), warn);
  try {
    const [first] = await pendingIn(database);
    if (first !== undefined && database.engine === 'sqlite') {
      const copy = `${places.database}.before-${first}`;
      if (!existsSync(copy)) say(`${await backupTo(places, copy)} pages in ${copy}`);
    }
    const applied = await migrate(database);
    return say(applied === 0 ? 'nothing to do' : `${applied} applied to ${database.name}`);
  } finally {
    await database.close();
  }
}

/** From SQLite to PostgreSQL, while no hub runs. The file stays as it was. */
async function move(places: HubPlaces, url: string, flags: Flags): Promise<number> {
  const config = await readHubConfig(places.config);
  if (config.database !== 'sqlite') throw new Error(`this hub is in ${config.database} already`);
  if (url === 'sqlite') throw new UsageError('move goes from SQLite to PostgreSQL');
  const release = takePidLock(hubLock(places));
  if (release === null) throw new Error(`a hub runs in ${places.folder}; stop it first`);
  const wanted = { database: url, database_password_file: flags['database-password-file'] ?? null };
  const from = await openDatabase(places, config, warn);
  const to = makeDatabase(places, wanted);
  try {
    const counts = await moveDatabase(from, to);
    const document = parseDocument(await readFile(places.config, 'utf8'));
    for (const [key, value] of Object.entries(wanted)) document.set(key, value);
    await writeAtomic(places.config, document.toString());
    for (const [table, rows] of counts) say(`${String(rows).padStart(9)}  ${table}`);
    return say(`all alike; ${places.config} names ${url} now, and ${from.name} stays as it was`);
  } finally {
    await Promise.all([from.close(), to.close()]);
    release();
  }
}

function warn(problem: Error): void {
  process.stderr.write(`svc-hub: the database: ${messageOf(problem)}\n`);
}

async function mosquitto(places: HubPlaces): Promise<number> {
  const { broker, listen_ws: ws } = await readHubConfig(places.config);
  process.stdout.write(
    mosquittoConfig({
      host: '0.0.0.0',
      port: Number(new URL(broker.url).port),
      ws,
      ca: places.ca,
      ...places.broker,
      acl: broker.acl ?? places.acl,
      persistence: '/var/lib/mosquitto',
      user: 'mosquitto',
    }),
  );
  return 0;
}

async function changeKeys(places: HubPlaces, verb: string): Promise<number> {
  if (verb !== 'add' && verb !== 'retire') throw new UsageError('svc-hub key add|retire');
  if (verb === 'add') return say(`${await addSigningKey(places.signingKeys)} keys; restart the hub`);
  const database = await openDatabase(places, await readHubConfig(places.config), warn);
  try {
    const keys = await retireSigningKey(places.signingKeys, async (kid) =>
      noteSigningKey(database.queries, kid),
    );
    return say(`${keys} keys; restart the hub`);
  } finally {
    await database.close();
  }
}

async function verifyAudit(places: HubPlaces): Promise<number> {
  const { ok, files, head_not_checked: unchecked } = await verifyHubAudit(places);
  for (const { name, records, broken } of files)
    say(`${name}: ${records} records, ${broken ?? 'the chain is whole'}`);
  if (unchecked !== null) say(`beginning and end were not checked: ${unchecked}`);
  return ok ? 0 : 1;
}

run(process.argv.slice(2), process.env).then(leave, (error: unknown) => {
  process.stderr.write(`svc-hub: ${messageOf(error)}\n`);
  if (error instanceof UsageError) process.stderr.write(USAGE);
  leave(error instanceof UsageError ? 2 : 1);
});

/** When what was printed has gone into the pipe. */
function leave(status: number): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(status)));
}
