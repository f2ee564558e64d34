import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../../shared/errors.ts';
import type { dashboardRows } from '../../../shared/routes/dashboard.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { setupRows } from '../../../shared/routes/setup.ts';

/** The page at `/` and its parts. Everything comes from this node; the browser may load nothing from other hosts. */

const TYPES: Readonly<Record<string, string>> = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'whep-player.js': 'text/javascript; charset=utf-8',
};

const POLICY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self' ws: wss:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

/** The page also answers below `/setup`: which part of it is shown is its own business. */
type PageHandlers = Pick<HandlersOf<typeof dashboardRows, 'residual'>, 'root.get' | 'assets.path.get'> &
  Pick<HandlersOf<typeof setupRows, 'residual'>, 'setup.get' | 'setup.path.get'>;

/** @param folder with index.html and the files of TYPES; read once. @throws Error when one is missing */
export function pageHandlers(folder: string): PageHandlers {
  const index = readFileSync(join(folder, 'index.html'));
  const assets = new Map(Object.keys(TYPES).map((name) => [name, readFileSync(join(folder, name))]));
  const page = (): Reply => new Reply(200, index, 'text/html; charset=utf-8', POLICY);
  return {
    'root.get': page,
    'setup.get': page,
    'setup.path.get': page,
    'assets.path.get': ({ params }) => {
      const found = assets.get(params.path);
      if (found === undefined) throw new ApiError('E_NOT_FOUND');
      return new Reply(200, found, TYPES[params.path] ?? 'application/octet-stream');
    },
  };
}
