import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { whepRows } from '../../../shared/routes/whep.ts';
import type { WhepService } from './whep-service.ts';

export function whepHandlers(service: WhepService): HandlersOf<typeof whepRows, 'residual'> {
  return {
    'whep.post': async ({ body, principal }) => {
      const { id, etag, answer } = await service.open(body.toString('utf8'), principal);
      return new Reply(201, answer, 'application/sdp', {
        location: `/whep/${id}`,
        etag,
        'accept-patch': 'application/trickle-ice-sdpfrag',
      });
    },

    'whep.session.patch': async ({ params, body, headers, principal }) => {
      await service.trickle(params.session, body.toString('utf8'), headers['if-match'] ?? null, principal);
      return new Reply(204, '');
    },

    'whep.session.delete': async ({ params, principal }) => {
      await service.end(params.session, principal);
      return { ended: true };
    },
  };
}
