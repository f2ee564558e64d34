import { computed, signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { newest } from '../api/telemetry.ts';
import { useAsk } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import { choices, choose } from './choices.ts';
import type { Ground } from './drawn-map.ts';
import { Attribution, GroundLayer } from './ground-layer.tsx';
import { Outline } from './outline.tsx';
import type { View } from './projection.ts';

/** The ground under the layers: a map file or a source of tiles of the node, where the browser can draw it; else the outline of the world. */

const OUTLINE = 'outline';
/** Half a step of what the vehicle's place is rounded to. */
const ROUNDED_DEG = 0.05;

interface BaseOption {
  readonly id: string;
  readonly name: string;
  /** Null: the outline. */
  readonly ground: Ground | null;
}

export interface Base {
  /** For `<Map base>`. */
  readonly base: ComponentChildren;
  /** To choose another, where there is more than one thing to choose. */
  readonly choice: JSX.Element | null;
  /** The middle of the map, for while nothing else is known. */
  readonly start: View | null;
  /** What can be chosen, the outline last. */
  readonly options: readonly BaseOption[];
  readonly chosen: BaseOption;
}

/** What could not be drawn, until something is chosen anew. */
const broken = signal<ReadonlySet<string>>(new Set());

export function chooseBase(id: string): void {
  broken.value = new Set();
  choose({ base: id });
}

export function useBase(): Base {
  // Of the node itself: the map of a drone behind the radio is too large for it.
  const { data } = useAsk('maps.get', { here: true });
  const outline: BaseOption = { id: OUTLINE, name: t.map.outline, ground: null };
  const options: readonly BaseOption[] = canDraw()
    ? [
        ...(data?.maps ?? [])
          .filter(({ tile }) => tile !== 'terrain')
          .map((file) => ({
            id: `file:${file.name}`,
            name: file.name_of_map ?? file.name,
            ground: { kind: 'file', file } as const,
          })),
        ...(data?.sources ?? [])
          .filter(({ tile }) => tile !== 'terrain')
          .map((source) => ({
            id: `source:${source.id}`,
            name: source.name,
            ground: { kind: 'source', source } as const,
          })),
        outline,
      ]
    : [outline];
  const wanted = options.find(({ id }) => id === choices.value.base) ?? bestOf(options) ?? outline;
  const chosen = broken.value.has(wanted.id) ? outline : wanted;
  const file = chosen.ground?.kind === 'file' ? chosen.ground.file : null;
  const [lon = 0, lat = 0, zoom = 2] = file?.center ?? [];
  const { ground, id } = chosen;
  return {
    base: (
      <>
        <Outline />
        {ground === null ? (
          <Attribution text={t.map.naturalEarth} />
        ) : (
          <GroundLayer
            key={id}
            ground={ground}
            onBroken={() => (broken.value = new Set([...broken.peek(), id]))}
          />
        )}
      </>
    ),
    choice: options.length < 2 ? null : <BaseChoice options={options} chosen={chosen} />,
    start: file === null ? null : { lat, lon, zoom: Math.max(1, zoom) },
    options,
    chosen,
  };
}

/** About where the vehicle is: changes every few kilometres. */
const about = computed(() => {
  const { lat, lon } = newest.value?.position ?? {};
  return typeof lat !== 'number' || typeof lon !== 'number' ? '' : `${lat.toFixed(1)} ${lon.toFixed(1)}`;
});

/** While nobody has chosen: a file of where the vehicle is, then a source, then whatever there is. */
function bestOf(options: readonly BaseOption[]): BaseOption | undefined {
  const [lat, lon] = about.value === '' ? [] : about.value.split(' ').map(Number);
  return (
    options.find(({ ground }) => ground?.kind === 'file' && isOf(ground.file.bounds, lat, lon)) ??
    options.find(({ ground }) => ground?.kind === 'source' && lat !== undefined) ??
    options[0]
  );
}

function isOf(
  [west = 0, south = 0, east = 0, north = 0]: readonly number[],
  lat: number | undefined,
  lon: number | undefined,
): boolean {
  if (lat === undefined || lon === undefined) return false;
  const [least, most] = [west - ROUNDED_DEG, east + ROUNDED_DEG];
  const isBetween = west <= east ? lon >= least && lon <= most : lon >= least || lon <= most;
  return isBetween && lat >= south - ROUNDED_DEG && lat <= north + ROUNDED_DEG;
}

function BaseChoice({
  options,
  chosen,
}: {
  readonly options: readonly BaseOption[];
  readonly chosen: BaseOption;
}): JSX.Element {
  return (
    <label class="map-choice">
      <span class="visually-hidden">{t.map.base}</span>
      <select value={chosen.id} onChange={(event) => chooseBase(event.currentTarget.value)}>
        {options.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

let webGl: boolean | null = null;

export function canDraw(): boolean {
  webGl ??= document.createElement('canvas').getContext('webgl2') !== null;
  return webGl;
}
