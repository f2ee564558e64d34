import type { JsonSchema } from './json-schema.ts';

/** Answers of the map routes. */

export const mapFile = {
  title: 'MapFile',
  type: 'object',
  required: [
    'name',
    'size_bytes',
    'modified_at',
    'tile_type',
    'min_zoom',
    'max_zoom',
    'bounds',
    'center',
    'name_of_map',
    'tile',
    'attribution',
    'source',
  ],
  properties: {
    name: { type: 'string', description: 'of the file' },
    size_bytes: { type: 'integer' },
    modified_at: { type: 'string', description: 'RFC 3339' },
    tile_type: { enum: ['mvt', 'png', 'jpeg', 'webp', 'avif', 'mlt', 'unknown'] },
    min_zoom: { type: 'integer' },
    max_zoom: { type: 'integer' },
    bounds: {
      type: 'array',
      items: { type: 'number' },
      minItems: 4,
      examples: [[5.9, 45.8, 10.5, 47.8]],
      maxItems: 4,
      description: 'west, south, east, north, degrees',
    },
    center: {
      type: 'array',
      items: { type: 'number' },
      minItems: 3,
      examples: [[8.2, 46.8, 8]],
      maxItems: 3,
      description: 'longitude and latitude, degrees, and zoom',
    },
    name_of_map: { type: ['string', 'null'], description: 'as its metadata says' },
    tile: {
      enum: ['raster', 'terrain', 'vector'],
      description: 'what its tiles are: pictures, heights (terrarium), or lines and areas',
    },
    attribution: { type: ['string', 'null'], description: 'whom it is from, plain text' },
    source: { type: ['string', 'null'], description: 'the source in maps.sources that it was made from' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mapSource = {
  title: 'MapSource',
  type: 'object',
  required: ['id', 'name', 'attribution', 'min_zoom', 'max_zoom', 'tile'],
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    attribution: { type: 'string', description: 'to be shown beside the map' },
    min_zoom: { type: 'integer' },
    max_zoom: { type: 'integer' },
    tile: { enum: ['raster', 'terrain'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const mapDownload = {
  title: 'RunningMapDownload',
  type: 'object',
  required: ['name', 'source', 'done', 'total', 'missing', 'bytes', 'started_at'],
  properties: {
    name: { type: 'string', description: 'of the file that it becomes' },
    source: { type: 'string' },
    done: { type: 'integer', description: 'tiles' },
    total: { type: 'integer', description: 'tiles' },
    missing: { type: 'integer', description: 'tiles that could not be had' },
    bytes: { type: 'integer', description: 'of tiles so far' },
    started_at: { type: 'string', description: 'RFC 3339' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mapList = {
  title: 'MapList',
  type: 'object',
  required: ['maps', 'sources', 'cache', 'downloads', 'free_bytes', 'problem'],
  properties: {
    maps: { type: 'array', items: mapFile },
    sources: { type: 'array', items: mapSource, description: 'as maps.sources has them, without addresses' },
    cache: {
      type: 'object',
      required: ['bytes', 'limit'],
      properties: {
        bytes: { type: 'integer', description: 'on the disk, of tiles that were fetched' },
        limit: { type: 'integer', description: 'bytes, from maps.cache_mb' },
      },
      additionalProperties: false,
    },
    downloads: { type: 'array', items: mapDownload, description: 'offline areas that are being made now' },
    free_bytes: { type: ['integer', 'null'], description: 'on the disk of the maps; null: unknown' },
    problem: { type: ['string', 'null'], description: 'which files in the folder cannot be used, and why' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mapRemoved = {
  title: 'MapRemoved',
  type: 'object',
  required: ['name', 'deleted'],
  properties: { name: { type: 'string' }, deleted: { const: true } },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The most tiles of an offline area. */
export const MAX_AREA_TILES = 200_000;

export const areaRequest = {
  title: 'MapDownload',
  type: 'object',
  required: ['source', 'bbox', 'min_zoom', 'max_zoom', 'name'],
  properties: {
    source: { type: 'string', minLength: 1, maxLength: 32, description: 'id of a source in maps.sources' },
    bbox: {
      type: 'array',
      items: { type: 'number', minimum: -180, maximum: 180 },
      minItems: 4,
      maxItems: 4,
      examples: [[149.1, -35.4, 149.2, -35.3]],
      description:
        'west, south, east, north, degrees; south must be less than north. West greater than east: across the antimeridian',
    },
    min_zoom: { type: 'integer', minimum: 0, maximum: 22 },
    max_zoom: { type: 'integer', minimum: 0, maximum: 22, description: 'not less than min_zoom' },
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,119}\\.pmtiles$',
      examples: ['field.pmtiles'],
      description: 'file name of letters, digits, ".", "_" and "-" that ends in .pmtiles',
    },
    dry_run: { type: 'boolean', description: 'only count; nothing is fetched or stored' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const areaAnswer = {
  title: 'MapDownloaded',
  type: 'object',
  required: ['tiles', 'estimated_bytes', 'free_bytes', 'attribution', 'missing', 'map'],
  properties: {
    tiles: { type: 'integer', description: 'in the area, of all its zooms' },
    estimated_bytes: { type: 'integer', description: 'as large as the tiles known of this source' },
    free_bytes: { type: ['integer', 'null'], description: 'on the disk of the maps; null: unknown' },
    attribution: { type: 'string', description: 'whose terms count' },
    missing: { type: 'integer', description: 'tiles that could not be had; 0 for a dry run' },
    map: { anyOf: [mapFile, { type: 'null' }], description: 'the file; null for a dry run' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
