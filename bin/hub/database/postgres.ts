import { Kysely, PostgresDialect } from 'kysely';
import { Client, type ClientBase, type ClientConfig, Pool, types } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { readPrivate } from '../../../shared/files/private-file.ts';
import type { DatabaseSession, HubDatabase, Tables } from './tables.ts';

/** Connections of one replica. */
const CONNECTIONS = 10;
const CONNECT_MS = 5000;
/** The server ends what takes longer, and the client what the server does not end. */
const STATEMENT_MS = 15_000;
const QUERY_MS = 20_000;
/** Of a session: the server ends one that says nothing for so long, whatever its client believes. */
export const SESSION_IDLE_MS = 6000;
const SESSION_STATEMENT_MS = 3000;
const SESSION_QUERY_MS = 4000;
interface PostgresOptions {
  /** `postgres://user@host:port/database`, without a password. */
  readonly url: string;
  /** A file (0600) with the password; null: the environment has it (PGPASSWORD), or none is needed. */
  readonly passwordFile: string | null;
  /** A connection that nobody used was lost. */
  readonly onProblem: (problem: Error) => void;
}

/** A hub that is asked through one holds its locks in sessions of others. */
export function pooled(name: string): Error {
  return new Error(
    `${name} is asked through a pooler that changes sessions, as PgBouncer does by transaction: give PostgreSQL's own address, or pool by session (pool_mode = session, ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout)`,
  );
}

/** @throws Error if what is asked at one connection is answered by another's session */
export async function refusePooler({ name, session }: HubDatabase): Promise<void> {
  if (session === null) return;
  const one = await session();
  const two = await session().catch(async (error: unknown) => {
    await one.close();
    throw error;
  });
  const backend = async (at: DatabaseSession): Promise<number | undefined> =>
    (await at.ask<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;
  try {
    const first = await backend(one);
    await two.ask('BEGIN'); // whose session nobody else has meanwhile
    const other = await backend(two);
    const again = await backend(one);
    await two.ask('ROLLBACK');
    if (first === other || first !== again) throw pooled(name);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}

/** A pool of connections; the first is made when something is asked. */
export function openPostgres({ url, passwordFile, onProblem }: PostgresOptions): HubDatabase {
  const where: ClientConfig = {
    ...parseIntoClientConfig(url), // not `connectionString`: that puts no password in place of this one
    ...(passwordFile === null ? {} : { password: async () => passwordIn(passwordFile) }),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    types: {
      // Ids, numbers and times are all below 2^53.
      getTypeParser: (id, format) => (id === types.builtins.INT8 ? Number : types.getTypeParser(id, format)),
    },
  };
  const pool = new Pool({
    ...where,
    application_name: 'svc-hub',
    max: CONNECTIONS,
    statement_timeout: STATEMENT_MS,
    query_timeout: QUERY_MS,
    idle_in_transaction_session_timeout: QUERY_MS,
    verify: (client, done) => {
      refuseStandby(client).then(() => done(), done);
    },
  });
  pool.on('error', onProblem);
  // The pool listens only while nobody uses the connection: one that ends in the middle of a query would end the hub.
  pool.on('connect', (client) => client.on('error', onProblem));
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    engine: 'postgres',
    queries,
    name: url,
    session: async () => openSession(where),
    close: async () => pool.end(),
  };
}

/** What it commits is on this server's disk, and waits for no standby: it is nothing that a new server has to know. */
async function openSession(where: ClientConfig): Promise<DatabaseSession> {
  const client = new Client({
    ...where,
    application_name: 'svc-hub locks',
    statement_timeout: SESSION_STATEMENT_MS,
    query_timeout: SESSION_QUERY_MS,
  });
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  client.on('error', end);
  client.on('end', end);
  try {
    await client.connect();
    await refuseStandby(client);
    // PostgreSQL 14 and later.
    await client.query(`SET idle_session_timeout = ${SESSION_IDLE_MS}; SET synchronous_commit = local`);
  } catch (error) {
    await client.end().catch(() => undefined); // it has ended already
    throw error;
  }
  return {
    ask: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      client.query<Row>(text, [...values]).then(
        ({ rows }) => rows,
        (error: Error) => {
          // The client's own time-out: the answer would come into the next question.
          if (!('code' in error)) client.connection.stream.destroy();
          throw error;
        },
      ),
    get ended() {
      return ended;
    },
    close: async () => client.end(),
  };
}

/** Behind a balancer or a name there may be a standby for a moment. @throws Error as PostgreSQL has it for a write, and nothing is asked there */
async function refuseStandby(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  if (rows[0]?.standby === true)
    throw Object.assign(new Error('this PostgreSQL is a standby, which only reads'), { code: '25006' });
}

/** @throws Error if others may read it */
async function passwordIn(file: string): Promise<string> {
  const text = await readPrivate(file);
  if (text === null) throw new Error(`${file}, with the database's password, is missing`);
  return text.trim();
}
