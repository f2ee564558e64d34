import { memberOf } from '../../../../shared/member.ts';
import { iceServersOf } from './ice-links.ts';
import type { Whep } from './whep.ts';

/** WHEP by signed calls of the fleet (docs/contract/fleet.md): what HTTP has in headers stands beside the text. */

interface CallAnswer {
  readonly status: number;
  readonly body: unknown;
}

type SendCall = (call: {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}) => Promise<CallAnswer>;

/**
 * @param send signs and carries a call to one node; it throws where no answer came
 * @param refused makes the error of an answer that is no playback
 */
export function whepByCalls(send: SendCall, refused: (answer: CallAnswer) => Error): Whep {
  const pathOf = (session: string): string => `/whep/${session}`;
  const text = (body: unknown, name: string): string => {
    const value = memberOf(body, name);
    return typeof value === 'string' ? value : '';
  };
  return {
    offer: async (sdp) => {
      const body = { media_type: 'application/sdp', text: sdp };
      const answer = await send({ method: 'POST', path: '/whep', body });
      if (answer.status !== 201) throw refused(answer);
      return {
        answer: text(answer.body, 'text'),
        session: text(answer.body, 'location').split('/').at(-1) ?? '',
        servers: iceServersOf(text(answer.body, 'link')),
      };
    },
    patch: async (session, fragment, restart) => {
      const body = {
        media_type: 'application/trickle-ice-sdpfrag',
        text: fragment,
        ...(restart ? { if_match: '*' } : {}),
      };
      try {
        const answer = await send({ method: 'PATCH', path: pathOf(session), body });
        const servers = iceServersOf(text(answer.body, 'link'));
        return { status: answer.status, fragment: text(answer.body, 'text'), servers };
      } catch {
        return { status: 0, fragment: '', servers: [] }; // no answer; the player looks at what comes
      }
    },
    end: (session) => void send({ method: 'DELETE', path: pathOf(session) }).catch(() => undefined),
  };
}
