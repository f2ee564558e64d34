import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from '../../../api/client.ts';
import { type Place, worldOf } from '../../../map/projection.ts';
import { checkPicture } from '../../../map/tile-picture.ts';
import { useAsk } from '../../../parts/use-ask.ts';

/**
 * Heights of the ground, from the node's terrain tiles (terrarium: R * 256 + G + B / 256 - 32768, m above the sea). Only the tiles under
 * a flight are asked for, coarser ones for a long flight.
 */

interface Tile {
  readonly size: number;
  readonly heights: Float32Array;
}

const FINEST_ZOOM = 13;
const MAX_TILES = 24;
const MAX_KEPT = 96;
/** A tile that failed is asked for again when the page is opened again. */
const tiles = new Map<string, Tile | 'asked' | 'none'>();
/** Counts tiles that came. */
const arrived = signal(0);

type Height = (place: Place) => number | null;

interface Terrain {
  /** Whether the node has a source of heights at all. */
  readonly hasSource: boolean;
  readonly height: Height;
}

/** @param places along the flight */
export function useTerrain(places: readonly Place[]): Terrain {
  const { data } = useAsk('maps.get', { here: true });
  const source = data?.sources?.find(({ tile }) => tile === 'terrain');
  void arrived.value;
  const zoom = source === undefined ? 0 : zoomFor(places, source.min_zoom, source.max_zoom);
  const wanted = source === undefined ? [] : namesOf(places, source.id, zoom);
  useEffect(() => {
    for (const name of wanted) if (!tiles.has(name)) void load(name);
  }, [wanted.join()]);
  return {
    hasSource: source !== undefined,
    height: (place) => (source === undefined ? null : heightIn(place, source.id, zoom)),
  };
}

function zoomFor(places: readonly Place[], least: number, most: number): number {
  for (let zoom = Math.min(most, FINEST_ZOOM); zoom > least; zoom--)
    if (namesOf(places, '', zoom).length <= MAX_TILES) return zoom;
  return least;
}

function namesOf(places: readonly Place[], source: string, zoom: number): readonly string[] {
  const names = new Set<string>();
  for (const place of places) {
    const { x, y } = tileOf(place, zoom);
    names.add(nameOf(source, zoom, Math.floor(x), Math.floor(y)));
    if (names.size > MAX_TILES) break;
  }
  return [...names];
}

/** In tiles from the north-west corner of the world. */
function tileOf(place: Place, zoom: number): { x: number; y: number } {
  const { x, y } = worldOf(place);
  const most = 2 ** zoom - 1e-6;
  return { x: Math.max(0, Math.min(most, x * 2 ** zoom)), y: Math.max(0, Math.min(most, y * 2 ** zoom)) };
}

function nameOf(source: string, zoom: number, x: number, y: number): string {
  return `${zoom}/${x}/${y}/${source}`;
}

function heightIn(place: Place, source: string, zoom: number): number | null {
  const { x, y } = tileOf(place, zoom);
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const tile = tiles.get(nameOf(source, zoom, left, top));
  if (typeof tile !== 'object') return null;
  // Between the middles of four pixels; at its edge a tile goes on as it ends.
  const { size, heights } = tile;
  const [px, py] = [(x - left) * size - 0.5, (y - top) * size - 0.5];
  const at = (column: number, row: number): number => {
    const within = (value: number): number => Math.max(0, Math.min(size - 1, value));
    return heights[within(row) * size + within(column)] ?? 0;
  };
  const [column, row] = [Math.floor(px), Math.floor(py)];
  const [u, v] = [px - column, py - row];
  const upper = at(column, row) * (1 - u) + at(column + 1, row) * u;
  const lower = at(column, row + 1) * (1 - u) + at(column + 1, row + 1) * u;
  return upper * (1 - v) + lower * v;
}

async function load(name: string): Promise<void> {
  for (const old of tiles.keys()) {
    if (tiles.size < MAX_KEPT) break;
    tiles.delete(old);
  }
  tiles.set(name, 'asked');
  const [z = '', x = '', y = '', ...source] = name.split('/');
  try {
    const response = await send('maps.tiles.get', {
      params: { source: source.join('/'), z, x, y },
      here: true,
    });
    tiles.set(name, await decode(new Uint8Array(await response.arrayBuffer())));
  } catch (error) {
    // Without this tile the ground is not known there, which the chart says.
    tiles.set(name, 'none');
    if (!(error instanceof Error)) throw error;
  }
  arrived.value++;
}

/** @throws Error for what is no picture of a tile */
async function decode(bytes: Uint8Array<ArrayBuffer>): Promise<Tile> {
  checkPicture(bytes);
  // Heights are no colours: nothing may be adapted to a screen.
  const picture = await createImageBitmap(new Blob([bytes]), {
    colorSpaceConversion: 'none',
    premultiplyAlpha: 'none',
  });
  const { width: size, height } = picture;
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = height;
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  if (pen === null || size !== height) throw new Error('no square picture');
  pen.drawImage(picture, 0, 0);
  picture.close();
  const { data } = pen.getImageData(0, 0, size, size);
  const heights = new Float32Array(size * size);
  for (let at = 0; at < heights.length; at++)
    heights[at] =
      (data[at * 4] ?? 0) * 256 + (data[at * 4 + 1] ?? 0) + (data[at * 4 + 2] ?? 0) / 256 - 32_768;
  return { size, heights };
}
