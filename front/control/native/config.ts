import { configSchema } from '../../../shared/config/schema.ts';
import type { configRows } from '../../../shared/routes/config.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';

export function configHandlers(): HandlersOf<typeof configRows, 'front'> {
  return { 'config.schema.get': () => configSchema };
}
