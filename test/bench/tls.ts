import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { KEY } from '../support/edge.ts';
import { floodHandshakes } from '../support/handshake-flood.ts';
import { noNamespaces, RemoteHost } from '../support/netns.ts';
import { TestNode } from '../support/node.ts';
import { securedBy } from '../support/secure.ts';
import { freePort } from '../support/temp.ts';
import { cpuMicros, pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

const ROUNDS = 5;
const REQUESTS = 5000;
const CLIENTS = 10;
const HANDSHAKES = 500;
const CONNECTIONS = 200;
const SETTLE_MS = 2000;
const KIB = 1024;

/** What HTTPS costs above HTTP: the same GET on kept connections in turns, a handshake, a connection. */
export async function benchTls(): Promise<readonly Result[]> {
  const node = await TestNode.start({
    pairing: { key: KEY },
    tlsPort: await freePort(),
    config: 'logging:\n  level: warn\n',
  });
  try {
    const front = node.pid('svc-control');
    const { port, ca } = await securedBy(node);
    const ways = {
      http: (agent: Agent) =>
        request({ host: '127.0.0.1', port: node.port, path: '/api/status', agent, headers }),
      https: (agent: Agent) =>
        secureRequest({ host: '127.0.0.1', port, path: '/api/status', agent, headers, ca }),
    } as const;
    type Way = keyof typeof ways;
    const agentFor = (way: Way, maxSockets: number): Agent =>
      way === 'http'
        ? new Agent({ keepAlive: true, maxSockets })
        : new SecureAgent({ keepAlive: true, maxSockets, maxCachedSessions: 0 });
    const ask = async (way: Way, agent: Agent): Promise<void> => {
      const asked = ways[way](agent);
      asked.end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      await text(answer);
      if (answer.statusCode !== 200) throw new Error(`${way}: ${answer.statusCode}`);
    };
    const perRequest = async (way: Way): Promise<number> => {
      const agent = agentFor(way, CLIENTS);
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (let number = 0; number < REQUESTS / CLIENTS; number++) await ask(way, agent);
      });
      const before = cpuMicros(front);
      await Promise.all(clients);
      const used = (cpuMicros(front) - before) / REQUESTS;
      agent.destroy();
      return used;
    };
    const perHandshake = async (): Promise<number> => {
      const before = cpuMicros(front);
      for (let number = 0; number < HANDSHAKES; number++) {
        const socket = connect({ host: '127.0.0.1', port, ca });
        await once(socket, 'secureConnect');
        const closed = once(socket, 'close');
        socket.end();
        socket.resume();
        await closed;
      }
      return (cpuMicros(front) - before) / HANDSHAKES;
    };
    const perConnection = async (way: Way): Promise<number> => {
      await delay(SETTLE_MS);
      const before = pssMib(front);
      const agents = Array.from({ length: CONNECTIONS }, () => agentFor(way, 1));
      for (const agent of agents) await ask(way, agent);
      await delay(SETTLE_MS);
      const used = ((pssMib(front) - before) * KIB) / CONNECTIONS;
      for (const agent of agents) agent.destroy();
      return used;
    };
    // First, while the heap has nothing to give back; what the first connections load is not theirs.
    await perConnection('http');
    const held = { http: await perConnection('http'), https: await perConnection('https') };
    const seen: Record<Way, number[]> = { http: [], https: [] };
    for (let round = -1; round < ROUNDS; round++)
      for (const way of ['http', 'https'] as const) {
        const cost = await perRequest(way);
        if (round >= 0) seen[way].push(cost); // the first round warms up
      }
    await perHandshake();
    const handshake = await perHandshake();
    const meanwhile = await duringFlood(port, async (agent) => ask('https', agent), agentFor('https', 1));
    return [
      ...meanwhile,
      { name: 'keyed GET by HTTP, CPU per request', value: median(seen.http), unit: 'us' },
      { name: 'keyed GET by HTTPS, CPU per request', value: median(seen.https), unit: 'us' },
      {
        name: 'HTTPS against HTTP, same round',
        value: median(seen.https.map((value, round) => value / (seen.http[round] ?? Number.NaN))),
        unit: 'x',
        goal: 1.5,
      },
      { name: 'handshake without resumption, CPU', value: handshake, unit: 'us' },
      { name: `each of ${CONNECTIONS} kept connections by HTTP, PSS`, value: held.http, unit: 'KiB' },
      { name: `each of ${CONNECTIONS} kept connections by HTTPS, PSS`, value: held.https, unit: 'KiB' },
    ];
  } finally {
    await node.stop();
  }
}

/** How long the operator waits while another host begins ten thousand handshakes; nothing where there are no namespaces. */
async function duringFlood(
  port: number,
  ask: (agent: Agent) => Promise<void>,
  kept: Agent,
): Promise<readonly Result[]> {
  if (noNamespaces() !== null) return [];
  const attacker = await RemoteHost.create('10.93.6.1/24', '10.93.6.2/24');
  const operator = await RemoteHost.create('10.93.7.1/24', '10.93.7.2/24');
  const onKept: number[] = [];
  const anew: number[] = [];
  try {
    await ask(kept);
    await floodHandshakes(attacker, port, async () => {
      const began = performance.now();
      await ask(kept);
      onKept.push(performance.now() - began);
      anew.push(await curl(operator, port));
    });
  } finally {
    kept.destroy();
    await attacker.destroy();
    await operator.destroy();
  }
  const note = `the longest of ${anew.length} while another host begins 10 000 handshakes`;
  return [
    {
      name: 'keyed GET in a flood, kept connection',
      value: Math.max(...onKept),
      unit: 'ms',
      goal: 200,
      note,
    },
    { name: 'GET in a flood, new connection', value: Math.max(...anew), unit: 'ms', goal: 200, note },
  ];
}

/** @returns how long a request with a handshake of its own took, ms */
async function curl(from: RemoteHost, port: number): Promise<number> {
  const [program, ...prefix] = from.prefix;
  if (program === undefined) throw new Error('no host');
  const url = `https://${from.near}:${port}/healthz`;
  const args = ['curl', '-sSfk', '--max-time', '20', '-o', '/dev/null', '-w', '%{time_total}', url];
  const { stdout } = await promisify(execFile)(program, [...prefix, ...args]);
  return Number(stdout) * 1000;
}

const headers = { 'x-svc-key': KEY };
