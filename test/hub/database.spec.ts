import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { failing, TestHub } from '../support/hub.ts';
import { Databases, undoMigrations } from '../support/hub-database.ts';
import { noMosquitto } from '../support/mosquitto.ts';
import { needs } from '../support/needs.ts';
import { noPostgres } from '../support/postgres.ts';
import { HUB_PROGRAM } from '../support/program.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const missing = noMosquitto() ?? noPostgres();
const run = promisify(execFile);
/** What a hub may take to notice that its database is there again, ms. */
const BACK_MS = 20_000;

describe(`a hub in PostgreSQL${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let databases: Databases;
  let hub: TestHub;
  before(async function () {
    if (missing !== null) return this.skip();
    databases = await Databases.of('postgres');
    hub = await TestHub.start(...(await databases.flags()));
  });
  after(async () => {
    await hub?.stop();
    await databases?.end();
  });

  const postgres = (): NonNullable<Databases['postgres']> => {
    if (databases.postgres === null) throw new Error('no PostgreSQL');
    return databases.postgres;
  };
  const serving = async (other: TestHub): Promise<string> => (await failing(other.command(['serve']))).stderr;
  const health = async () => (await hub.call('GET', '/v1/health', { credential: null })).body;
  /** A folder for a hub that was not made yet, and how `init` is asked for it. */
  const init = async (flags: readonly string[]) => {
    const folder = join(await tempDir(), 'hub');
    const ports = (await Promise.all([freePort(), freePort(), freePort()])).map(String);
    const at = ['--port', ports[0] ?? '', '--https-port', ports[1] ?? '', '--broker-port', ports[2] ?? ''];
    return {
      folder,
      done: run(process.execPath, [...HUB_PROGRAM, 'init', '--dir', folder, ...at, ...flags]),
    };
  };

  it('of two that are made at once in one database one is made, and the other is refused', async () => {
    const flags = await databases.flags();
    const both = [await init(flags), await init(flags)];
    const ended = await Promise.allSettled(both.map(async ({ done }) => done));
    expect(ended.map(({ status }) => status)).to.have.members(['fulfilled', 'rejected']);
    const refused = ended.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect((refused.reason as { stderr: string }).stderr).to.include('has a hub already');
    for (const { folder } of both) await removeDir(join(folder, '..'));
  });

  it('is not made where something else lives, and nothing of that is touched', async () => {
    const flags = await databases.flags();
    const name = flags[1]?.split('/').at(-1) ?? '';
    await postgres().psql('CREATE TABLE things (id integer); INSERT INTO things VALUES (7)', name);
    const { folder, done } = await init(flags);
    expect((await failing(done)).stderr).to.include('belongs to another application (it has a table things)');
    expect(await postgres().psql('SELECT id FROM things', name)).to.equal('7');
    expect(
      await postgres().psql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", name),
    ).to.equal('1');
    await removeDir(join(folder, '..'));
  });

  it('does not start with an older or a newer database, nor an empty one, and says what to do; two that migrate at once do it once', async () => {
    const other = await TestHub.init(...(await databases.flags()));
    await other.inDatabase(undoMigrations);
    expect(await serving(other)).to.match(/older hub \(it lacks 0001-hub, .*\).*svc-hub migrate/);
    const said = await Promise.all([other.command(['migrate']), other.command(['migrate'])]);
    expect(said.map(({ stdout }) => stdout.trim().replace(/^\d+/, 'n').split(' ')[0])).to.have.members([
      'n',
      'nothing',
    ]);
    await other.serve();
    await other.kill('SIGTERM');
    await other.sql("INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-wings', 'now')");
    expect(await serving(other)).to.include('newer hub (it has 9999-wings)');
    expect((await failing(other.command(['migrate']))).stderr).to.include('9999-wings');
    const config = join(other.folder, 'hub.yaml');
    const text = await readFile(config, 'utf8');
    await writeFile(config, text.replace(/hub_\d+/, (await postgres().database()).split('/').at(-1) ?? ''));
    for (const command of [['serve'], ['migrate'], ['operator', 'eve']])
      expect((await failing(other.command(command))).stderr).to.include('has no hub in it');
    await other.stop();
  });

  it('with another authority or signing key than the database knows does not start', async () => {
    for (const [file, words] of [
      ['signing.key', 'another signing key'],
      ['ca', 'another authority'],
    ] as const) {
      const stranger = await TestHub.init();
      const copy = join(await tempDir(), 'hub');
      await cp(hub.folder, copy, { recursive: true });
      await rm(join(copy, 'hub.lock'), { force: true });
      const names = file === 'ca' ? ['ca.pem', 'ca.key', 'server.pem', 'mqtt.pem', 'broker.pem'] : [file];
      for (const name of names) await cp(join(stranger.folder, name), join(copy, name));
      const { stderr } = await failing(run(process.execPath, [...HUB_PROGRAM, 'serve', '--dir', copy]));
      expect(stderr).to.include(words);
      await removeDir(join(copy, '..'));
      await stranger.stop();
    }
  });

  it('says in one sentence that its password is wrong, and never the password', async () => {
    const other = await TestHub.init(...(await databases.flags()));
    const file = (await other.text('hub.yaml')).match(/database_password_file: "?([^"\n]+)/)?.[1] ?? '';
    await writeFile(file, 'the-wrong-one\n');
    await postgres().authenticate('scram-sha-256');
    try {
      const stderr = await serving(other);
      expect(stderr).to.include('password authentication failed').and.not.to.include('the-wrong-one');
    } finally {
      await postgres().authenticate('trust');
      await other.stop();
    }
    const { done } = await init(['--database', 'postgres://hub:secret@127.0.0.1/hub']);
    expect(await failing(done)).to.deep.include({ code: 2 });
  });

  it('that is given a pooler by transaction says so, whichever parameters that takes; one by session it takes', async function () {
    needs(this, 'pgbouncer');
    const other = await TestHub.init(...(await databases.flags()));
    const direct = await other.text('hub.yaml');
    try {
      for (const [mode, ignored] of [
        ['transaction', ''],
        ['transaction', 'statement_timeout,idle_in_transaction_session_timeout'],
        ['session', 'statement_timeout,idle_in_transaction_session_timeout'],
      ] as const) {
        await using pooler = await postgres().pooled(mode, ignored);
        const at = direct.replace(`:${postgres().port}/`, `:${pooler.port}/`);
        await writeFile(join(other.folder, 'hub.yaml'), at);
        if (mode === 'session') await other.serve();
        else expect(await serving(other), ignored).to.include('pooler that changes sessions');
        await other.kill('SIGTERM');
      }
    } finally {
      await other.stop();
    }
  });

  it('whose database goes away says so, acknowledges nothing, and goes on when it is back', async () => {
    expect(await health()).to.include({ ok: true, disk: true });
    await postgres().stop('SIGKILL');
    const said = await askAgain('it says so', health, ({ disk }) => disk === false, BACK_MS);
    expect(said).to.include({ ok: false, problem: "The hub's database is away." });
    const refused = await hub.call('POST', '/v1/codes');
    expect(refused).to.deep.include({ status: 503 });
    expect(refused.body).to.include({ code: 'E_STORE', detail: "The hub's database is away." });
    await postgres().serve();
    await askAgain('it goes on', health, ({ ok }) => ok === true, BACK_MS);
    expect((await hub.call('POST', '/v1/codes')).status).to.equal(201);
  });

  it('whose database can only be read says so, and a slow one is waited for', async () => {
    const name = (await hub.text('hub.yaml')).match(/hub_\d+/)?.[0] ?? '';
    const again = async (): Promise<string> =>
      postgres().psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hub'");
    await postgres().psql(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await again();
    await askAgain(
      'it says that it is read-only',
      async () => hub.call('POST', '/v1/codes'),
      ({ body }) => String(body['detail']).includes('read-only'),
      BACK_MS,
    );
    await postgres().psql(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
    await again();
    await askAgain('it goes on', health, ({ ok }) => ok === true, BACK_MS);
    await postgres().psql(
      'CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(2); RETURN NEW; END$$;' +
        'CREATE TRIGGER slow BEFORE INSERT ON codes FOR EACH ROW EXECUTE FUNCTION slow()',
      name,
    );
    expect((await hub.call('POST', '/v1/codes')).status).to.equal(201);
    await postgres().psql('DROP TRIGGER slow ON codes', name);
  });
});

describe(`from SQLite to PostgreSQL${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(120_000);
  let databases: Databases;
  before(async function () {
    if (missing !== null) return this.skip();
    databases = await Databases.of('postgres');
  });
  after(async () => databases?.end());

  const flagsOf = async (): Promise<readonly string[]> => {
    const [, url = '', , file = ''] = await databases.flags();
    return ['--to', url, '--database-password-file', file];
  };

  it('moves everything, is alike, goes on with its numbers, and leaves the file', async () => {
    const hub = await TestHub.start();
    for (const id of ['kite', 'hawk']) await hub.enroll(id);
    await hub.call('POST', '/v1/credentials', {
      body: { label: 'laptop', scopes: ['read'], nodes: ['kite'], tags: ['north'] },
    });
    await hub.call('POST', '/v1/nodes/kite/tags', { body: { tags: ['north'], group: 'survey' } });
    const to = await flagsOf();
    expect((await failing(hub.command(['move', ...to]))).stderr).to.include('stop it first');
    await hub.kill('SIGTERM');
    await hub.sql(
      `INSERT INTO events (id, node, stream, seq, at, received_at, kind, detail) VALUES (41, 'kite', 's', 1, 1, 2, 'node.started', '{"ü":"…"}')`,
    );
    // More than are copied at once.
    await hub.sql(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) INSERT INTO streams (node, stream, seq) SELECT CASE i % 3 WHEN 0 THEN 'kite' ELSE 'Ärger' END, 's-' || i, i FROM n",
    );
    await hub.sql(
      `INSERT INTO flights (id, node, flight, received_at, started_at, ended_at, armed_s, distance_m, pilots, findings, detail) VALUES (7, 'kite', 'f-1', 3, 1, 2, 1800, 0.1, '["Ä"]', 0, '{}')`,
    );
    await hub.sql(
      `INSERT INTO sign_ins (id, hash, state, subject, name, group_name, scopes, tags, made_at, expires_at) VALUES ('op_1', x'01', x'02', 's', 'Ä', 'g', '["read"]', '[]', 1, 2)`,
    );
    await hub.sql("INSERT INTO flight_tracks (id, track) VALUES (7, '[[0,47.123456,8,null]]')");
    await hub.sql(
      "INSERT INTO flight_sums (node, battery, flights, armed_s, airborne_s, distance_m, first_at, last_at) VALUES ('kite', '', 1, 1800.3, 0, 0.1, 3, 3)",
    );
    await hub.sql(
      "INSERT INTO maintenance (node, battery, rule, done_at, done_by, note, flights, armed_s) VALUES ('kite', '', 'propellers', 4, 'ada', '', 1, 1800.3)",
    );
    await hub.sql(
      "INSERT INTO uploads (node, kind, name, url, bytes, received_at) VALUES ('kite', 'tlogs', 'ü.tlog', 'https://s/ü', 7, 3)",
    );
    const before = await readFile(join(hub.folder, 'hub.db'));
    const { stdout } = await hub.command(['move', ...to]);
    expect(stdout)
      .to.match(/ 2 {2}nodes\n/)
      .and.to.match(/ 1 {2}events\n/)
      .and.to.match(/ 1 {2}flights\n/)
      .and.to.include('all alike');
    expect((await readFile(join(hub.folder, 'hub.db'))).equals(before), 'the file stays').to.equal(true);
    expect(await hub.text('hub.yaml'))
      .to.include('database: postgres://')
      .and.to.include('# Told to nodes');
    await hub.serve();
    const { body } = await hub.call('GET', '/v1/nodes');
    expect((body['nodes'] as readonly { id: string }[]).map(({ id }) => id)).to.deep.equal(['hawk', 'kite']);
    expect((await hub.call('GET', '/v1/nodes/kite')).body).to.deep.include({
      tags: ['north'],
      group: 'survey',
    });
    await hub.sql(
      "INSERT INTO events (node, stream, seq, at, received_at, kind, detail) VALUES ('kite', 's', 2, 1, 2, 'x', '{}')",
    );
    const events = (await hub.call('GET', '/v1/events')).body['events'] as readonly { id: number }[];
    expect(events.map(({ id }) => id)).to.deep.equal([41, 42]);
    expect((await failing(hub.command(['move', ...to]))).stderr).to.include('already');
    await hub.stop();
  });

  it('that is killed has changed nothing, and a copy that is not alike is refused', async () => {
    const hub = await TestHub.init();
    const to = await flagsOf();
    const child = execFile(process.execPath, [...HUB_PROGRAM, 'move', '--dir', hub.folder, ...to]);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(await hub.text('hub.yaml')).to.include('database: sqlite');
    const config = await readFile(join(hub.folder, 'hub.yaml'));
    await hub.command(['move', ...to]);
    await writeFile(join(hub.folder, 'hub.yaml'), config); // as if it had ended before this was written
    expect((await hub.command(['move', ...to])).stdout).to.include('all alike');
    await hub.sql("UPDATE operators SET name = 'somebody else'");
    await writeFile(join(hub.folder, 'hub.yaml'), config);
    expect((await failing(hub.command(['move', ...to]))).stderr).to.match(/operators .* are not the 1 of/);
    expect(await hub.text('hub.yaml')).to.include('database: sqlite');
    await hub.stop();
  });

  it('a file of version 1.0 is told to be migrated, and goes on afterwards', async () => {
    const hub = await TestHub.init();
    await hub.inDatabase(undoMigrations);
    expect((await failing(hub.command(['serve']))).stderr).to.include('svc-hub migrate');
    expect((await hub.command(['migrate'])).stdout).to.match(/\d applied/);
    await hub.serve();
    expect((await hub.call('GET', '/v1/me')).status).to.equal(200);
    await hub.stop();
  });
});
