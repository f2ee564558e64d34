import { shownName } from '../schemas/shown-name.ts';
import { RESIDUAL, section } from './leaf.ts';

/** The section `maps`: where the tiles of the map come from. */
export const mapsConfig = section('Maps', 'maps', {
  sources: {
    title: 'Tile servers',
    type: 'array',
    maxItems: 16,
    'x-unique': 'id',
    items: {
      type: 'object',
      required: ['id', 'name', 'url', 'attribution', 'min_zoom', 'max_zoom', 'tile'],
      properties: {
        id: {
          type: 'string',
          pattern: '^[a-z0-9][a-z0-9_-]{0,31}$',
          'x-says': 'must be 1 to 32 of a-z, 0-9, _ and -',
          description: 'what it is called here',
        },
        name: { ...shownName, minLength: 1, maxLength: 64, description: 'what people read' },
        url: {
          type: 'string',
          format: 'tile-url',
          maxLength: 1000,
          'x-secret': true,
          description: 'address of a tile, with {z}, {x} and {y}; a key in it is shown to nobody',
        },
        attribution: {
          ...shownName,
          minLength: 1,
          maxLength: 200,
          description: 'whom the map is from, as its provider wants it shown',
        },
        min_zoom: { type: 'integer', minimum: 0, maximum: 22, description: 'lowest zoom that it has' },
        max_zoom: { type: 'integer', minimum: 0, maximum: 22, description: 'highest zoom that it has' },
        tile: {
          enum: ['raster', 'terrain'],
          description: 'raster: pictures; terrain: heights as terrarium writes them',
        },
      },
      additionalProperties: false,
    },
    default: [],
    description:
      'tile servers that this node may ask for the page, each with id, name, url, attribution, min_zoom, max_zoom, tile; the page itself asks nobody. Read the terms of a provider first',
    'x-class': 'keyonly',
    'x-reason': 'decides which hosts this node asks, and who learns where it flies',
    ...RESIDUAL,
  },
  cache_mb: {
    title: 'Space for fetched tiles',
    type: 'integer',
    minimum: 0,
    maximum: 16_384,
    default: 512,
    'x-unit': 'MB',
    description: 'space for tiles that were fetched; 0: none is kept',
    ...RESIDUAL,
  },
});
