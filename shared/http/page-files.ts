import { globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Reply } from '../routes/handler.ts';

/** Files of a built page, read once, and the policy under which a browser shows them. */

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** No inline script or style, no evaluation, no other host, and (Trusted Types) no script out of a string. */
export const PAGE_POLICY = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    // `default`: names the map's worker and the service worker (residual/web/src/parts/script-urls.ts).
    'trusted-types default',
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

// Their names have a hash of their content.
const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' } as const;

const compress = promisify(gzip);

/** A file of the page; smaller for a browser that takes it so, made once. */
export class PageFile {
  readonly #type: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #bytes: Buffer;
  #small: Promise<Buffer> | null = null;

  /** @throws Error when it is not there */
  constructor(folder: string, path: string, headers: Readonly<Record<string, string>>) {
    this.#type = TYPES[extname(path)] ?? 'application/octet-stream';
    this.#headers = headers;
    try {
      this.#bytes = readFileSync(join(folder, path));
    } catch (error) {
      throw new Error(
        `The page was not built: ${join(folder, path)} is not there. Run "npm run build:web", then load it again.`,
        {
          cause: error,
        },
      );
    }
  }

  async reply(acceptEncoding: string | string[] | undefined): Promise<Reply> {
    const headers = { vary: 'accept-encoding', ...this.#headers };
    if (!/\bgzip\b/.test(acceptEncoding?.toString() ?? ''))
      return new Reply(200, this.#bytes, this.#type, headers);
    this.#small ??= compress(this.#bytes, { level: 9 });
    return new Reply(200, await this.#small, this.#type, { ...headers, 'content-encoding': 'gzip' });
  }
}

/** What is below `assets` in the folder, by its path there. */
export function pageAssets(folder: string): Map<string, PageFile> {
  return new Map(
    globSync('**', { cwd: join(folder, 'assets') })
      .filter((path) => extname(path) !== '')
      .map((path) => [path, new PageFile(folder, join('assets', path), FOREVER)]),
  );
}
