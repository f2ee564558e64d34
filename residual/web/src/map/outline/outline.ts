/** The land of the world, for where there is no map. Loaded only then: 27 kB on the way. */

/** Polygons of rings of [longitude, latitude], degrees, as GeoJSON has them; the first ring is the coast, others are lakes. */
export interface Land {
  readonly type: 'MultiPolygon';
  readonly coordinates: number[][][][];
}

/** Made from Natural Earth (see README.md beside): 5 121 points, none beyond ±180; Antarctica goes down to -90. */
export async function worldOutline(): Promise<Land> {
  const { default: land } = await import('./land.json');
  return { type: 'MultiPolygon', coordinates: land.coordinates };
}
