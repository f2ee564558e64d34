import { domain } from './domain.ts';
import type { Row } from './row.ts';

const { later } = domain({ lane: 'residual', feature: 'setup', profiles: 'DG' });

export const setupRows = [
  later(
    'setup.status.get',
    'GET /api/setup/status',
    'key read ok -',
    'setup state (reachable unpaired under the unpaired gate)',
  ),
  later(
    'setup.step.id.post',
    'POST /api/setup/step/{id}',
    'key admin ok - config',
    'complete or skip a step',
    { bodyKind: 'json' },
  ),
  later(
    'setup.profile.post',
    'POST /api/setup/profile',
    'key admin forbid guard config',
    'choose profile or role',
    { bodyKind: 'json' },
  ),
  later('setup.finish.post', 'POST /api/setup/finish', 'key admin ok - config', 'finish', {
    bodyKind: 'json',
  }),
  later('setup.reset.post', 'POST /api/setup/reset', 'key destructive forbid guard config', 'start over', {
    bodyKind: 'json',
  }),
  later('setup.get', 'GET /setup', 'public none ok -', 'first-boot webapp shell'),
  later('setup.path.get', 'GET /setup/{*path}', 'public none ok -', 'its assets'),
] as const satisfies readonly Row[];
