import type { dashboardRows } from '../../../shared/routes/dashboard.ts';
import { FileReply, type HandlersOf } from '../../../shared/routes/handler.ts';
import type { Maps } from './maps.ts';

type MapRows = 'maps.get' | 'maps.name.get' | 'maps.name.put' | 'maps.name.delete';

export function mapHandlers(maps: Maps): Pick<HandlersOf<typeof dashboardRows, 'residual'>, MapRows> {
  return {
    'maps.get': async () => maps.list(),
    'maps.name.get': async ({ params }) =>
      new FileReply(await maps.open(params.name), 'application/vnd.pmtiles'),
    'maps.name.put': async ({ params, body, headers }) => {
      const length = headers['content-length'];
      return maps.store(params.name, body, length === undefined ? null : Number(length));
    },
    'maps.name.delete': async ({ params }) => {
      await maps.remove(params.name);
      return { name: params.name, deleted: true };
    },
  };
}
