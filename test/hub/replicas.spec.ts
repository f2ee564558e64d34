import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { topics } from '../../shared/fleet/topics.ts';
import { askAgain } from '../support/ask-again.ts';
import { EACH_ONCE, Operator } from '../support/balanced.ts';
import { newSigner } from '../support/fleet-hand.ts';
import type { TestHub } from '../support/hub.ts';
import { noReplicas, Replicas } from '../support/replicas.ts';
import { seeded } from '../support/seeded.ts';
import { SpeakingNode } from '../support/speaking-node.ts';

const NODES = 12;
/** Longer than a session lasts that says nothing. */
const PAUSED_MS = Number(process.env['SVC_PAUSED_MS'] ?? 10_000);
const STREAM_MS = 10_000;
const missing = noReplicas();

/** The environment of a process whose clock is off, seconds. */
const clockOff = (offset: string) => ({
  LD_PRELOAD: '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  FAKETIME: offset,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  NO_FAKE_STAT: '1',
});

describe(`three replicas of a hub${missing === null ? '' : ` (${missing})`}`, function () {
  this.timeout(180_000);
  let replicas: Replicas;
  let nodes: readonly SpeakingNode[];
  let operator: Operator;

  before(async function () {
    if (missing !== null) return this.skip();
    replicas = await Replicas.start([{}, clockOff('+20'), clockOff('-20')]);
    const made: SpeakingNode[] = [];
    for (let n = 0; n < NODES; n++)
      made.push(new SpeakingNode(await replicas.at(n % 3).enroll(`drone-${n}`)));
    nodes = made;
    operator = new Operator(replicas.balanced);
    await replicas.shared();
    await flowing();
  });
  after(async () => {
    operator?.end();
    for (const node of nodes ?? []) node.end();
    await replicas?.end();
  });

  /** Resolves when each node has had three more events acknowledged. */
  async function flowing(): Promise<void> {
    const wanted = nodes.map(({ acknowledged }) => acknowledged + 3);
    await askAgain(
      'each node has events acknowledged',
      async () => nodes.map(({ acknowledged }) => acknowledged),
      (now) => now.every((seq, at) => seq >= (wanted[at] ?? 0)),
    );
  }

  /** Nothing lost, doubled or out of order. */
  const whole = async (): Promise<void> => {
    expect(await operator.readAllOf(nodes)).to.deep.equal(EACH_ONCE);
  };

  it('each shows all nodes as they are, whoever hears them', async () => {
    for (const hub of replicas.hubs) {
      const listed = await askAgain(
        'all nodes are there',
        async () =>
          (await hub.call('GET', '/v1/nodes?limit=100')).body['nodes'] as readonly {
            online: boolean;
            status: unknown;
          }[],
        (all) => all.length === NODES && all.every(({ online, status }) => online && status !== null),
      );
      expect(listed).to.have.length(NODES);
    }
    await whole();
  });

  const killed: readonly (readonly [string, () => Promise<TestHub>])[] = [
    ['any of them', async () => replicas.at(2)],
    ['the one that looks after the fleet', async () => replicas.keeper()],
  ];
  for (const [what, which] of killed)
    it(`kill -9 of ${what}: the others go on with its nodes, and so does the page`, async () => {
      const hub = await which();
      operator.fresh();
      await hub.kill();
      await flowing();
      expect(operator.longestSilence).to.be.below(STREAM_MS);
      await hub.serve(false);
      await replicas.shared();
      await whole();
    });

  it('a replica that stood still comes back and believes that it has its nodes: it writes nothing of them', async () => {
    const hub = await replicas.keeper();
    process.kill(hub.pid, 'SIGSTOP');
    try {
      await delay(PAUSED_MS); // no event: it stands still
      await flowing();
    } finally {
      process.kill(hub.pid, 'SIGCONT');
    }
    await flowing();
    await replicas.shared();
    await whole();
    expect(Math.max(...operator.events.map(({ seq }) => seq))).to.be.above(10);
  });

  it('whatever stands still, and in whatever order: all goes on after it, and no replica stays deaf', async () => {
    const { postgres, standby, broker } = replicas;
    const stands = async (pause: (isPaused: boolean) => unknown, ms: number): Promise<void> => {
      await pause(true);
      await delay(ms); // no event: it stands still
      await pause(false);
    };
    const signal = (pid: number) => (isPaused: boolean) =>
      process.kill(pid, isPaused ? 'SIGSTOP' : 'SIGCONT');
    const slowTable = async (): Promise<void> => {
      const lock = 'BEGIN; LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(4); COMMIT';
      for (let turn = 0; turn < 3; turn++)
        await replicas.first.inDatabase(async ({ name }) => postgres.psql(lock, name.split('/').at(-1)));
    };
    const pauses: readonly (readonly [string, () => Promise<void>])[] = [
      ['the standby', async () => stands(async (isPaused) => standby.pause(isPaused), 12_000)],
      ['PostgreSQL', async () => stands(async (isPaused) => postgres.pause(isPaused), 12_000)],
      ['the table of nodes', slowTable],
      ['a replica', async () => stands(signal((await replicas.keeper()).pid), 8000)],
      ['the broker', async () => stands(signal(broker.pid), 8000)],
    ];
    const seed = Number(process.env['SVC_TEST_SEED'] ?? 20_261_129);
    const random = seeded(seed);
    const shuffled = pauses
      .map((each) => ({ each, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ each }) => each);
    for (const [what, pause] of shuffled) {
      await pause();
      await replicas.shared();
      await flowing();
      for (const hub of replicas.hubs) {
        const ready = async () => hub.call('GET', '/readyz', { credential: null });
        await askAgain(`ready after ${what} (seed ${seed})`, ready, ({ status }) => status === 200);
      }
    }
    await whole();
  });

  it('a database that is away for 10 s is the reason why no replica is ready, and an alarm of each', async () => {
    await replicas.postgres.pause(true);
    try {
      for (const hub of replicas.hubs) {
        const { body } = await askAgain(
          'it is not ready',
          async () => hub.call('GET', '/readyz', { credential: null }),
          ({ status, body: why }) =>
            status === 503 && JSON.stringify(why).includes('has not answered for 10 s'),
        );
        expect(body['code']).to.equal('E_UPSTREAM_DOWN');
      }
      for (const hub of replicas.hubs)
        await askAgain(
          'it is an alarm',
          async () => hub.stderr,
          (text) => text.includes('hub: The database has not answered for 10 s'),
        );
    } finally {
      await replicas.postgres.pause(false);
    }
    await flowing();
    await replicas.shared();
    const { body } = await replicas.at(1).call('GET', '/v1/audit');
    expect(JSON.stringify(body)).to.include('has not answered for 10 s');
    await whole();
  });

  it('tokens and codes are of the database’s time, whatever the clock of the replica that makes them', async () => {
    const body = { key: (await newSigner()).jwk };
    for (const hub of replicas.hubs) {
      const now = Date.now() / 1000;
      const token = await hub.call('POST', '/v1/me/token', { body });
      expect(Number(token.body['expires_at']) / 1000 - now).to.be.closeTo(15 * 60, 3);
      const code = await hub.call('POST', '/v1/codes');
      expect(Number(code.body['expires_at']) / 1000 - now).to.be.closeTo(24 * 3600, 3);
    }
  });

  it('one whose clock is an hour ahead is not ready, and says why; set right, it is', async () => {
    const hub = replicas.at(2);
    await hub.kill('SIGTERM');
    await hub.serve(false, clockOff('+3600'));
    const ready = async () => hub.call('GET', '/readyz', { credential: null });
    const { status, body } = await ready();
    expect([status, body['detail']]).to.deep.equal([
      503,
      "The clock of this machine is 3600 s ahead of the database's. Set it right.",
    ]);
    await flowing(); // it hears its nodes all the same
    await hub.kill('SIGTERM');
    await hub.serve(false);
    await replicas.shared();
    await askAgain('it is ready', ready, ({ status: now }) => now === 200);
    await whole();
  });

  it('PostgreSQL ends as in a power cut, and comes back', async () => {
    await replicas.postgres.stop('SIGKILL');
    await delay(3000); // longer than a look and a turn
    await replicas.postgres.serve();
    await flowing();
    await replicas.shared();
    await whole();
  });

  it('PostgreSQL is gone for good, and its standby is promoted', async () => {
    await replicas.postgres.stop('SIGKILL');
    await replicas.standby.promote();
    await flowing();
    await replicas.shared();
    await whole();
  });

  it('the broker ends as in a power cut, and comes back', async () => {
    await replicas.broker.kill();
    await replicas.broker.run();
    await flowing();
    await whole();
  });

  it('a credential that is ended at one is refused by all within a second, and their streams end', async () => {
    const { body } = await replicas.at(0).call('POST', '/v1/operators', {
      body: { name: 'guest', scopes: ['read'] },
    });
    const credential = String(body['credential']);
    const streams = replicas.hubs.map(async (hub) => {
      const answer = await fetch(`${hub.url}/v1/nodes/stream`, {
        headers: { authorization: `Bearer ${credential}` },
      });
      expect(answer.status).to.equal(200);
      return answer;
    });
    const open = await Promise.all(streams);
    const ended = open.map(async (answer) => answer.text().then(() => performance.now()));
    await replicas.at(1).call('DELETE', `/v1/operators/${String(body['id'])}`);
    const from = performance.now();
    for (const hub of replicas.hubs)
      expect((await hub.call('GET', '/v1/me', { credential })).status).to.equal(401);
    for (const at of await Promise.all(ended)) expect(at - from).to.be.below(1000);
  });

  it('a tag that is given or taken at one counts at all within two seconds, whoever hears the node', async () => {
    const { body } = await replicas.at(0).call('POST', '/v1/operators', {
      body: { name: 'north', scopes: ['read'], tags: ['north'] },
    });
    const credential = String(body['credential']);
    for (const [at, { id }] of nodes.entries())
      for (const tags of [['north'], []]) {
        const set = { body: { tags, group: null } };
        expect((await replicas.at(at % 3).call('POST', `/v1/nodes/${id}/tags`, set)).status).to.equal(200);
        for (const hub of replicas.hubs)
          await askAgain(
            `${id} has ${tags.join()}`,
            async () => hub.call('GET', `/v1/nodes/${id}`, { credential }),
            ({ status, body: entry }) =>
              tags.length === 0 ? status === 404 : status === 200 && entry['online'] === true,
            2000,
          );
      }
  });

  it('a node that is removed at one is gone at all, and cut off by the rules of the one beside the broker', async () => {
    const guest = await replicas.at(1).enroll('guest');
    const client = await replicas.first.connect(guest);
    const cut = new Promise<void>((resolve) => {
      client.once('close', () => resolve());
    });
    for (const hub of replicas.hubs)
      await askAgain(
        'it is there',
        async () => hub.call('GET', '/v1/nodes/guest'),
        ({ status }) => status === 200,
      );
    await replicas.at(2).call('DELETE', '/v1/nodes/guest');
    for (const hub of replicas.hubs)
      await askAgain(
        'it is gone',
        async () => hub.call('GET', '/v1/nodes/guest'),
        ({ status }) => status === 404,
        2000,
      );
    await askAgain(
      'the rules deny it',
      async () => readFile(replicas.broker.acl, 'utf8'),
      (text) => text.includes('user guest'),
      2000,
    );
    client.end(true);
    await cut;
  });

  it('an older policy that comes late does not stay: the newest is there again', async () => {
    const [node] = nodes;
    if (node === undefined) throw new Error('no node');
    const { fleet } = await replicas
      .at(0)
      .enroll('listening')
      .then(({ enrolled }) => enrolled);
    const hub = await replicas.broker.client('hub');
    const heard: string[] = [];
    hub.on('message', (_topic, payload) => heard.push(payload.toString()));
    await hub.subscribeAsync(topics.policy(fleet), { qos: 1 });
    const older = await askAgain(
      'a policy',
      async () => heard.at(-1) ?? '',
      (text) => text !== '',
    );
    const { body } = await replicas
      .at(0)
      .call('POST', '/v1/operators', { body: { name: 'x', scopes: ['read'] } });
    await replicas.at(0).call('DELETE', `/v1/operators/${String(body['id'])}`);
    const newest = await askAgain(
      'a newer policy',
      async () => heard.at(-1) ?? '',
      (text) => text !== older,
    );
    heard.length = 0;
    await hub.publishAsync(topics.policy(fleet), older, { qos: 1, retain: true });
    await askAgain(
      'the newest again',
      async () => heard.at(-1) ?? '',
      (text) => text === newest,
      5000,
    );
    await hub.endAsync();
  });

  it('a database that a newer version has migrated: those that run go on, and one of this version does not start again', async () => {
    const hub = replicas.at(2);
    await hub.sql("INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-next', 'now')");
    await hub.kill('SIGTERM');
    const refused = await hub.serve(false).catch((error: unknown) => error);
    expect(String(refused)).to.include('belongs to a newer hub (it has 9999-next)');
    await flowing();
    await replicas.first.sql("DELETE FROM kysely_migration WHERE name = '9999-next'");
    await hub.serve(false);
    await replicas.shared();
    await whole();
  });

  it('one that is told to stop is left by the balancer first', async () => {
    const hub = replicas.at(1);
    await askAgain(
      'the balancer knows it',
      async () => hub.call('GET', '/readyz', { credential: null }),
      ({ status }) => status === 200,
    );
    const answers: number[] = [];
    const stopped = new AbortController();
    const asking = (async () => {
      while (!stopped.signal.aborted) {
        answers.push((await replicas.balanced.call('GET', '/v1/me').catch(() => ({ status: 0 }))).status);
        await delay(100);
      }
    })();
    await hub.kill('SIGTERM');
    stopped.abort();
    await asking;
    expect(answers.length).to.be.above(10);
    expect(new Set(answers)).to.deep.equal(new Set([200]));
    await hub.serve(false);
    await replicas.shared();
    await whole();
  });

  it('a database that is restored under hubs that run stops them: what they remember is not what it says', async () => {
    const [hub] = replicas.hubs;
    await hub?.sql("UPDATE meta SET value = value - 1000 WHERE key = 'policy_seq' RETURNING value");
    const ends = await Promise.all(
      replicas.hubs.map(async (each) => each.logged('this is never said').catch(String)),
    );
    for (const said of ends) expect(said).to.include('restored under a hub that runs');
  });
});
