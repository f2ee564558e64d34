import type { configRows } from '../../../shared/routes/config.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { ConfigStore } from './store.ts';

export function configHandlers(store: ConfigStore): HandlersOf<typeof configRows, 'residual'> {
  return {
    'config.get': async () => store.read(),
    'config.secret.key.get': async ({ params }) => store.secret(params.key),
    'config.put': async ({ body }) => store.write(body.key, body.value),
  };
}
