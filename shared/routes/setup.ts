import { noBody } from '../schemas/no-body.ts';
import { profileChoice, profileChosen, setupStatus, stepRequest } from '../schemas/setup.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, media } from './row-parts.ts';

const { row } = domain({ lane: 'residual', feature: 'setup', profiles: 'DG' });

const STATUS = json('the steps, and which is next', setupStatus);
const PAGE = media('the page', 'text/html');

export const setupRows = [
  row(
    'setup.status.get',
    'GET /api/setup/status',
    'key read ok -',
    'state of the set-up (also unpaired, under the unpaired gate)',
    { responses: STATUS },
  ),
  row('setup.step.id.post', 'POST /api/setup/step/{id}', 'key admin ok - config', 'complete or skip a step', {
    body: stepRequest,
    fails: ['E_BAD_REQUEST', 'E_STORE'],
    responses: STATUS,
  }),
  row(
    'setup.profile.post',
    'POST /api/setup/profile',
    'key admin forbid guard config',
    'choose profile or role',
    {
      body: profileChoice,
      fails: ['E_INVALID_VALUE', 'E_STORE'],
      responses: json('the config was changed', profileChosen),
    },
  ),
  row('setup.finish.post', 'POST /api/setup/finish', 'key admin ok - config', 'finish the set-up', {
    body: noBody,
    fails: ['E_STORE'],
    responses: STATUS,
  }),
  row(
    'setup.reset.post',
    'POST /api/setup/reset',
    'key destructive forbid guard config',
    'start the set-up over',
    {
      body: noBody,
      fails: ['E_STORE'],
      responses: STATUS,
    },
  ),
  row('setup.get', 'GET /setup', 'public none ok -', 'page of the first set-up', { responses: PAGE }),
  row('setup.path.get', 'GET /setup/{*path}', 'public none ok -', 'files of the set-up page', {
    responses: PAGE,
  }),
] as const satisfies readonly Row[];
