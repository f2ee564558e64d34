import { flightReport } from '../schemas/flight-report.ts';
import { logSeries, logSeriesQuery } from '../schemas/log-series.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'residual',
  feature: 'flight',
  profiles: 'DG',
  params: { name: PARAM.file },
});

const responses = json('what it says, with null for what it does not say', flightReport);
const series = {
  query: logSeriesQuery,
  long: true,
  limits: LIMITS.report,
  responses: json('times and values', logSeries),
} as const;
/** Of one that has to be fetched from the vehicle first. */
const FETCHED = [
  'E_ARMED',
  'E_BUSY',
  'E_NO_FC',
  'E_UPSTREAM_DOWN',
  'E_UPSTREAM',
  'E_DISK_FULL',
  'E_STORE',
  'E_LOG',
  'E_TIMEOUT',
] as const;

export const reportRows = [
  row(
    'flight-logs.id.report.get',
    'GET /api/flight-logs/{id}/report',
    'key read ok -',
    'what happened in the flight',
    {
      long: true,
      limits: LIMITS.report,
      fails: FETCHED,
      responses,
    },
  ),
  row('tlogs.name.report.get', 'GET /api/tlogs/{name}/report', 'key read ok -', 'what happened in it', {
    long: true,
    limits: LIMITS.report,
    fails: ['E_BUSY', 'E_STORE', 'E_LOG', 'E_TIMEOUT'],
    responses,
  }),
  row(
    'flight-logs.id.series.get',
    'GET /api/flight-logs/{id}/series',
    'key read ok -',
    'what fields of a log of the vehicle were',
    { ...series, fails: FETCHED },
  ),
  row(
    'tlogs.name.series.get',
    'GET /api/tlogs/{name}/series',
    'key read ok -',
    'what fields of a telemetry log were',
    { ...series, fails: ['E_BUSY', 'E_STORE', 'E_LOG', 'E_TIMEOUT'] },
  ),
] as const satisfies readonly Row[];
