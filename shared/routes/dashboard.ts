import type { Row } from './row.ts';
import { media, PARAM, PUBLIC_READ } from './row-parts.ts';

const BASE = { lane: 'residual', feature: 'dashboard', profiles: 'DG' } as const;

export const dashboardRows = [
  {
    ...BASE,
    ...PUBLIC_READ,
    id: 'root.get',
    path: '/',
    summary: 'browser dashboard shell',
    responses: media('a page', 'text/html'),
    built: true,
  },
  {
    ...BASE,
    ...PUBLIC_READ,
    id: 'assets.path.get',
    path: '/assets/{*path}',
    params: { path: PARAM.rest },
    summary: 'its assets',
    responses: media('a script, a style sheet or a picture', 'application/octet-stream'),
    built: true,
  },
] as const satisfies readonly Row[];
