import { Kysely, PostgresDialect } from 'kysely';
import { Pool, type PoolClient, types } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { readPrivate } from '../../../shared/files/private-file.ts';
import type { HubDatabase, Tables } from './tables.ts';

/** Connections of one replica. */
const CONNECTIONS = 10;
const CONNECT_MS = 5000;
/** The server ends what takes longer, and the client what the server does not end. */
const STATEMENT_MS = 15_000;
const QUERY_MS = 20_000;
interface PostgresOptions {
  /** `postgres://user@host:port/database`, without a password. */
  readonly url: string;
  /** A file (0600) with the password; null: the environment has it (PGPASSWORD), or none is needed. */
  readonly passwordFile: string | null;
  /** A connection that nobody used was lost. */
  readonly onProblem: (problem: Error) => void;
}

/** A pool of connections; the first is made when something is asked. */
export function openPostgres({ url, passwordFile, onProblem }: PostgresOptions): HubDatabase {
  const pool = new Pool({
    ...parseIntoClientConfig(url), // not `connectionString`: that puts no password in place of this one
    ...(passwordFile === null ? {} : { password: async () => passwordIn(passwordFile) }),
    application_name: 'svc-hub',
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: QUERY_MS,
    idle_in_transaction_session_timeout: QUERY_MS,
    keepAlive: true,
    verify: (client, done) => {
      refuseStandby(client).then(() => done(), done);
    },
    types: {
      // Ids, numbers and times are all below 2^53.
      getTypeParser: (id, format) => (id === types.builtins.INT8 ? Number : types.getTypeParser(id, format)),
    },
  });
  pool.on('error', onProblem);
  // The pool listens only while nobody uses the connection: one that ends in the middle of a query would end the hub.
  pool.on('connect', (client) => client.on('error', onProblem));
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { engine: 'postgres', queries, name: url, close: async () => pool.end() };
}

/** Behind a balancer or a name there may be a standby for a moment. @throws Error as PostgreSQL has it for a write, and nothing is asked there */
async function refuseStandby(client: PoolClient): Promise<void> {
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
