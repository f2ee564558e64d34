import { domain } from './domain.ts';
import type { Row } from './row.ts';

const { later } = domain({ lane: 'residual', feature: 'peripherals', profiles: 'DG' });

export const peripheralsRows = [
  later('peripherals.get', 'GET /api/peripherals', 'key read ok -', 'connected hardware'),
  later('peripherals.scan.post', 'POST /api/peripherals/scan', 'key safe_write ok - config', 'scan now', {
    bodyKind: 'json',
  }),
  later('peripherals.id.get', 'GET /api/peripherals/{id}', 'key read ok -', 'one peripheral'),
  later(
    'peripherals.id.config.put',
    'PUT /api/peripherals/{id}/config',
    'key admin ok - config',
    'its configuration',
    { bodyKind: 'json' },
  ),
  later(
    'peripherals.id.action.post',
    'POST /api/peripherals/{id}/action',
    'key admin ok - config',
    'a declared action',
    { bodyKind: 'json' },
  ),
] as const satisfies readonly Row[];
