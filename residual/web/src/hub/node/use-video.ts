import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { Refused } from '../../api/client.ts';
import type { Playback } from '../../video/playback.ts';
import { whepByCalls } from '../../video/whep-calls.ts';
import { answerOf, refusedBy } from '../fly/calls.ts';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;

export interface Video {
  readonly video: RefObject<HTMLVideoElement | null>;
  /** A picture of now is shown. */
  readonly isLive: boolean;
  /** Why there is none; null: none was refused yet. */
  readonly problem: Refused | null;
}

/** What the node's camera sees now, while the page is looked at. */
export function useVideo(entry: NodeEntry): Video {
  const video = useRef<HTMLVideoElement>(null);
  const [isLive, setLive] = useState(false);
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
          const now = playing;
          element.requestVideoFrameCallback(() => setLive(playing === now));
          await playing.ended;
        } catch (error) {
          if (!(error instanceof Refused) && !(error instanceof DOMException)) throw error;
          if (error instanceof Refused) setProblem(error);
          pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
        }
        setLive(false);
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
  return { video, isLive, problem };
}
