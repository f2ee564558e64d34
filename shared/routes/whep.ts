import type { Row } from './row.ts';
import { json, PARAM, WRITE } from './row-parts.ts';

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
    responses: {
      201: {
        description: 'the answer; Location names the session',
        mediaType: 'application/sdp',
        schema: null,
      },
    },
    built: true,
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
    responses: { 204: { description: 'taken', mediaType: 'application/json', schema: null } },
    built: true,
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
    bodyKind: 'none',
    summary: 'end playback',
    blast: 'config',
    responses: json('it is over', { type: 'object' }),
    built: true,
  },
] as const satisfies readonly Row[];
