import { ApiError, messageOf } from '../../../shared/errors.ts';
import { PAGE_POLICY, PageFile, pageAssets } from '../../../shared/http/page-files.ts';
import type { dashboardRows } from '../../../shared/routes/dashboard.ts';
import type { Call, HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { setupRows } from '../../../shared/routes/setup.ts';

/** The page at `/` and its parts. Everything comes from this node; the browser may load nothing from other hosts. */

/** The frame of an extension's page: its code comes from the page around it as a blob, and reaches nobody else. */
const FRAME_POLICY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self' blob:; connect-src 'none'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** Asked again at every visit, so that another version of the page is found. It speaks to this node alone. */
const WORKER_HEADERS = {
  'content-security-policy': "default-src 'none'; connect-src 'self'",
  'cache-control': 'no-cache',
} as const;

/** The page also answers below `/setup`: which part of it is shown is its own business. */
type PageHandlers = Pick<
  HandlersOf<typeof dashboardRows, 'residual'>,
  'root.get' | 'sw.get' | 'assets.path.get'
> &
  Pick<HandlersOf<typeof setupRows, 'residual'>, 'setup.get' | 'setup.path.get'>;

interface Page {
  readonly index: PageFile;
  readonly worker: PageFile;
  readonly assets: ReadonlyMap<string, PageFile>;
}

function readPage(folder: string): Page {
  const index = new PageFile(folder, 'index.html', PAGE_POLICY);
  return {
    index,
    worker: new PageFile(folder, 'sw.js', WORKER_HEADERS),
    assets: pageAssets(folder).set('frame.html', new PageFile(folder, 'frame.html', FRAME_POLICY)),
  };
}

/**
 * A page that was not built costs the page alone: its routes answer 503 until it is there, and everything else works.
 * @param folder what `npm run build:web` made: `index.html`, `frame.html`, `sw.js`, `assets/`; read at the first request
 */
export function pageHandlers(folder: string): PageHandlers {
  let read: Page | null = null;
  const built = (): Page => {
    try {
      read ??= readPage(folder);
    } catch (error) {
      throw new ApiError('E_UPSTREAM_DOWN', messageOf(error));
    }
    return read;
  };
  const page = async ({ headers }: Pick<Call<Row>, 'headers'>): Promise<Reply> =>
    built().index.reply(headers['accept-encoding']);
  return {
    'root.get': page,
    'setup.get': page,
    'setup.path.get': page,
    'sw.get': async ({ headers }) => built().worker.reply(headers['accept-encoding']),
    'assets.path.get': async ({ params, headers }) => {
      const found = built().assets.get(params.path);
      if (found === undefined) throw new ApiError('E_NOT_FOUND');
      return found.reply(headers['accept-encoding']);
    },
  };
}
