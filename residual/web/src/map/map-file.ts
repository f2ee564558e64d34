import { addProtocol, Map as LibreMap, type StyleSpecification, setWorkerUrl } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url';
import { FetchSource, PMTiles, Protocol } from 'pmtiles';
import { listOf, memberOf } from '../../../../shared/member.ts';
import { pathOf } from '../api/client.ts';
import { credentialHeaders } from '../api/credential.ts';
import { trustScript } from '../parts/script-urls.ts';
import { type MapFile, rasterStyle, vectorStyle } from './map-style.ts';
import type { View } from './projection.ts';

/** A PMTiles file of the node, drawn by MapLibre. Loaded only where there is such a file. */

export interface Drawn {
  /** Whom the map is from, as its file says. */
  readonly source: string;
  readonly look: (view: View) => void;
  readonly paint: (dark: boolean) => void;
  readonly remove: () => void;
}

const protocol = new Protocol();
addProtocol('pmtiles', protocol.tile);
setWorkerUrl(trustScript(workerUrl));

/** @param onBroken it cannot be drawn (any more). @throws Error when the file cannot be read */
export async function drawFile(
  box: HTMLElement,
  file: MapFile,
  { view, dark }: { view: View; dark: boolean },
  onBroken: () => void,
): Promise<Drawn> {
  const address = pathOf('maps.name.get', { params: { name: file.name }, here: true });
  const archive = new PMTiles(new FetchSource(address, new Headers(credentialHeaders())));
  protocol.add(archive);
  const metadata: unknown = await archive.getMetadata();
  const layers = listOf(memberOf(metadata, 'vector_layers')).map((layer) => String(memberOf(layer, 'id')));
  const styleOf = (isDark: boolean): StyleSpecification =>
    ['mvt', 'mlt'].includes(file.tile_type)
      ? vectorStyle(`pmtiles://${address}`, layers, isDark)
      : rasterStyle(`pmtiles://${address}`, file, isDark);
  const map = new LibreMap({
    container: box,
    style: styleOf(dark),
    center: [view.lon, view.lat],
    zoom: view.zoom,
    interactive: false,
    attributionControl: false,
    fadeDuration: 0,
    maxZoom: 24,
  });
  map.getCanvas().tabIndex = -1;
  map.on('webglcontextlost', onBroken);
  return {
    source: plain(memberOf(metadata, 'attribution')),
    look: ({ lat, lon, zoom }) => map.jumpTo({ center: [lon, lat], zoom }),
    paint: (isDark) => map.setStyle(styleOf(isDark)),
    remove: () => map.remove(),
  };
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
