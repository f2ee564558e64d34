import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Frames } from './frames.ts';
import type { Projection } from './projection.ts';

/** What the layers of a map are given. */
interface MapGiven {
  readonly projection: Projection;
  readonly frames: Frames;
}

export const MapContext = createContext<MapGiven | null>(null);

/** What the layers are rendered for. @throws Error outside of a map */
export function useProjection(): Projection {
  return useMap().projection;
}

/** What is on the screen, from frame to frame. @throws Error outside of a map */
export function useFrames(): Frames {
  return useMap().frames;
}

function useMap(): MapGiven {
  const map = useContext(MapContext);
  if (map === null) throw new Error('a layer stands outside of a map');
  return map;
}
