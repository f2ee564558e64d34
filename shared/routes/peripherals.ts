import { noBody } from '../schemas/no-body.ts';
import {
  peripheralActed,
  peripheralAction,
  peripheralConfig,
  peripheralConfigured,
  peripheralDetail,
  peripheralList,
} from '../schemas/peripherals.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS } from './row-parts.ts';

const { row } = domain({ lane: 'residual', feature: 'peripherals', profiles: 'DG' });

const LIST = json('connected and unplugged devices, and failed sources', peripheralList);

export const peripheralsRows = [
  row('peripherals.get', 'GET /api/peripherals', 'key read ok -', 'connected hardware', { responses: LIST }),
  row('peripherals.scan.post', 'POST /api/peripherals/scan', 'key safe_write ok - config', 'scan now', {
    body: noBody,
    responses: LIST,
  }),
  row('peripherals.id.get', 'GET /api/peripherals/{id}', 'key read ok -', 'one peripheral', {
    fails: ['E_STORE'],
    responses: json('with its manifest and its configuration', peripheralDetail),
  }),
  row(
    'peripherals.id.config.put',
    'PUT /api/peripherals/{id}/config',
    'key admin ok - config',
    "set a peripheral's configuration",
    {
      body: peripheralConfig,
      fails: ['E_STORE'],
      responses: json('written to the file', peripheralConfigured),
    },
  ),
  row(
    'peripherals.id.action.post',
    'POST /api/peripherals/{id}/action',
    'key admin ok - config',
    'run a declared action',
    {
      limits: LIMITS.slow,
      body: peripheralAction,
      fails: ['E_SCOPE', 'E_NOT_IMPLEMENTED', 'E_STORE', 'E_UPSTREAM_DOWN', 'E_TIMEOUT', 'E_UPSTREAM'],
      responses: json('done', peripheralActed),
    },
  ),
] as const satisfies readonly Row[];
