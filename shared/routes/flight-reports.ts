import { flightReport } from '../schemas/flight-report.ts';
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

export const reportRows = [
  row(
    'flight-logs.id.report.get',
    'GET /api/flight-logs/{id}/report',
    'key read ok -',
    'what happened in the flight',
    {
      long: true,
      limits: LIMITS.report,
      fails: [
        'E_ARMED',
        'E_BUSY',
        'E_NO_FC',
        'E_UPSTREAM_DOWN',
        'E_UPSTREAM',
        'E_DISK_FULL',
        'E_STORE',
        'E_LOG',
        'E_TIMEOUT',
      ],
      responses,
    },
  ),
  row('tlogs.name.report.get', 'GET /api/tlogs/{name}/report', 'key read ok -', 'what happened in it', {
    long: true,
    limits: LIMITS.report,
    fails: ['E_BUSY', 'E_STORE', 'E_LOG', 'E_TIMEOUT'],
    responses,
  }),
] as const satisfies readonly Row[];
