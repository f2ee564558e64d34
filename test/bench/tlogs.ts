import { setTimeout as delay } from 'node:timers/promises';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';
import { cpuMicros } from './proc.ts';
import { median, type Result } from './result.ts';
import { message, script } from './routing.ts';

const RATE = 500;
const SECONDS = 10;
const ROUNDS = 3;
const SETTLE_MS = 1000;

/** What a telemetry log of 500 messages a second costs svc-link: its CPU with one and without, in turns. */
export async function tlogCost(): Promise<readonly Result[]> {
  const withLog: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    withLog.push(await cpuShare('always'));
    without.push(await cpuShare('off'));
  }
  const name = `svc-link, ${RATE} messages/s`;
  return [
    { name: `${name}, no telemetry log: CPU`, value: median(without), unit: '%' },
    {
      name: `${name}: CPU of the telemetry log`,
      value: median(withLog) - median(without),
      unit: '%',
      goal: 1,
    },
  ];
}

/** @returns per cent of a core */
async function cpuShare(when: 'always' | 'off'): Promise<number> {
  const from = await freePort();
  const node = await TestNode.start({
    simulated: false,
    pairing: { key: KEY },
    config: `mavlink:\n  source: udp:127.0.0.1:${from}\n  endpoints: []\ntlog:\n  when: ${when}\n`,
  });
  try {
    const source = script('frame-source.ts', String(from), String(RATE), String(SECONDS));
    await delay(SETTLE_MS);
    const [before, since] = [cpuMicros(node.pid('svc-link')), performance.now()];
    await message(source);
    const used = cpuMicros(node.pid('svc-link')) - before;
    source.disconnect();
    return used / 10 / (performance.now() - since);
  } finally {
    await node.stop();
  }
}
