import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { whepRows } from '../../../shared/routes/whep.ts';
import type { IceServer } from '../../../shared/rpc/video.ts';
import type { WhepService } from './whep-service.ts';

const FRAGMENT = 'application/trickle-ice-sdpfrag';

export function whepHandlers(service: WhepService): HandlersOf<typeof whepRows, 'residual'> {
  return {
    'whep.post': async ({ body, principal }) => {
      const { id, etag, answer, ice_servers: servers } = await service.open(body.toString('utf8'), principal);
      return new Reply(201, answer, 'application/sdp', {
        location: `/whep/${id}`,
        etag,
        'accept-patch': FRAGMENT,
        ...linksTo(servers),
      });
    },

    'whep.session.patch': async ({ params, body, headers, principal }) => {
      const text = body.toString('utf8');
      const {
        restarted,
        etag,
        ice_servers: servers,
      } = await service.trickle(params.session, text, headers['if-match'] ?? null, principal);
      if (restarted === null) return new Reply(204, '');
      return new Reply(200, restarted, FRAGMENT, { etag, ...linksTo(servers) });
    },

    'whep.session.delete': async ({ params, principal }) => {
      await service.end(params.session, principal);
      return { ended: true };
    },
  };
}

/** The ICE servers for the viewer (RFC 9725 4.6): one link for each address. */
function linksTo(servers: readonly IceServer[]): { readonly link?: string } {
  const links = servers.flatMap(({ urls, username, credential }) =>
    urls.map((url) =>
      [
        `<${url}>; rel="ice-server"`,
        ...(username === null || credential === null || url.startsWith('stun:')
          ? []
          : [
              `username=${quoted(username)}`,
              `credential=${quoted(credential)}`,
              'credential-type="password"',
            ]),
      ].join('; '),
    ),
  );
  return links.length === 0 ? {} : { link: links.join(', ') };
}

/** A quoted-string (RFC 9110 5.6.4). */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
