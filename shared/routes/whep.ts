import type { Row } from './row.ts';
import { PARAM, WRITE } from './row-parts.ts';

const BASE = { lane: 'residual', feature: 'whep', profiles: 'DG' } as const;

export const whepRows = [
  {
    ...BASE,
    ...WRITE,
    id: 'whep.post',
    method: 'POST',
    path: '/whep',
    access: 'key',
    scope: 'safe_write',
    relay: 'ok',
    armed: '-',
    bodyKind: 'raw',
    summary: 'WebRTC playback offer',
    blast: 'config',
  },
  {
    ...BASE,
    ...WRITE,
    id: 'whep.session.patch',
    method: 'PATCH',
    path: '/whep/{session}',
    access: 'key',
    scope: 'safe_write',
    relay: 'ok',
    armed: '-',
    params: { session: PARAM.id },
    bodyKind: 'raw',
    summary: 'trickle ICE',
    blast: 'config',
  },
  {
    ...BASE,
    ...WRITE,
    id: 'whep.session.delete',
    method: 'DELETE',
    path: '/whep/{session}',
    access: 'key',
    scope: 'safe_write',
    relay: 'ok',
    armed: '-',
    params: { session: PARAM.id },
    bodyKind: 'raw',
    summary: 'end playback',
    blast: 'config',
  },
] as const satisfies readonly Row[];
