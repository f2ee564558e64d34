import type { Row } from './row.ts';
import { PARAM, READ, WRITE } from './row-parts.ts';

const BASE = { lane: 'residual', feature: 'peripherals', profiles: 'DG' } as const;

export const peripheralsRows = [
  {
    ...BASE,
    ...READ,
    id: 'peripherals.get',
    path: '/api/peripherals',
    summary: 'connected hardware',
  },
  {
    ...BASE,
    ...WRITE,
    id: 'peripherals.scan.post',
    method: 'POST',
    path: '/api/peripherals/scan',
    access: 'key',
    scope: 'safe_write',
    relay: 'ok',
    armed: '-',
    summary: 'scan now',
    blast: 'config',
  },
  {
    ...BASE,
    ...READ,
    id: 'peripherals.id.get',
    path: '/api/peripherals/{id}',
    params: { id: PARAM.id },
    summary: 'one peripheral',
  },
  {
    ...BASE,
    ...WRITE,
    id: 'peripherals.id.config.put',
    method: 'PUT',
    path: '/api/peripherals/{id}/config',
    access: 'key',
    scope: 'admin',
    relay: 'ok',
    armed: '-',
    params: { id: PARAM.id },
    summary: 'its configuration',
    blast: 'config',
  },
  {
    ...BASE,
    ...WRITE,
    id: 'peripherals.id.action.post',
    method: 'POST',
    path: '/api/peripherals/{id}/action',
    access: 'key',
    scope: 'admin',
    relay: 'ok',
    armed: '-',
    params: { id: PARAM.id },
    summary: 'a declared action',
    blast: 'config',
  },
] as const satisfies readonly Row[];
