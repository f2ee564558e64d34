import type { Row } from './row.ts';
import { PARAM, PUBLIC_READ } from './row-parts.ts';

const BASE = { lane: 'residual', feature: 'dashboard', profiles: 'DG' } as const;

export const dashboardRows = [
  {
    ...BASE,
    ...PUBLIC_READ,
    id: 'root.get',
    path: '/',
    summary: 'browser dashboard shell',
  },
  {
    ...BASE,
    ...PUBLIC_READ,
    id: 'assets.path.get',
    path: '/assets/{*path}',
    params: { path: PARAM.rest },
    summary: 'its assets',
  },
] as const satisfies readonly Row[];
