import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApiError } from '../../../shared/errors.ts';
import type { dashboardRows } from '../../../shared/routes/dashboard.ts';
import { type Call, type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { setupRows } from '../../../shared/routes/setup.ts';

/** The page at `/` and its parts. Everything comes from this node; the browser may load nothing from other hosts. */

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** No inline script or style, no evaluation, no other host, and (Trusted Types) no script out of a string. */
const PAGE_POLICY = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    // `default`: names the one worker that the map starts (residual/web/src/map/).
    'trusted-types default',
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

/** The frame of an extension's page: its code comes from the page around it as a blob, and reaches nobody else. */
const FRAME_POLICY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self' blob:; connect-src 'none'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
} as const;

// Their names have a hash of their content.
const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' } as const;

const compress = promisify(gzip);

/** A file of the page; smaller for a browser that takes it so, made once. */
class Asset {
  readonly #type: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bytes: Buffer;
  #small: Promise<Buffer> | null = null;

  constructor(path: string, headers: Readonly<Record<string, string>>) {
    this.#type = TYPES[extname(path)] ?? 'application/octet-stream';
    this.#headers = headers;
    this.#bytes = readFileSync(path);
  }

  async reply(acceptEncoding: string | undefined): Promise<Reply> {
    const headers = { vary: 'accept-encoding', ...this.#headers };
    if (!/\bgzip\b/.test(acceptEncoding ?? '')) return new Reply(200, this.#bytes, this.#type, headers);
    this.#small ??= compress(this.#bytes, { level: 9 });
    return new Reply(200, await this.#small, this.#type, { ...headers, 'content-encoding': 'gzip' });
  }
}

/** The page also answers below `/setup`: which part of it is shown is its own business. */
type PageHandlers = Pick<HandlersOf<typeof dashboardRows, 'residual'>, 'root.get' | 'assets.path.get'> &
  Pick<HandlersOf<typeof setupRows, 'residual'>, 'setup.get' | 'setup.path.get'>;

/**
 * @param folder what `npm run build:web` made: `index.html`, `frame.html`, `assets/`; read once
 * @throws Error when it is not there
 */
export function pageHandlers(folder: string): PageHandlers {
  const index = asset(folder, 'index.html', PAGE_POLICY);
  const assets = new Map(
    globSync('**', { cwd: join(folder, 'assets') })
      .filter((path) => extname(path) !== '')
      .map((path) => [path, asset(folder, join('assets', path), FOREVER)]),
  );
  assets.set('frame.html', asset(folder, 'frame.html', FRAME_POLICY));
  const page = async ({ headers }: Pick<Call<Row>, 'headers'>): Promise<Reply> =>
    index.reply(encodingsOf(headers));
  return {
    'root.get': page,
    'setup.get': page,
    'setup.path.get': page,
    'assets.path.get': async ({ params, headers }) => {
      const found = assets.get(params.path);
      if (found === undefined) throw new ApiError('E_NOT_FOUND');
      return found.reply(encodingsOf(headers));
    },
  };
}

function encodingsOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  return headers['accept-encoding']?.toString();
}

function asset(folder: string, path: string, headers: Readonly<Record<string, string>>): Asset {
  try {
    return new Asset(join(folder, path), headers);
  } catch (error) {
    throw new Error(`The page was not built (npm run build:web): ${join(folder, path)} is not there.`, {
      cause: error,
    });
  }
}
