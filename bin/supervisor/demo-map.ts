import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import { Compression, TileType } from 'pmtiles';
import { toGeo } from '../../shared/flight/geo.ts';
import { DEMO_SEED, type Landscape, makeLandscape } from '../../shared/landscape/landscape.ts';
import { EXTENT_M, PAD } from '../../shared/landscape/parts.ts';
import { SIM_HOME } from '../../shared/landscape/place.ts';
import { type Point, type Polygon, rectangle } from '../../shared/landscape/polygon.ts';
import { inTileOrder, writePmtiles } from '../../shared/maps/pmtiles-writer.ts';

/** The map of the landscape that the demo's camera shows. */

const FILE = 'demo-landscape.pmtiles';
const ZOOMS = { least: 10, most: 16 } as const;
/** Crops that are green all summer. */
const GREEN: ReadonlySet<string> = new Set(['pasture', 'clover', 'maize']);
/** Corners of what is round. */
const ROUND = 24;

/** What the page's style knows by these names (residual/web/src/map/map-style.ts). */
type Layer = 'earth' | 'landcover' | 'aeroway' | 'water' | 'waterway' | 'roads' | 'buildings';

/**
 * Makes the map, and the folder for it. Called only where there is no such folder yet: so one that somebody has deleted does not come
 * back, and none is written over.
 * @param folder of the node's maps
 */
export async function makeDemoMap(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const layers = Object.entries(layersOf(makeLandscape(DEMO_SEED)));
  const indexes = layers.map(([name, features]) => ({
    name,
    index: new GeoJSONVT(
      { type: 'FeatureCollection', features: [...features] },
      { maxZoom: ZOOMS.most, indexMaxZoom: ZOOMS.most, indexMaxPoints: 0 },
    ),
  }));
  const [west, south] = place([-EXTENT_M, -EXTENT_M]);
  const [east, north] = place([EXTENT_M, EXTENT_M]);
  const tiles = tilesOf([west, south, east, north]).flatMap((tile) => {
    const found = indexes.flatMap(({ name, index }) => {
      const part = index.getTile(tile.z, tile.x, tile.y);
      return part === null || part.features.length === 0 ? [] : [[name, part] as const];
    });
    if (found.length === 0) return [];
    return [
      { ...tile, data: gzipSync(fromGeojsonVt(Object.fromEntries(found), { version: 2, extent: 4096 })) },
    ];
  });
  await writePmtiles(
    join(folder, FILE),
    {
      tileType: TileType.Mvt,
      tileCompression: Compression.Gzip,
      bounds: [west, south, east, north],
      center: [SIM_HOME.lon, SIM_HOME.lat, 15],
      metadata: {
        name: 'Demo landscape',
        attribution: 'A made-up landscape',
        vector_layers: layers.map(([id]) => ({ id, fields: {}, minzoom: ZOOMS.least, maxzoom: ZOOMS.most })),
      },
    },
    inTileOrder(tiles),
  );
}

interface Feature {
  readonly type: 'Feature';
  readonly properties: Readonly<Record<string, string>>;
  readonly geometry:
    | { readonly type: 'Polygon'; readonly coordinates: [number, number][][] }
    | { readonly type: 'LineString'; readonly coordinates: [number, number][] };
}

function layersOf(land: Landscape): Readonly<Record<Layer, readonly Feature[]>> {
  const { pond, stream } = land;
  const all = rectangle([0, 0], 2 * EXTENT_M, 2 * EXTENT_M, 0);
  const green = land.fields.filter(({ crop }) => GREEN.has(crop)).map(({ shape, crop }) => area(shape, crop));
  return {
    earth: [area(all, 'land')],
    landcover: [...green, ...land.woods.map((wood) => area(wood, 'wood')), area(land.lawn, 'grass')],
    aeroway: [area(land.yard, 'yard'), area(round(PAD.at, PAD.radius, PAD.radius, 0), 'helipad')],
    water: [area(round(pond.at, pond.length / 2, pond.width / 2, pond.angle), 'pond')],
    waterway: [line(stream.line, 'stream')],
    roads: land.roads.map((way) => line(way.line, way.kind)),
    buildings: land.houses.map(({ at, length, width, angle, kind }) =>
      area(rectangle(at, length, width, angle), kind),
    ),
  };
}

function area(shape: Polygon, kind: string): Feature {
  const ring = shape.map(place);
  const [first] = ring;
  const coordinates = [first === undefined ? ring : [...ring, first]];
  return { type: 'Feature', properties: { kind }, geometry: { type: 'Polygon', coordinates } };
}

function line(points: readonly Point[], kind: string): Feature {
  return {
    type: 'Feature',
    properties: { kind },
    geometry: { type: 'LineString', coordinates: points.map(place) },
  };
}

function round([e, n]: Point, long: number, short: number, angle: number): Polygon {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return Array.from({ length: ROUND }, (_, at): Point => {
    const [x, y] = [
      long * Math.cos((2 * Math.PI * at) / ROUND),
      short * Math.sin((2 * Math.PI * at) / ROUND),
    ];
    return [e + x * c - y * s, n + x * s + y * c];
  });
}

/** Longitude and latitude of a place in the landscape. */
function place([e, n]: Point): [number, number] {
  const { lat, lon } = toGeo(SIM_HOME, { e, n, u: 0 });
  return [lon, lat];
}

/** All tiles that have a part of these bounds (Web Mercator). */
function tilesOf([west, south, east, north]: readonly [number, number, number, number]): {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}[] {
  const tiles = [];
  for (let z: number = ZOOMS.least; z <= ZOOMS.most; z++) {
    const column = (lon: number): number => Math.floor(((lon + 180) / 360) * 2 ** z);
    const row = (lat: number): number => {
      const sine = Math.sin((lat * Math.PI) / 180);
      return Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * 2 ** z);
    };
    for (let x = column(west); x <= column(east); x++)
      for (let y = row(north); y <= row(south); y++) tiles.push({ z, x, y });
  }
  return tiles;
}
