import type { configRows } from '../../shared/routes/config.ts';
import type { HandlersOf } from '../../shared/routes/handler.ts';
import { configSchema } from '../../shared/schemas/config.ts';

export function configHandlers(): HandlersOf<typeof configRows, 'front'> {
  return { 'config.schema.get': () => configSchema };
}
