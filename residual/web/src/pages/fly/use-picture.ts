import { computed, signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Watching } from '../../video/watching.ts';

/** Whether there is a picture to make room for: that decides whether the picture or the map is the main thing. */

/** `waiting`: it may come any moment; `none`: no camera, switched off, or nothing has come. */
export type PictureState = 'waiting' | 'shown' | 'none';

/** So long nothing need be there before the map takes its place. */
const FIRST_MS = 5000;
/** One that broke off may come back at once: what is under a finger does not change for less. */
const GONE_MS = 8000;
/** A camera may take so long to start; after that the pilot looks at the map. */
const START_MS = 20_000;

const WHOLE = 'svc-whole-picture';
/** Whether the whole picture is shown, with black beside it; otherwise it fills the window and is cut to its middle. Kept in the browser. */
export const isWhole = signal(localStorage.getItem(WHOLE) === '1');

export function showWhole(whole: boolean): void {
  isWhole.value = whole;
  localStorage.setItem(WHOLE, whole ? '1' : '0');
}

type Large = 'picture' | 'map';
// What the pilot looked at stays large when the page is opened again.
const wanted = signal<Large>('picture');

export interface PictureView {
  readonly video: { current: HTMLVideoElement | null };
  readonly watching: Watching | null;
  readonly state: PictureState;
  readonly large: Large;
  readonly swap: () => void;
}

/** Watches the camera while the page is shown. */
export function usePicture(): PictureView {
  const video = useRef<HTMLVideoElement>(null);
  const [watching, setWatching] = useState<Watching | null>(null);
  const [state, setState] = useState<PictureState>('waiting');
  useEffect(() => {
    if (video.current === null) return;
    const begun = new Watching(video.current);
    setWatching(begun);
    const stop = follow(begun, (next) => {
      setState((before) => {
        // It comes back as a small one: nobody is taken the map from under the finger.
        if (next === 'none') wanted.value = before === 'shown' ? 'map' : wanted.value;
        return next;
      });
    });
    return () => {
      stop();
      begun.stop();
    };
  }, []);
  return {
    video,
    watching,
    state,
    large: state === 'none' ? 'map' : wanted.value,
    swap: () => {
      if (state !== 'none') wanted.value = wanted.value === 'map' ? 'picture' : 'map';
    },
  };
}

function follow({ way, live, status }: Watching, onState: (state: PictureState) => void): () => void {
  // One that stands still is none after a while, either; single pictures are never called live.
  const isThere = computed(() => live.value || way.value === 'stills');
  let timer: ReturnType<typeof setTimeout> | undefined = setTimeout(() => onState('none'), FIRST_MS);
  const began = performance.now();
  let seen = false;
  const clear = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const stops = [
    isThere.subscribe((now) => {
      if (now) {
        clear();
        if (!seen && performance.now() - began > START_MS) wanted.value = 'map';
        seen = true;
        onState('shown');
      } else if (seen && timer === undefined) {
        timer = setTimeout(() => onState('none'), GONE_MS);
      }
    }),
    status.subscribe((now) => {
      if (seen || now === null || now.state === 'running' || now.state === 'starting') return;
      clear();
      onState('none');
    }),
  ];
  return () => {
    clear();
    for (const stop of stops) stop();
  };
}
