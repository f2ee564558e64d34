import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendValue } from '../../../shared/http/answer.ts';
import { PAGE_POLICY, PageFile, pageAssets } from '../../../shared/http/page-files.ts';

const ASSETS = '/assets/';

/**
 * The page of the fleet: `/` and what it loads from `/assets/`, without a credential; all else is `next`'s. Mounted with
 * `app.use(hubPage(folder))`.
 * @param folder what `npm run build:web` made; read once
 * @throws Error when it is not there
 */
export function hubPage(
  folder: string,
): (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void {
  const index = new PageFile(folder, 'hub.html', PAGE_POLICY);
  const assets = pageAssets(folder);
  return (req, res, next) => {
    const [path = ''] = (req.url ?? '').split('?', 1);
    const file =
      path === '/' ? index : path.startsWith(ASSETS) ? assets.get(path.slice(ASSETS.length)) : undefined;
    if (file === undefined || (req.method !== 'GET' && req.method !== 'HEAD')) {
      next();
      return;
    }
    file.reply(req.headers['accept-encoding']).then((reply) => sendValue(res, reply), next);
  };
}
