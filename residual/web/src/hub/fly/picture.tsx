import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { Refused } from '../../api/client.ts';
import { Card, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { iceServersOf } from '../../video/ice-links.ts';
import type { Playback } from '../../video/playback.ts';
import { play } from '../../video/whep-player.ts';
import css from '../hub.module.css';
import { hub } from '../words.ts';
import { callNode } from './calls.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

type Whep = NonNullable<Parameters<typeof play>[1]>;

/** WHEP by signed calls: only the signalling goes over hub and broker, the picture itself does not. */
function byCalls(entry: NodeEntry): Whep {
  const text = (answer: unknown, name: string): string => {
    const value = memberOf(answer, name);
    return typeof value === 'string' ? value : '';
  };
  const servers = (answer: unknown): RTCIceServer[] => iceServersOf(text(answer, 'link'));
  return {
    offer: async (sdp) => {
      const body = { media_type: 'application/sdp', text: sdp };
      const answer = await callNode(entry, { method: 'POST', path: '/whep', body });
      return {
        answer: text(answer, 'text'),
        session: text(answer, 'location').split('/').at(-1) ?? '',
        servers: servers(answer),
      };
    },
    patch: async (session, fragment, restart) => {
      const body = {
        media_type: 'application/trickle-ice-sdpfrag',
        text: fragment,
        ...(restart ? { if_match: '*' } : {}),
      };
      try {
        const answer = await callNode(entry, { method: 'PATCH', path: `/whep/${session}`, body });
        // A restart is answered by the node's fragment, all else by nothing.
        return {
          status: answer === null ? 204 : 200,
          fragment: text(answer, 'text'),
          servers: servers(answer),
        };
      } catch (error) {
        return { status: error instanceof Refused ? error.status : 0, fragment: '', servers: [] };
      }
    },
    end: (session) =>
      void callNode(entry, { method: 'DELETE', path: `/whep/${session}` }).catch(() => undefined),
  };
}

/** What the node's camera sees now, while the page is looked at. */
export function Picture({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  const [state, setState] = useState<'waiting' | 'live'>('waiting');
  const [problem, setProblem] = useState<Refused | null>(null);
  const latest = useRef(entry);
  latest.current = entry;
  const { id, online } = entry;
  useEffect(() => {
    let over = false;
    let playing: Playback | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pause = FIRST_PAUSE_MS;
    const begin = async (): Promise<void> => {
      const element = video.current;
      if (element !== null && online && !document.hidden) {
        try {
          playing = await play(element, byCalls(latest.current));
          if (over) playing.stop();
          setProblem(null);
          pause = FIRST_PAUSE_MS;
          await playing.ended;
        } catch (error) {
          if (!(error instanceof Refused) && !(error instanceof DOMException)) throw error;
          if (error instanceof Refused) setProblem(error);
          pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
        }
        setState('waiting');
        playing = null;
      }
      if (!over) timer = setTimeout(() => void begin(), pause);
    };
    const hide = (): void => {
      if (document.hidden) playing?.stop();
    };
    void begin();
    document.addEventListener('visibilitychange', hide);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', hide);
      playing?.stop();
    };
  }, [id, online]);
  return (
    <Card title={hub.fly.picture} wide>
      <video
        ref={video}
        class={`${css['video']} ${state === 'live' ? '' : css['old-picture']}`}
        aria-label={t.fly.video.label}
        autoPlay
        muted
        playsInline
        onPlaying={() => setState('live')}
      />
      {problem === null ? null : <Note tone="warn">{problem.message}</Note>}
      <p class="hint">
        {state === 'live' ? t.fly.video.live : online ? t.fly.video.waiting : hub.fly.why.offline}
      </p>
    </Card>
  );
}
