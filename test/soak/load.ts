import { Agent } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { Framer } from '../../shared/mavlink/framer.ts';
import { encodeAs, heartbeat } from '../link/mavlink-samples.ts';
import { formWith, makeExtension, type Signer, withSdk } from '../support/extensions.ts';
import type { RemoteHost } from '../support/netns.ts';
import { play } from '../support/video-node.ts';
import { ask } from './ask.ts';
import { KEYED, Pulse, type Rig } from './rig.ts';

const READS = [
  '/api/status',
  '/api/telemetry',
  '/api/config',
  '/api/params',
  '/api/logs?limit=50',
  '/api/observability/query?kind=events&limit=50',
  '/api/system',
  '/api/services',
  '/api/video',
  '/api/video/snapshot',
  '/api/mission',
  '/metrics',
] as const;
const READERS = 2;
/** About 50 requests a second with the others. */
const STEADY_READERS = 8;
const TELEMETRY_CLIENTS = 3;
/** A read that begins so soon after the link came back may be cut off by the vehicle's new session. */
const NEW_SESSION_MS = 10_000;
export const GCS = { system: 255, component: 190 } as const;

/** What clients do all the time, each until the end of the run. @param remote a host behind a cable, if there is one */
export function startLoad(rig: Rig, remote: RemoteHost | null): readonly Promise<void>[] {
  return [
    ...Array.from({ length: READERS }, async (_, number) => readers(rig, number)),
    ...Array.from({ length: TELEMETRY_CLIENTS }, async () => telemetryClient(rig)),
    latencyProbe(rig),
    groundStation(rig),
    logStream(rig),
    viewer(rig),
    ...(remote === null ? [] : [remoteClient(rig, remote)]),
  ];
}

/** What comes and goes in a steady run, beside more readers: viewers, followers of the log, an extension. */
export function startComings(rig: Rig, by: Signer): readonly Promise<void>[] {
  return [
    ...Array.from({ length: STEADY_READERS }, async (_, number) => readers(rig, number)),
    viewersThatGo(rig),
    followersThatGo(rig),
    extension(rig, by),
  ];
}

async function viewersThatGo(rig: Rig): Promise<void> {
  await rig.repeat(3000, async () => {
    const first = Promise.withResolvers<void>();
    const playing = await play(rig.node, () => first.resolve()).catch(() => null); // the node is away at the moment
    if (playing === null) return;
    await Promise.race([first.promise, rig.pause(5000)]);
    await ask(`${rig.node.url}${playing.session}`, { method: 'DELETE' });
    await playing.peer.close();
    rig.count('viewers that came and went');
  });
}

async function followersThatGo(rig: Rig): Promise<void> {
  await rig.repeat(2000, async () => {
    const cut = AbortSignal.any([rig.signal, AbortSignal.timeout(2000)]);
    try {
      const answer = await fetch(`${rig.node.url}/api/logs/stream?replay=20`, {
        headers: KEYED,
        signal: cut,
      });
      await answer.text();
    } catch {
      rig.count('followers of the log that came and went'); // it hung up, or a fault did
    }
  });
}

/** Enabled and disabled all the time, between flights: it is guarded while armed. */
async function extension(rig: Rig, by: Signer): Promise<void> {
  const id = 'org.example.soak';
  const archive = await makeExtension({
    id,
    signer: by,
    files: await withSdk("setInterval(() => void svc.publishState('beat', Date.now()), 500);"),
  });
  await rig.flights.run(async () => {
    const body = await formWith(archive);
    const { ok } = await rig.node.fetch('/api/plugins/install', { method: 'POST', headers: KEYED, body });
    if (!ok) throw new Error('the extension of the soak was not installed');
  });
  await rig.repeat(5000, async () =>
    rig.flights.run(async () => {
      // Somebody else may have armed.
      await rig.ask(`/api/plugins/${id}/enable`, { method: 'POST', body: {} }, [409]);
      await rig.pause(5000);
      await rig.ask(`/api/plugins/${id}/disable`, { method: 'POST', body: {} }, [409]);
      rig.count('runs of the extension');
    }),
  );
}

async function readers(rig: Rig, number: number): Promise<void> {
  let next = number * Math.floor(READS.length / READERS);
  await rig.repeat(200, async () => {
    const path = READS[next++ % READS.length] ?? '/api/status';
    // A list that is on its way ends with the vehicle's session, and the new one begins a little after its first heartbeat.
    const isNew = path === '/api/mission' && !rig.wellSince('link', performance.now() - NEW_SESSION_MS);
    await rig.ask(path, {}, isNew ? [504] : []);
  });
}

/** One request four times a second on a connection that is kept. */
async function latencyProbe(rig: Rig): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await rig.repeat(250, async () => {
    const at = performance.now();
    const { status } = await ask(`${rig.node.url}/api/status`, { agent });
    const ns = Math.max(1, Math.round((performance.now() - at) * 1e6));
    if (status === 200) rig.latency[rig.wellSince('node', at) ? 'calm' : 'fault'].record(ns);
  });
  agent.destroy();
}

async function telemetryClient(rig: Rig): Promise<void> {
  const pulse = new Pulse(rig, 'telemetry', 'node', 5000, 10_000);
  await watched(rig, pulse, async (closed) => {
    const socket = new WebSocket(`${rig.node.url.replace('http', 'ws')}/api/telemetry/ws`, {
      headers: KEYED,
    });
    socket.on('message', () => {
      pulse.beat();
      rig.count('telemetry messages');
    });
    socket.on('error', closed);
    socket.on('close', closed);
    return () => socket.terminate();
  });
}

/** A ground station on the TCP endpoint: it says that it is there, and listens. */
async function groundStation(rig: Rig): Promise<void> {
  const pulse = new Pulse(rig, 'mavlink', 'link', 5000, 10_000);
  const port = groundPort(rig);
  await watched(rig, pulse, async (closed) => {
    const socket = connect(port, '127.0.0.1');
    const framer = new Framer(() => {
      pulse.beat();
      rig.count('MAVLink frames');
    });
    const hello = encodeAs(heartbeat({ type: 6, autopilot: 8 }), 'v2', 0, GCS.system, GCS.component);
    socket.on('connect', () => socket.write(hello));
    const beats = setInterval(() => socket.writable && socket.write(hello), 1000);
    socket.on('data', (bytes: Buffer) => framer.push(bytes, performance.now()));
    socket.on('error', closed);
    socket.on('close', closed);
    return () => {
      clearInterval(beats);
      socket.destroy();
    };
  });
}

/** The port of the endpoint for ground stations, after that of HTTP. */
export function groundPort(rig: Pick<Rig, 'node'>): number {
  return rig.node.port + 1;
}

interface LogEntry {
  readonly fields?: { readonly route?: string; readonly seq?: number } | null;
}

/** Follows the log: the numbers of the changes in it must rise, over restarts too. */
async function logStream(rig: Rig): Promise<void> {
  const { logs } = rig.invariants;
  let last = 0;
  await rig.repeat(500, async () => {
    const cut = AbortSignal.any([rig.signal, AbortSignal.timeout(120_000)]);
    try {
      const answer = await fetch(`${rig.node.url}/api/logs/stream?replay=0`, { headers: KEYED, signal: cut });
      if (answer.status !== 200 || answer.body === null) return;
      let rest = '';
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (rest + chunk).split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data === undefined) continue;
          rig.count('log records');
          // The copies of the audit carry its numbers; those of strangers have numbers of their own.
          const { fields } = JSON.parse(data) as LogEntry;
          if (fields?.route !== 'PUT /api/config' || fields.seq === undefined) continue;
          const { seq } = fields;
          logs.check(seq > last, () => `record ${seq} of the audit after ${last}`);
          last = Math.max(last, seq);
        }
      }
    } catch (error) {
      if (error instanceof SyntaxError) logs.broke(`half a record: ${error.message}`);
      // else the stream was cut off: the next one goes on
    }
  });
}

async function viewer(rig: Rig): Promise<void> {
  const pulse = new Pulse(rig, 'viewer', 'node', 5000, 30_000);
  const looking = setInterval(() => pulse.look(), 1000);
  await rig.repeat(500, async () => {
    let last = performance.now();
    const playing = await play(rig.node, () => {
      last = performance.now();
      pulse.beat();
      rig.count('pictures of the viewer');
    }).catch(() => null); // the node is away at the moment
    if (playing === null) return;
    // A playback that was dropped says nothing to its client.
    while (!rig.signal.aborted && performance.now() - last < 4000) await rig.pause(500);
    await ask(`${rig.node.url}${playing.session}`, { method: 'DELETE' });
    await playing.peer.close();
  });
  clearInterval(looking);
}

async function remoteClient(rig: Rig, remote: RemoteHost): Promise<void> {
  const pulse = new Pulse(rig, 'cable', 'cable', 15_000, 30_000);
  const looking = setInterval(() => pulse.look(), 1000);
  await rig.repeat(1000, async () => {
    const { status } = await remote
      .call({ url: `http://${remote.near}:${rig.node.port}/api/status`, headers: KEYED })
      .catch(() => ({ status: 0 })); // the cable is out
    if (status !== 200) return;
    pulse.beat();
    rig.count('answers to the other host');
  });
  clearInterval(looking);
}

/** Keeps a connection open until the end of the run, a second after it was lost again. @param open returns what ends it */
async function watched(
  rig: Rig,
  pulse: Pulse,
  open: (closed: () => void) => Promise<() => void>,
): Promise<void> {
  const looking = setInterval(() => pulse.look(), 1000);
  await rig.repeat(500, async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = await open(resolve);
    const stop = (): void => resolve();
    rig.signal.addEventListener('abort', stop, { once: true });
    await promise;
    rig.signal.removeEventListener('abort', stop);
    end();
  });
  clearInterval(looking);
}
