import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../parts/theme.ts';
import { useAsk } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import { useProjection } from './map.tsx';
import type { Drawn } from './map-file.ts';
import type { MapFile } from './map-style.ts';
import type { View } from './projection.ts';

/** The ground under the layers: a map file of the node, where there is one and the browser can draw it; else the grid. */

const STORED = 'svc-map';
const GRID = '';

interface Base {
  /** For `<Map base>`; undefined: the grid. */
  readonly base: ComponentChildren | undefined;
  /** To choose another, where there is more than one thing to choose. */
  readonly choice: JSX.Element | null;
  /** The middle of the map, for while nothing else is known. */
  readonly start: View | null;
}

export function useBase(): Base {
  // Of the node itself: the map of a drone behind the radio is too large for it.
  const { data } = useAsk('maps.get', { here: true });
  const [chosen, setChosen] = useState(() => localStorage.getItem(STORED));
  const [broken, setBroken] = useState<string | null>(null);
  const files = data?.maps ?? [];
  if (files.length === 0 || !canDraw()) return { base: undefined, choice: null, start: null };
  const file = chosen === GRID ? undefined : (files.find(({ name }) => name === chosen) ?? files[0]);
  const choose = (name: string): void => {
    localStorage.setItem(STORED, name);
    setChosen(name);
    setBroken(null);
  };
  const [lon = 0, lat = 0, zoom = 2] = file?.center ?? [];
  return {
    base:
      file === undefined || file.name === broken ? undefined : (
        <MapBase key={file.name} file={file} onBroken={() => setBroken(file.name)} />
      ),
    choice: (
      <label class="map-choice">
        <span class="visually-hidden">{t.map.file}</span>
        <select value={file?.name ?? GRID} onChange={(event) => choose(event.currentTarget.value)}>
          {files.map(({ name, name_of_map: title }) => (
            <option key={name} value={name}>
              {title ?? name}
            </option>
          ))}
          <option value={GRID}>{t.map.grid}</option>
        </select>
      </label>
    ),
    start: file === undefined ? null : { lat, lon, zoom: Math.max(1, zoom) },
  };
}

/** Follows the view of the map that it lies in; it takes no input itself. */
function MapBase({ file, onBroken }: { readonly file: MapFile; readonly onBroken: () => void }): JSX.Element {
  const { view } = useProjection();
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const [source, setSource] = useState('');
  const dark = useDark();
  const latest = useRef({ view, dark });
  latest.current = { view, dark };
  useEffect(() => {
    let shown = true;
    const begin = async (): Promise<void> => {
      const { drawFile } = await import('./map-file.ts');
      if (!shown || box.current === null) return;
      const begun = await drawFile(box.current, file, latest.current, () => shown && onBroken());
      if (!shown) {
        begun.remove();
        return;
      }
      drawn.current = begun;
      begun.look(latest.current.view);
      setSource(begun.source);
    };
    begin().catch(() => shown && onBroken());
    return () => {
      shown = false;
      drawn.current?.remove();
      drawn.current = null;
    };
  }, [file.name]);
  useEffect(() => drawn.current?.look(view), [view]);
  useEffect(() => drawn.current?.paint(dark), [dark]);
  return (
    <>
      <div class="base" ref={box} aria-hidden="true" />
      {source === '' ? null : <small class="map-source">{t.map.source(source)}</small>}
    </>
  );
}

function useDark(): boolean {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [system, setSystem] = useState(query.matches);
  useEffect(() => {
    const change = (): void => setSystem(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return theme.value === 'auto' ? system : theme.value === 'dark';
}

let webGl: boolean | null = null;

function canDraw(): boolean {
  webGl ??= document.createElement('canvas').getContext('webgl2') !== null;
  return webGl;
}
