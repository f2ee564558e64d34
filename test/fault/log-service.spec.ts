import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { LogShipper } from '../../bin/supervisor/log-shipper.ts';
import { KEY } from '../support/edge.ts';
import { linkState, logged, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const headers = { 'x-svc-key': KEY };

interface Event {
  readonly ts_us: number;
  readonly kind: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Writes until nothing more fits. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let size = 65_536; size >= 1; size = Math.floor(size / 8))
      expect(() => {
        for (;;) writeSync(file, Buffer.alloc(size));
      }).to.throw('ENOSPC');
  } finally {
    closeSync(file);
  }
}

describe('the log service of a node', () => {
  it('a disk that is full at the start: the database stays, and is opened when there is room', async function () {
    if (process.getuid?.() !== 0) this.skip(); // a tmpfs needs root
    let disk = '';
    let node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      prepare: async ({ logStore }) => {
        disk = dirname(logStore);
        await mkdir(disk, { recursive: true });
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]);
      },
    });
    const entries = async (): Promise<number> => {
      const { body } = await node.json('/api/logs?service=svc-control&text=listening', { headers });
      return Number(body['total']);
    };
    const stats = async () => node.json('/api/logs/stats', { headers });
    try {
      await logged(node, 'svc-control', 'listening', headers);
      await node.stop({ keep: true });
      fill(join(disk, 'ballast'));
      node = await TestNode.resume(node, {});
      await node.until((services) => services.every(({ state }) => state === 'running'));
      const refused = await stats();
      expect([refused.status, refused.body['code']]).to.deep.equal([503, 'E_STORE']);
      // The rest of the process works meanwhile.
      expect((await node.json('/api/config', { headers })).status).to.equal(200);
      expect(await readdir(disk)).to.include('logs.db');
      rmSync(join(disk, 'ballast'));
      while ((await stats()).status !== 200);
      await logged(node, 'svc-residual', 'tried again', headers);
      while ((await entries()) < 2);
      expect((await readdir(disk)).filter((name) => name.includes('broken'))).to.deep.equal([]);

      // And one that fills up while it runs: what was written meanwhile comes later, once.
      fill(join(disk, 'ballast'));
      await node.killAndAwaitSuccessor('svc-link');
      while (!/log store: .*full/.test(node.stderr))
        await once(node.supervisor.stderr ?? node.supervisor, 'data');
      rmSync(join(disk, 'ballast'));
      await logged(node, 'svc-supervisor', 'svc-link is waiting', headers);
      const { body } = await node.json('/api/logs?service=svc-supervisor&text=svc-link%20is%20waiting', {
        headers,
      });
      expect(body['total']).to.equal(1);
    } finally {
      await node.stop({ keep: true });
      execFileSync('umount', ['-l', disk]);
      await node.remove();
    }
  });

  it('the time follows the wall clock, and a step of it is an event; the boot is the kernel’s', async () => {
    const preload = `--import=${join(import.meta.dirname, '../support/stepping-clock.ts')}`;
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      env: { NODE_OPTIONS: preload },
    });
    const data = async <T>(path: string): Promise<readonly T[]> =>
      (await node.json(`/api/observability/${path}`, { headers })).body['data'] as T[];
    try {
      const began = Date.now();
      process.kill(node.pid('svc-residual'), 'SIGUSR2');
      let events: readonly Event[] = [];
      while (events.length === 0) events = await data<Event>('query?kind=events&event_kind=clock_stepped');
      const [step] = events;
      const year = 365 * 86_400_000;
      expect(events).to.have.length(1);
      expect(step?.detail['step_ms']).to.be.closeTo(year, 20);
      expect(Date.parse(String(step?.detail['from']))).to.be.within(began, Date.now());
      expect(Number(step?.ts_us) / 1000 - year).to.be.within(began, Date.now());
      const [boot] = await data<{ meta: { boot: string } }>('sessions?kind=boot');
      expect(boot?.meta.boot).to.equal(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
    } finally {
      await node.stop();
    }
  });

  it('a flight controller that was there all the time is not connected anew by a restart of svc-residual', async () => {
    const node = await TestNode.start({ pairing: { key: KEY } });
    const connections = async (): Promise<readonly string[]> => {
      const { body } = await node.json('/api/observability/query?kind=events', { headers });
      const kinds = (body['data'] as readonly { readonly kind: string }[] | undefined)?.map(
        ({ kind }) => kind,
      );
      return (kinds ?? []).filter((kind) => kind.startsWith('fc_')).toReversed();
    };
    const until = async (count: number): Promise<void> => {
      while ((await connections()).length < count) await telemetry(node, () => true, headers);
    };
    try {
      await until(1);
      await node.killAndAwaitSuccessor('svc-residual');
      process.kill(node.pid('svc-sim'), 'SIGSTOP');
      await linkState(node, ({ mavlink_alive: alive }) => !alive);
      process.kill(node.pid('svc-sim'), 'SIGCONT');
      await until(3);
      expect(await connections()).to.deep.equal(['fc_connected', 'fc_lost', 'fc_connected']);
    } finally {
      await node.stop();
    }
  });
});

describe('the log shipper', () => {
  it('backs off from a store that greets and hangs up on every record, and comes back at once when it works', async () => {
    const dir = await tempDir();
    const path = join(dir, 'logs.sock');
    let full = true;
    const shipper = new LogShipper(path);
    const server = createServer((socket: Socket) => {
      socket.on('error', () => undefined); // the shipper may write while we hang up
      socket.write('{"ack":0}\n');
      socket.on('data', (chunk: Buffer) => {
        const seq = /^(\d+) /m.exec(chunk.toString())?.[1];
        if (seq === undefined) return; // its hello
        if (full) socket.destroy();
        else socket.write(`{"ack":${seq}}\n`, () => socket.destroy());
      });
    });
    server.listen(path);
    await once(server, 'listening');
    shipper.start();
    shipper.write('{"msg":"a line"}');
    const gap = async (): Promise<number> => {
      const since = performance.now();
      await once(server, 'connection');
      return performance.now() - since;
    };
    await once(server, 'connection');
    const gaps: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) gaps.push(await gap());
    expect(gaps.at(-1), gaps.map(Math.round).join(' ')).to.be.above(1200); // 100 ms, doubled four times
    full = false; // this connection's record is stored
    expect(await gap()).to.be.below(600);
    await shipper.stop(0);
    server.close();
    await removeDir(dir);
  });
});
