import { configPutAnswer, configPutRequest, configSecretAnswer } from '../schemas/config.ts';
import type { Row } from './row.ts';
import { json, PARAM, READ, WRITE } from './row-parts.ts';

const BASE = { lane: 'residual', feature: 'config', profiles: 'DG' } as const;

export const configRows = [
  {
    ...BASE,
    ...READ,
    id: 'config.get',
    path: '/api/config',
    summary: 'full config, secrets masked',
    responses: json('the config with defaults, secrets as ***', { type: 'object' }),
    built: true,
  },
  {
    ...BASE,
    ...WRITE,
    id: 'config.put',
    method: 'PUT',
    path: '/api/config',
    access: 'key',
    scope: 'admin',
    relay: 'ok',
    armed: 'guard-if-profile',
    names: [{ kind: 'config-key', in: 'body', member: 'key' }],
    summary: 'write one key',
    blast: 'config',
    body: configPutRequest,
    fails: ['E_UNKNOWN_KEY', 'E_ROOT_ONLY', 'E_STORE'],
    responses: json('what was written', configPutAnswer),
    built: true,
  },
  {
    ...BASE,
    ...READ,
    lane: 'front', // embedded in every build, so that a settings page works without the residual
    id: 'config.schema.get',
    path: '/api/config/schema',
    summary: 'JSON Schema of the config',
    responses: json('JSON Schema 2020-12', { type: 'object' }),
    built: true,
  },
  {
    ...BASE,
    ...READ,
    id: 'config.secret.key.get',
    path: '/api/config/secret/{key}',
    scope: 'secret_read',
    relay: 'forbid',
    params: { key: PARAM.configKey },
    summary: 'one secret value',
    responses: json('the secret as it stands in the config', configSecretAnswer),
    built: true,
  },
] as const satisfies readonly Row[];
