import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../shared/errors.ts';
import { reportOfFile } from '../../shared/reports/report-file.ts';
import { compared, comparedLines, figureLine, findingLine } from '../../shared/reports/report-lines.ts';
import { Thinned } from '../../shared/reports/thinned.ts';
import type { RowId } from '../../shared/routes/typed-row.ts';
import type { FlightReport } from '../../shared/schemas/flight-report.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { Denial } from '../denial.ts';
import type { Told } from '../planes/ask.ts';
import { pathOf, rowOf } from '../rows.ts';
import { oneLine } from '../short-text.ts';
import { addressOf, type Tool, type ToolContext } from './tool.ts';

const LOG: JsonSchema = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
  'x-says': 'must be a number or the name of a telemetry log',
};
/** Of a file here: it is read at one go. */
const MOST_BYTES = 256e6;
const LOOK_MS = 1000;
/** So long nothing may come of a log that is being fetched. */
const STALLED_MS = 60_000;
const MAX_POINTS = 200;
/** Of a field, in the short text. */
const TEXT_POINTS = 40;
const MB = 1e6;

/** The flight logs of the vehicle; not the node's own log (logs.ts). */
export const flightLogTools: readonly Tool[] = [
  {
    name: 'flight_logs_list',
    title: 'Flight logs',
    description: 'Logs on the vehicle, and how much of each the node holds; with `id` a link to one.',
    toolset: 'flight-logs',
    routes: ['flight-logs.get'],
    besides: ['flight-logs.id.get'],
    input: {
      properties: {
        id: { type: 'integer', minimum: 0, maximum: 65_535, description: 'fetch it with your credential' },
      },
    },
    idempotent: true,
    run: async ({ ask, args, node }) => {
      const answer = await ask('flight-logs.get');
      if (args['id'] === undefined) return { value: answer };
      const id = Number(args['id']);
      const found = answer.logs?.find((each) => each.id === id);
      if (found === undefined) throw new Denial('not_found', `The vehicle has no log ${id}.`);
      const { size } = found;
      const uri = addressOf(node) + pathOf('flight-logs.id.get', { id: String(id) });
      return {
        value: { id, size, time: found.time ?? null, url: uri },
        link: { uri, name: `flight log ${id}`, mimeType: 'application/octet-stream', size },
      };
    },
  },
  {
    name: 'flight_report',
    title: 'Flight report',
    description:
      'What happened in a flight: findings, cause first, with evidence and advice. Waits until the log is here.',
    routes: ['flight-logs.id.report.get', 'tlogs.name.report.get'],
    besides: ['flight-logs.get', 'tlogs.get'],
    input: {
      properties: {
        log: { ...LOG, description: 'id, or a .tlog; else the newest' },
        file: {
          type: 'string',
          maxLength: 1024,
          description: 'or a path on this computer',
        },
        compare: {
          type: 'string',
          maxLength: 1024,
          description: 'another log, or path',
        },
      },
    },
    idempotent: true,
    run: async (context) => {
      const { args } = context;
      const file = textIn(args, 'file');
      const log = file ?? textIn(args, 'log') ?? (await newest(context));
      const read = async (name: string): Promise<Told<'tlogs.name.report.get'>> =>
        file === null
          ? ofLog(context, name, ['flight-logs.id.report.get', 'tlogs.name.report.get'])
          : ofFile(context, name);
      const report = await read(log);
      const lines = [`Log ${log}`, ...textOf(report)];
      const other = textIn(args, 'compare');
      if (other === null) return { value: { log, ...report }, text: lines.join('\n') };
      const beside = compared(report, await read(other));
      return {
        value: { log, ...report, compared: { with: other, ...beside } },
        text: [...lines, `Beside ${other}:`, ...comparedLines(beside)].join('\n'),
      };
    },
  },
  {
    name: 'flight_log_series',
    title: 'Values of a flight log',
    description: 'Fields of a log over time: the evidence of a finding.',
    routes: ['flight-logs.id.series.get', 'tlogs.name.series.get'],
    besides: ['flight-logs.get', 'tlogs.get'],
    input: {
      properties: {
        log: { ...LOG, description: 'id, or a .tlog; else the newest' },
        fields: {
          type: 'array',
          minItems: 1,
          maxItems: 8,
          items: { type: 'string', pattern: '^\\w{1,60}(?:\\[\\d\\])?\\.[\\w.\\[\\]]{1,60}$' },
          description: 'MESSAGE.Field, as in evidence: BAT.Volt, BAT[1].Volt',
        },
        from: { type: 'number', minimum: 0, description: 's since its begin' },
        to: { type: 'number', minimum: 0, description: 's' },
        points: {
          type: 'integer',
          minimum: 2,
          maximum: MAX_POINTS,
          default: 100,
          description: 'of each field',
        },
      },
      required: ['fields'],
    },
    idempotent: true,
    run: async (context) => {
      const { args } = context;
      const log = textIn(args, 'log') ?? (await newest(context));
      const fields = Array.isArray(args['fields']) ? args['fields'].map(String) : [];
      const series = await ofLog(context, log, ['flight-logs.id.series.get', 'tlogs.name.series.get'], {
        fields: fields.join(','),
        points: Number(args['points'] ?? 100),
        ...(args['from'] === undefined ? {} : { from: Number(args['from']) }),
        ...(args['to'] === undefined ? {} : { to: Number(args['to']) }),
      });
      return { value: { log, ...series }, text: [`Log ${log}`, ...seriesLines(series)].join('\n') };
    },
  },
];

function textIn(args: ToolContext['args'], name: string): string | null {
  const text = args[name];
  return typeof text === 'string' ? text : null;
}

/** The newest log of the vehicle; where it has none, of the node. */
async function newest({ ask }: ToolContext): Promise<string> {
  const { logs = [] } = await ask('flight-logs.get').catch((error: unknown) => {
    if (error instanceof Denial) return { logs: [] }; // no vehicle: its telemetry logs are here all the same
    throw error;
  });
  const last = logs.filter(({ size }) => size > 0).toSorted((a, b) => b.id - a.id)[0];
  if (last !== undefined) return String(last.id);
  const { tlogs = [] } = await ask('tlogs.get');
  const name = tlogs
    .map((each) => each.name)
    .toSorted()
    .at(-1);
  if (name === undefined) throw new Denial('not_found', 'Neither the vehicle nor the node has a log.');
  return name;
}

/** Asks about a log until it is here, with its progress. @param rows of a log of the vehicle, and of one of the node */
async function ofLog<K extends RowId, T extends RowId>(
  { ask, progress, signal }: ToolContext,
  log: string,
  [onboard, tlog]: readonly [K, T],
  query: Readonly<Record<string, string | number>> = {},
): Promise<Told<K> | Told<T>> {
  const id = /^\d+$/.test(log) ? Number(log) : null;
  if (id === null)
    return ask(tlog, { params: { name: log }, query, timeoutMs: rowOf(tlog).limits.timeoutMs + 2000 });
  let [held, since] = [-1, performance.now()];
  for (;;) {
    try {
      return await ask(onboard, {
        params: { id: String(id) },
        query,
        timeoutMs: rowOf(onboard).limits.timeoutMs + 2000,
      });
    } catch (error) {
      if (!(error instanceof Denial) || error.detail['code'] !== 'E_BUSY') throw error;
      const { logs = [] } = await ask('flight-logs.get');
      const now = logs.find((each) => each.id === id);
      if (now === undefined) throw error;
      if (now.held > held) [held, since] = [now.held, performance.now()];
      if (performance.now() - since > STALLED_MS) throw error;
      progress(
        now.held,
        now.size,
        `log ${id}: ${(now.held / MB).toFixed(1)} of ${(now.size / MB).toFixed(1)} MB`,
      );
      await delay(LOOK_MS, undefined, { signal }).catch(() => {
        throw new Denial('cancelled');
      });
    }
  }
}

/** Only for whoever has started this connector: it is their computer. */
function ofFile({ principal }: ToolContext, path: string): FlightReport {
  if (principal.kind !== 'stdio')
    throw new Denial('not_supported', 'Only a connector that its user has started reads files: give `log`.');
  try {
    return reportOfFile(path, MOST_BYTES);
  } catch (error) {
    if (error instanceof ApiError)
      throw new Denial(error.code === 'E_NOT_FOUND' ? 'not_found' : 'invalid_arguments', error.message);
    throw error;
  }
}

function* textOf(report: Told<'tlogs.name.report.get'>): Generator<string> {
  yield figureLine(report);
  const { findings = [] } = report;
  for (const finding of findings) {
    yield oneLine(findingLine(finding));
    if (finding.advice !== undefined) yield `  ${finding.advice}`;
  }
  if (findings.length === 0) yield 'No findings.';
}

function* seriesLines({ fields = [] }: Told<'tlogs.name.series.get'>): Generator<string> {
  for (const { name, points } of fields) {
    if (points.length === 0) {
      yield `${name}: nothing in this time`;
      continue;
    }
    const thinned = new Thinned(TEXT_POINTS);
    for (const [at = 0, value = 0] of points) thinned.take(at, value);
    const shown = thinned.points().map(([at, value]) => `${at.toFixed(1)} ${Number(value.toPrecision(5))}`);
    yield `${name} (s value): ${shown.join('; ')}`;
  }
}
