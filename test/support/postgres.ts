import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askAgain, worksAtLast } from './ask-again.ts';
import { findProgram } from './needs.ts';
import { freePort, removeDir, tempDir } from './temp.ts';

const run = promisify(execFile);
const VERSIONS = '/usr/lib/postgresql';
const START_MS = 60_000;

/** Where Debian has the programs; null: not installed. */
export function postgresPrograms(): string | null {
  if (!existsSync(VERSIONS)) return null;
  const newest = readdirSync(VERSIONS).toSorted((a, b) => Number(b) - Number(a))[0];
  const folder = join(VERSIONS, newest ?? '', 'bin');
  return existsSync(join(folder, 'initdb')) ? folder : null;
}

/** Why these tests cannot run here; null where they can. */
export function noPostgres(): string | null {
  return postgresPrograms() === null ? 'postgresql is not installed' : null;
}

/** PostgreSQL refuses to run as root. @returns the command and its arguments */
export function asItsUser(command: string, args: readonly string[]): readonly [string, readonly string[]] {
  return userInfo().uid === 0
    ? ['setpriv', ['--reuid=postgres', '--regid=postgres', '--clear-groups', '--', command, ...args]]
    : [command, args];
}

/** A cluster of its own in a temporary folder, on a free port of loopback; its user `hub` has a password. */
export class Postgres {
  readonly port: number;
  readonly password = 'of-this-test-only';
  readonly #folder: string;
  readonly #programs: string;
  #process: ChildProcess | null = null;
  #databases = 0;

  private constructor(folder: string, port: number, programsFolder: string) {
    this.#folder = folder;
    this.port = port;
    this.#programs = programsFolder;
  }

  static async start(): Promise<Postgres> {
    const postgres = await Postgres.#make();
    const data = join(postgres.#folder, 'data');
    await postgres.#run('initdb', [
      '-D',
      data,
      '-A',
      'trust',
      '-U',
      'admin',
      '--no-sync',
      '-E',
      'UTF8',
      '--no-locale',
    ]);
    await postgres.serve();
    await postgres.psql(`CREATE ROLE hub LOGIN PASSWORD '${postgres.password}'`);
    return postgres;
  }

  static async #make(): Promise<Postgres> {
    const folder = postgresPrograms();
    if (folder === null) throw new Error('postgresql is not installed');
    const base = await tempDir();
    if (userInfo().uid === 0) {
      const { stdout } = await run('id', ['-u', 'postgres']);
      await chown(base, Number(stdout), -1);
    }
    return new Postgres(base, await freePort(), folder);
  }

  /** Another cluster that has whatever is committed here before that is confirmed, and only reads until `promote`. */
  async standby(): Promise<Postgres> {
    const standby = await Postgres.#make();
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'admin'];
    const to = ['-D', join(standby.#folder, 'data'), '-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
    await standby.#run('pg_basebackup', [...from, ...to]);
    await standby.serve();
    await this.psql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.psql('SELECT pg_reload_conf()');
    await askAgain(
      'the standby has what is committed',
      async () => this.psql('SELECT sync_state FROM pg_stat_replication'),
      (state) => state === 'sync',
    );
    return standby;
  }

  /** A standby is the one that is written from now on. */
  async promote(): Promise<void> {
    await this.psql('SELECT pg_promote()');
  }

  /** Of the process that runs. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts it, again after `stop`. @param settings as in postgresql.conf */
  async serve(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const given = {
      port: String(this.port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      ...settings,
    };
    const options = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [command, args] = asItsUser(join(this.#programs, 'postgres'), [
      '-D',
      join(this.#folder, 'data'),
      ...options,
    ]);
    this.#process = spawn(command, args, { stdio: 'ignore' });
    await worksAtLast('PostgreSQL takes connections', async () => this.psql('SELECT 1'), START_MS);
  }

  /** A new empty database. @returns its address, without the password */
  async database(): Promise<string> {
    const name = `hub_${++this.#databases}`;
    await this.psql(`CREATE DATABASE ${name} OWNER hub`);
    return `postgres://hub@127.0.0.1:${this.port}/${name}`;
  }

  /** PgBouncer before it. @param ignored which parameters of a connection it leaves out, beside those that it knows */
  async pooled(
    mode: 'session' | 'transaction',
    ignored: string,
  ): Promise<AsyncDisposable & { readonly port: number }> {
    const port = await freePort();
    const file = join(this.#folder, `pgbouncer-${port}.ini`);
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'any',
      pool_mode: mode,
      ignore_startup_parameters: ignored,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const at = `* = host=127.0.0.1 port=${this.port} user=hub password=${this.password}`;
    await writeFile(file, `[databases]\n${at}\n[pgbouncer]\n${lines.join('\n')}\n`);
    const [command, args] = asItsUser(findProgram('pgbouncer') ?? 'pgbouncer', [file]);
    const child = spawn(command, args, { stdio: 'ignore' });
    await worksAtLast(
      'PgBouncer listens',
      async () => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect').finally(() => socket.destroy());
      },
      START_MS,
    );
    return {
      port,
      [Symbol.asyncDispose]: async () => {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      },
    };
  }

  async psql(sql: string, database = 'postgres'): Promise<string> {
    const at = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'admin', '-d', database];
    const { stdout } = await run(join(this.#programs, 'psql'), [
      ...at,
      '-v',
      'ON_ERROR_STOP=1',
      '-qAtc',
      sql,
    ]);
    return stdout.trim();
  }

  /** How the user `hub` is asked for its password: `trust` not at all. The admin of these tests never is. */
  async authenticate(method: 'trust' | 'scram-sha-256'): Promise<void> {
    const lines = ['host all admin 127.0.0.1/32 trust', `host all hub 127.0.0.1/32 ${method}`];
    await writeFile(join(this.#folder, 'data/pg_hba.conf'), `${lines.join('\n')}\n`);
    await this.psql('SELECT pg_reload_conf()');
  }

  /** All that is in all databases, as text. */
  async dump(): Promise<string> {
    const at = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'admin'];
    const { stdout } = await run(join(this.#programs, 'pg_dumpall'), at, { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  }

  /** SIGINT: at once, but in order. SIGKILL: as in a power cut. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** All its processes stand still, or go on: a card or a machine that does not answer. */
  async pause(isPaused: boolean): Promise<void> {
    const { pid } = this;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    for (const each of [String(pid), ...children.trim().split(' ')])
      process.kill(Number(each), isPaused ? 'SIGSTOP' : 'SIGCONT');
  }

  async remove(): Promise<void> {
    await this.stop();
    await removeDir(this.#folder);
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    const [command, all] = asItsUser(join(this.#programs, program), args);
    await run(command, [...all], { cwd: this.#folder });
  }
}
