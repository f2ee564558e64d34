import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, PARAM } from './row-parts.ts';

const { row } = domain({ lane: 'residual', feature: 'whep', profiles: 'DG', params: { session: PARAM.id } });

export const whepRows = [
  row('whep.post', 'POST /whep', 'key safe_write ok - none', 'offer WebRTC playback', {
    bearer: true,
    bodyMedia: 'application/sdp',
    fails: ['E_VIEWERS'],
    responses: {
      201: {
        description: 'the SDP answer; Location names the session, Link the ICE servers',
        mediaType: 'application/sdp',
        schema: null,
      },
    },
    bodyKind: 'raw',
  }),
  row(
    'whep.session.patch',
    'PATCH /whep/{session}',
    'key safe_write ok - none',
    'add ICE candidates or restart ICE',
    {
      bearer: true,
      bodyMedia: 'application/trickle-ice-sdpfrag',
      fails: ['E_PRECONDITION', 'E_BUSY'],
      responses: {
        200: {
          description: 'ICE begins anew, for an If-Match of *; the side of the node',
          mediaType: 'application/trickle-ice-sdpfrag',
          schema: null,
        },
        204: { description: 'accepted', mediaType: 'application/json', schema: null },
      },
      bodyKind: 'raw',
    },
  ),
  row('whep.session.delete', 'DELETE /whep/{session}', 'key safe_write ok - none', 'end playback', {
    bearer: true,
    responses: json('ended', { type: 'object' }),
  }),
] as const satisfies readonly Row[];
