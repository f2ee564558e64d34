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
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const mapList = {
  title: 'MapList',
  type: 'object',
  required: ['maps', 'free_bytes', 'problem'],
  properties: {
    maps: { type: 'array', items: mapFile },
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
