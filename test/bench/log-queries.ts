import { setTimeout as wait } from 'node:timers/promises';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
import type { Paths } from '../../shared/paths.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { median, type Result } from './result.ts';

/** So many fill the store to its default bound, 256 MB. */
const DEFAULT_ROWS = 1_200_000;
const MANY_ROWS = 5_000_000;
const SPREAD_US = 30 * 86_400e6;
const ROUNDS = 5;
const AT_ONCE = 6;
const PROBE_MS = 10;
const IDLE_MS = 5000;
const GOAL_MS = 200;
const GOAL_WAIT_MS = 50;

const QUERIES = {
  everything: '',
  errors: 'level=error',
  'warnings and above': 'level=warn',
  'a process': 'service=svc-1',
  'errors of a process': 'service=svc-1&level=error',
  'two processes': 'service=svc-1,svc-2',
  'a flight': 'session=3',
  'the last hour': 'since=1h',
  'a day of three weeks ago': 'from=-21d&to=-20d',
  'a word of few records': 'text=propeller',
  'words of many records': 'text=said%2042',
  'a word of every record': 'text=vehicle',
  'such a word among errors': 'text=vehicle&level=error',
  'such a word in the last hour': 'since=1h&text=vehicle',
  'the millionth': 'offset=1000000',
} as const;

/** Records over 30 days: five processes, a warning in 50 and an error in 5000, ten minutes of flight a day. */
function fill({ logStore }: Paths, rows: number): void {
  const { db } = openLogDatabase(logStore, Date.now(), createLogger('bench', 'silent'));
  const step = Math.round(SPREAD_US / rows);
  const start = Date.now() * 1000 - rows * step;
  db.exec(`PRAGMA synchronous = OFF; BEGIN;
    INSERT INTO sessions (kind, started_us, meta) VALUES ('boot', ${start}, '{}');
    WITH RECURSIVE day(d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM day WHERE d < 29)
    INSERT INTO sessions (kind, started_us, ended_us, meta)
    SELECT 'flight', ${start} + d * 86400000000, ${start} + d * 86400000000 + 600000000, '{}' FROM day;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})
    INSERT INTO logs (ts_us, session, source, level, msg, fields)
    SELECT ${start} + i * ${step}, CASE WHEN (i * ${step}) % 86400000000 < 600000000 THEN 2 + (i * ${step}) / 86400000000 ELSE 1 END,
      'svc-' || (i % 5), CASE WHEN i % 5000 = 0 THEN 4 WHEN i % 50 = 0 THEN 3 ELSE 2 END,
      'vehicle ' || (i % 97) || ' said ' || (i % 1009) || iif(i % 100000 = 7, ' propeller', '') || ', as long as a line usually is',
      '{"port":' || (i % 65536) || ',"peer":"192.168.1.5"}' FROM n;
    COMMIT`);
  db.close();
}

async function timed(node: TestNode, path: string): Promise<number> {
  const started = performance.now();
  const response = await node.fetch(path, { headers: { 'x-svc-key': KEY } });
  if (response.body !== null) for await (const _ of response.body); // an export is large
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  return performance.now() - started;
}

/** @returns what `work` gives, and how long each `GET /api/config` took meanwhile, ms */
async function beside<T>(node: TestNode, work: () => Promise<T>): Promise<readonly [T, readonly number[]]> {
  const done = new AbortController();
  const running = work().finally(() => done.abort());
  const waits: number[] = [];
  while (!done.signal.aborted) {
    waits.push(await timed(node, '/api/config'));
    await wait(PROBE_MS);
  }
  return [await running, waits];
}

async function queriesAmong(rows: number): Promise<readonly Result[]> {
  const node = await TestNode.start({
    pairing: { key: KEY },
    config: 'logging:\n  store:\n    max_mb: 65536\n    max_age_days: 365\n',
    prepare: async (paths) => Promise.resolve(fill(paths, rows)),
  });
  const among = `among ${rows / 1e6} million`;
  const wished = rows <= DEFAULT_ROWS ? { goal: GOAL_MS } : {};
  const results: Result[] = [];
  try {
    for (let at = 0; at < ROUNDS; at++) await timed(node, '/api/logs'); // starts the thread
    const [, idle] = await beside(node, async () => wait(IDLE_MS));
    const besideQueries: number[] = [];
    for (const [name, query] of Object.entries(QUERIES)) {
      const [times, waits] = await beside(node, async () => {
        const each: number[] = [];
        for (let at = 0; at < ROUNDS; at++) each.push(await timed(node, `/api/logs?limit=50&${query}`));
        return each;
      });
      besideQueries.push(...waits);
      results.push({ name: `${name}, ${among}`, value: median(times), unit: 'ms', ...wished });
    }
    const [together, whileTogether] = await beside(node, async () =>
      Promise.all(Array.from({ length: AT_ONCE }, async () => timed(node, '/api/logs?level=error&limit=50'))),
    );
    results.push({
      name: `errors, ${AT_ONCE} at once, the slowest, ${among}`,
      value: Math.max(...together),
      unit: 'ms',
      ...wished,
    });
    const [exported, besideExport] = await beside(node, async () => timed(node, '/api/logs/export'));
    results.push({ name: `export of all, ${among}`, value: exported / 1000, unit: 's' });
    for (const [name, waits] of [
      ['nothing', idle],
      ['queries', [...besideQueries, ...whileTogether]],
      ['an export', besideExport],
    ] as const) {
      results.push({
        name: `GET /api/config at most, beside ${name}, ${among}`,
        value: Math.max(...waits),
        unit: 'ms',
        goal: GOAL_WAIT_MS,
        note: `99 of 100 within ${percentile(waits, 0.99).toFixed(1)} ms`,
      });
    }
    return results;
  } finally {
    await node.stop();
  }
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

/** `GET /api/logs` with a store at its default bound, and with one of five million records; and what others wait meanwhile. */
export async function benchLogQueries(): Promise<readonly Result[]> {
  return [...(await queriesAmong(DEFAULT_ROWS)), ...(await queriesAmong(MANY_ROWS))];
}
