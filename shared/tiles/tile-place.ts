/** Of a map tile, as all of the web have them: Web Mercator, rows from the north. */
export interface TilePlace {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}
