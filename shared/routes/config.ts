import { configPutAnswer, configPutRequest, configSecretAnswer, shownConfig } from '../schemas/config.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'residual',
  feature: 'config',
  profiles: 'DG',
  params: { key: PARAM.configKey },
});

export const configRows = [
  row('config.get', 'GET /api/config', 'key read ok -', 'the whole config, secrets masked', {
    responses: json('the config with defaults, secrets as ***', shownConfig),
  }),
  row('config.put', 'PUT /api/config', 'key admin ok guard-if-profile config', 'write a config key', {
    names: [{ kind: 'config-key', in: 'body', member: 'key' }],
    body: configPutRequest,
    fails: ['E_UNKNOWN_KEY', 'E_ROOT_ONLY', 'E_STORE'],
    responses: json('what was written', configPutAnswer),
  }),
  row('config.schema.get', 'GET /api/config/schema', 'key read ok -', 'JSON Schema of the config', {
    lane: 'front',
    responses: json('JSON Schema 2020-12', { type: 'object' }),
  }),
  row(
    'config.secret.key.get',
    'GET /api/config/secret/{key}',
    'key secret_read forbid -',
    'one secret value',
    { responses: json('the secret as it is in the config', configSecretAnswer) },
  ),
] as const satisfies readonly Row[];
