import { Map as LibreMap, type StyleSpecification, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url';
import { listOf, memberOf } from '../../../../shared/member.ts';
import { pathOf } from '../api/client.ts';
import { trustScript } from '../parts/script-urls.ts';
import { FIRST_SOURCE, type MapFile, type MapSource, rasterStyle, vectorStyle } from './map-style.ts';
import { isSameView, type Projection, type View } from './projection.ts';
import { openFile, Refusal, tilesAt } from './tile-protocols.ts';

/** A map of the node, drawn by MapLibre. Loaded only where there is one. */

export type Ground =
  | { readonly kind: 'file'; readonly file: MapFile }
  | {
      readonly kind: 'source';
      readonly source: MapSource;
      /** Where its tiles are, with {z}, {x} and {y}; without it, at the node. */
      readonly tiles?: string;
    };

export interface Drawn {
  /** Whom the map is from. */
  readonly attribution: string;
  readonly look: (live: Projection) => void;
  readonly paint: (dark: boolean) => void;
  readonly remove: () => void;
}

export interface Listener {
  /** It cannot be drawn (any more). */
  readonly onBroken: () => void;
  /** Tiles do not come; false: they do again. */
  readonly onMissing: (missing: boolean) => void;
}

/** After tiles failed, they are asked for again. */
const AGAIN_MS = 15_000;
const MAX_ZOOM = 24;

setWorkerUrl(trustScript(workerUrl));

/** @throws Error when the file cannot be read, or there is no WebGL after all */
export async function drawGround(
  box: HTMLElement,
  ground: Ground,
  { view, dark }: { view: View; dark: boolean },
  { onBroken, onMissing }: Listener,
): Promise<Drawn> {
  const { styleOf, attribution } =
    ground.kind === 'file'
      ? await readFile(ground.file)
      : readSource(ground.source, ground.tiles ?? atNode(ground.source));
  const map = new LibreMap({
    container: box,
    style: styleOf(dark),
    center: [view.lon, view.lat],
    zoom: view.zoom,
    bearing: view.bearing ?? 0,
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    maxZoom: MAX_ZOOM,
  });
  let seen = view;
  let failed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  map.getCanvas().tabIndex = -1;
  map.on('webglcontextlost', onBroken);
  // A listener keeps it out of the console, too: tiles are missing whenever the node is without internet.
  map.on('error', ({ error }: { error: unknown }) => {
    if (error instanceof Refusal && error.status === 404) return;
    failed = true;
    onMissing(true);
    const wait = error instanceof Refusal ? error.retryAfter * 1000 : 0;
    timer ??= setTimeout(
      () => {
        timer = undefined;
        failed = false;
        if (map.getSource(FIRST_SOURCE) !== undefined) map.refreshTiles(FIRST_SOURCE);
      },
      Math.max(AGAIN_MS, wait),
    );
  });
  map.on('idle', () => onMissing(failed));
  return {
    attribution,
    look: (live) => {
      if (isSameView(seen, live.view)) return;
      seen = live.view;
      const { lat, lon, zoom } = live.view;
      // At once, so that it is in the same frame as what lies over it.
      map.jumpTo({ center: [lon, lat], zoom, bearing: live.bearing }).redraw();
    },
    paint: (isDark) => map.setStyle(styleOf(isDark)),
    remove: () => {
      clearTimeout(timer);
      map.remove();
    },
  };
}

interface Readable {
  readonly styleOf: (dark: boolean) => StyleSpecification;
  readonly attribution: string;
}

async function readFile(file: MapFile): Promise<Readable> {
  const isVector = ['mvt', 'mlt'].includes(file.tile_type);
  const address = pathOf('maps.name.get', { params: { name: file.name }, here: true });
  const { archive, url } = openFile(address, !isVector);
  const metadata: unknown = await archive.getMetadata();
  const layers = listOf(memberOf(metadata, 'vector_layers')).map((layer) => String(memberOf(layer, 'id')));
  return {
    attribution: plain(memberOf(metadata, 'attribution')),
    styleOf: (dark) =>
      isVector
        ? vectorStyle(url, layers, dark)
        : rasterStyle({ tiles: `${url}/{z}/{x}/{y}`, min: file.min_zoom, max: file.max_zoom }),
  };
}

function readSource({ attribution, min_zoom: min, max_zoom: max }: MapSource, address: string): Readable {
  const tiles = tilesAt(address);
  return { attribution: plain(attribution), styleOf: () => rasterStyle({ tiles, min, max }) };
}

/** Of the node itself, as the files are: what the node in front of the person has need not come over the radio. */
function atNode({ id }: MapSource): string {
  const path = pathOf('maps.tiles.get', { params: { source: id, z: '0', x: '0', y: '0' }, here: true });
  return `${path.split('/').slice(0, -3).join('/')}/{z}/{x}/{y}`;
}

/** The text of a bit of HTML; it is shown as text. */
function plain(html: unknown): string {
  return typeof html === 'string'
    ? html
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&copy;', '©')
        .slice(0, 120)
    : '';
}
