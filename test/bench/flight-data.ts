import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Framer } from '../../shared/mavlink/framer.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';
import { pssMib } from './proc.ts';
import { median, type Result } from './result.ts';

/** What the vehicle sends of a log, bytes a second: a radio of 57600 baud, a fast radio, USB. */
const RATES = [4000, 40_000, 1_000_000] as const;
const SECONDS = 6;
/** As many as a PX4 has, with texts as long as its. */
const PARAMS = 1500;

const headers = { 'x-svc-key': KEY };

/** Milliseconds between two ATTITUDEs at an endpoint for ground stations, for so long. */
async function intervals(port: number, seconds: number): Promise<readonly number[]> {
  const times: number[] = [];
  const framer = new Framer((frame) => {
    if (frame.id === MSG.ATTITUDE) times.push(performance.now());
  });
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('data', (bytes: Buffer) => framer.push(bytes, performance.now()));
  await wait(seconds * 1000);
  socket.destroy();
  return times.slice(1).map((time, index) => time - (times[index] ?? time));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}

async function flown<T>(
  args: readonly string[],
  prepare: (paths: TestNode['paths']) => Promise<void>,
  work: (node: TestNode, port: number) => Promise<T>,
): Promise<T> {
  await using sim = await SimProcess.start('--param-rate', '4000', ...args);
  const port = await freePort();
  const config = `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: ["tcp:127.0.0.1:${port}"]\n`;
  const node = await TestNode.start({ simulated: false, pairing: { key: KEY }, config, prepare });
  try {
    await linkState(node, ({ params }) => params.cached > 0 && !params.priming);
    return await work(node, port);
  } finally {
    await node.stop();
  }
}

/** One log at this rate: bytes a second, and the telemetry before and meanwhile. */
async function download(rate: number): Promise<readonly Result[]> {
  const args = ['--log-rate', String(rate), '--log-size', String(rate * SECONDS * 4)];
  return flown(
    args,
    async () => undefined,
    async (node, port) => {
      const before = await intervals(port, SECONDS);
      const abort = new AbortController();
      const answer = await fetch(`${node.url}/api/flight-logs/1`, { headers, signal: abort.signal });
      const meanwhile = intervals(port, SECONDS);
      const started = performance.now();
      let bytes = 0;
      for await (const chunk of answer.body ?? []) {
        bytes += (chunk as Uint8Array).length;
        if (performance.now() - started > SECONDS * 1000) break;
      }
      const seconds = (performance.now() - started) / 1000;
      abort.abort();
      const during = await meanwhile;
      const name = `log at ${rate} bytes/s`;
      return [
        {
          name: `${name}: download`,
          value: bytes / seconds / 1000,
          unit: 'kB/s',
          note: `${((100 * bytes) / seconds / rate).toFixed(0)} % of the line`,
        },
        { name: `${name}: ATTITUDE interval before, median`, value: median(before), unit: 'ms' },
        { name: `${name}: ATTITUDE interval meanwhile, median`, value: median(during), unit: 'ms' },
        {
          name: `${name}: ATTITUDE interval meanwhile, p99`,
          value: quantile(during, 0.99),
          unit: 'ms',
          note: `before ${quantile(before, 0.99).toFixed(0)}`,
        },
      ];
    },
  );
}

/** A file of a megabyte: from the first request to its answer, the second one, and what it costs to keep. */
async function descriptions(): Promise<readonly Result[]> {
  const described = {
    parameters: Array.from({ length: PARAMS }, (_, index) => ({
      name: `FILL_${index}`,
      group: 'Bench',
      default: 0,
      min: 0,
      max: 100,
      shortDesc: 'A parameter of the bench',
      longDesc: 'As long as a description of PX4 usually is. '.repeat(11),
    })),
  };
  return flown(
    ['--firmware', 'px4', '--no-ftp'],
    async ({ paramMetadata }) => {
      await mkdir(paramMetadata, { recursive: true });
      await writeFile(join(paramMetadata, 'parameters.json'), JSON.stringify(described));
    },
    async (node) => {
      const pid = node.pid('svc-control');
      const request = async (): Promise<number> => {
        const started = performance.now();
        await (await fetch(`${node.url}/api/params/RTL_RETURN_ALT`, { headers })).json();
        return performance.now() - started;
      };
      await (await fetch(`${node.url}/api/params`, { headers })).json();
      const memory = pssMib(pid);
      const cold = await request();
      const warm = median([
        await request(),
        await request(),
        await request(),
        await request(),
        await request(),
      ]);
      const after = pssMib(pid);
      return [
        { name: 'descriptions, 1 MB of JSON: first request', value: cold, unit: 'ms' },
        { name: 'descriptions: next requests, median', value: warm, unit: 'ms' },
        {
          name: 'svc-control with them, PSS',
          value: after,
          unit: 'MiB',
          note: `before ${memory.toFixed(1)}`,
        },
      ];
    },
  );
}

/** Until svc-link has the descriptions of a PX4 over MAVLink FTP, and what it costs svc-link. */
async function fromVehicle(): Promise<readonly Result[]> {
  const nothing = async (): Promise<void> => undefined;
  const without = await flown(['--firmware', 'px4', '--no-ftp'], nothing, async (node) => {
    await wait(2000);
    return pssMib(node.pid('svc-link'));
  });
  return flown(['--firmware', 'px4'], nothing, async (node) => {
    const started = performance.now();
    for (;;) {
      const answer = await fetch(`${node.url}/api/params/RTL_RETURN_ALT`, { headers });
      if (((await answer.json()) as { metadata: unknown }).metadata !== null) break;
      await wait(20);
    }
    const ms = performance.now() - started;
    await wait(2000);
    const value = pssMib(node.pid('svc-link'));
    return [
      { name: 'descriptions from a PX4, after its parameters', value: ms, unit: 'ms' },
      { name: 'svc-link with them, PSS', value, unit: 'MiB', note: `without FTP ${without.toFixed(1)}` },
    ];
  });
}

/** Parameters' descriptions, and logs of the vehicle beside its telemetry. */
export async function benchFlightData(): Promise<readonly Result[]> {
  const results: Result[] = [...(await descriptions()), ...(await fromVehicle())];
  for (const rate of RATES) results.push(...(await download(rate)));
  return results;
}
