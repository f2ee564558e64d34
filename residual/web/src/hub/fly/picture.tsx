import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { Refused } from '../../api/client.ts';
import { Card, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import type { Playback } from '../../video/playback.ts';
import { whepByCalls } from '../../video/whep-calls.ts';
import css from '../hub.module.css';
import { hub } from '../words.ts';
import { answerOf, refusedBy } from './calls.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

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
          // Only the signalling goes over hub and broker, as signed calls.
          const { play } = await import('../../video/whep-player.ts');
          const called = latest.current;
          const whep = whepByCalls(async (call) => answerOf(called, call), refusedBy);
          playing = await play(element, whep);
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
