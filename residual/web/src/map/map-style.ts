import type { LayerSpecification, StyleSpecification } from 'maplibre-gl';
import type { Answer } from '../api/rows.ts';

/** How map files look: quiet, so that what is ours stands out. Without letters: they would need fonts of the map's own. */

export type MapFile = Answer<'maps.get'>['maps'][number];
export type MapSource = Answer<'maps.get'>['sources'][number];

const COLOURS = {
  light: {
    ground: '#eef0ea',
    green: '#d3e4c8',
    built: '#e4e1dc',
    water: '#a8cbe8',
    road: '#ffffff',
    edge: '#b9b4a8',
    building: '#cfc8bf',
    border: '#8a7f9a',
  },
  dark: {
    ground: '#161c22',
    green: '#1c2b22',
    built: '#20262d',
    water: '#17324a',
    road: '#4a5561',
    edge: '#2b333c',
    building: '#313a44',
    border: '#6d6480',
  },
} as const;

/** What every style calls its tiles. */
export const FIRST_SOURCE = 'ground';

/** Whatever schema the file has (Protomaps, OpenMapTiles, Shortbread): its layers are told by their names. @param url of the source */
export function vectorStyle(url: string, names: readonly string[], isDark: boolean): StyleSpecification {
  const colour = COLOURS[isDark ? 'dark' : 'light'];
  const layers: LayerSpecification[] = [
    { id: 'ground', type: 'background', paint: { 'background-color': colour.ground } },
  ];
  const matching = (pattern: RegExp): readonly string[] => names.filter((name) => pattern.test(name));
  const polygon: ['==', ['geometry-type'], string] = ['==', ['geometry-type'], 'Polygon'];
  const fill = (pattern: RegExp, fillColour: string, minzoom = 0): void => {
    for (const name of matching(pattern))
      layers.push({
        id: `fill ${name} ${fillColour}`,
        type: 'fill',
        source: FIRST_SOURCE,
        'source-layer': name,
        minzoom,
        filter: polygon,
        paint: { 'fill-color': fillColour },
      });
  };
  const line = (
    pattern: RegExp,
    lineColour: string,
    widths: readonly [number, number],
    dash = false,
  ): void => {
    for (const name of matching(pattern))
      layers.push({
        id: `line ${name} ${lineColour}`,
        type: 'line',
        source: FIRST_SOURCE,
        'source-layer': name,
        layout: { 'line-cap': 'round', 'line-join': 'round' },
        paint: {
          'line-color': lineColour,
          'line-width': ['interpolate', ['exponential', 1.6], ['zoom'], 6, widths[0], 18, widths[1]],
          ...(dash ? { 'line-dasharray': [3, 2] } : {}),
        },
      });
  };
  fill(/^(earth|land)$/i, colour.ground);
  fill(/land_?cover|park|wood|forest|green|natural/i, colour.green);
  fill(/land_?use|sites|pier|aeroway/i, colour.built);
  fill(/water|ocean|lake|dam/i, colour.water);
  line(/water_?way|water_lines|^water$|river/i, colour.water, [0.5, 6]);
  fill(/building/i, colour.building, 13);
  line(/road|street|transport|transit|rail|ferr|bridge/i, colour.edge, [0.6, 14]);
  line(/road|street|transportation$|bridge/i, colour.road, [0.3, 10]);
  line(/boundar|admin/i, colour.border, [0.6, 2], true);
  return { version: 8, sources: { [FIRST_SOURCE]: { type: 'vector', url } }, layers };
}

/** @param tiles their address, with `{z}/{x}/{y}` */
export function rasterStyle({
  tiles,
  min,
  max,
}: {
  readonly tiles: string;
  readonly min: number;
  readonly max: number;
}): StyleSpecification {
  return {
    version: 8,
    sources: {
      [FIRST_SOURCE]: { type: 'raster', tiles: [tiles], tileSize: 256, minzoom: min, maxzoom: max },
    },
    // Without a ground of its own: where tiles are missing, what lies below is seen.
    layers: [{ id: 'picture', type: 'raster', source: FIRST_SOURCE, paint: { 'raster-fade-duration': 0 } }],
  };
}
