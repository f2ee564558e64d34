import type { IncomingMessage } from 'node:http';
import { PAGE_POLICY, PageFile, pageAssets } from '../../../shared/http/page-files.ts';
import type { Reply } from '../../../shared/routes/handler.ts';

const ASSETS = '/assets/';

/** The file of the page that a request is for; null: it is for none. */
export type PageFinder = (req: IncomingMessage) => Promise<Reply> | null;

/**
 * The page of the fleet: `/` and what it loads from `/assets/`, without a credential.
 * @param folder what `npm run build:web` made; read once
 * @throws Error when it is not there
 */
export function hubPage(folder: string): PageFinder {
  const index = new PageFile(folder, 'hub.html', PAGE_POLICY);
  const assets = pageAssets(folder);
  return (req) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') return null;
    const [path = ''] = (req.url ?? '').split('?', 1);
    const file =
      path === '/' ? index : path.startsWith(ASSETS) ? assets.get(path.slice(ASSETS.length)) : undefined;
    return file?.reply(req.headers['accept-encoding']) ?? null;
  };
}
