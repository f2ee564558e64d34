import { addProtocol } from 'maplibre-gl';
import { FetchSource, PMTiles, Protocol } from 'pmtiles';
import { credentialHeaders } from '../api/credential.ts';
import { checkPicture } from './tile-picture.ts';

/**
 * How MapLibre comes to its tiles: from a file of the node by range, or from the node one by one. Always with the page's credential
 * as a header, and a picture is looked at before the browser decodes it.
 */

const FILE = 'pmtiles';
const TILES = 'svc-tiles';
const MOST_VECTOR_BYTES = 8 * 1024 * 1024;
/** The node itself gives up on a source after less. */
const TIMEOUT_MS = 30_000;

const files = new Protocol();
/** Of which files the tiles are pictures. */
const pictures = new Set<string>();

/** What a tile is asked for with: on the hub's page its operator. */
let headersOf: () => Readonly<Record<string, string>> = credentialHeaders;

export function askWith(headers: typeof headersOf): void {
  headersOf = headers;
}

type Load = Parameters<typeof addProtocol>[1];

const fromFile: Load = async (request, stopper) => {
  const { data } = await files.tile(request, stopper);
  // What is no tile describes the file.
  if (typeof data !== 'object' || data === null) throw new Error('a file without tiles');
  if (!(data instanceof Uint8Array) || data.length === 0) return { data };
  const isPicture = [...pictures].some((address) => request.url.startsWith(`${FILE}://${address}/`));
  if (isPicture) checkPicture(data);
  else if (data.length > MOST_VECTOR_BYTES) throw new Error('a tile that is too large');
  return { data };
};

const fromNode: Load = async ({ url }, stopper) => {
  const response = await fetch(url.slice(`${TILES}://`.length), {
    headers: headersOf(),
    signal: AbortSignal.any([stopper.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Refusal(response.status, Number(response.headers.get('retry-after')));
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  checkPicture(bytes);
  return { data: bytes.buffer };
};

addProtocol(FILE, fromFile);
addProtocol(TILES, fromNode);

/** The node has no such tile, now or at all. */
export class Refusal extends Error {
  readonly status: number;
  /** Seconds before which it is not to be asked again; 0: it does not say. */
  readonly retryAfter: number;

  constructor(status: number, retryAfter: number) {
    super(`the node answered ${status}`);
    this.status = status;
    this.retryAfter = Number.isFinite(retryAfter) ? retryAfter : 0;
  }
}

/** A file, and the address of its tiles for a style. @param address of the file at the node */
export function openFile(address: string, isPicture: boolean): { archive: PMTiles; url: string } {
  const archive = new PMTiles(new FetchSource(address, new Headers(credentialHeaders())));
  files.add(archive);
  if (isPicture) pictures.add(address);
  return { archive, url: `${FILE}://${address}` };
}

/** The address of a source's tiles for a style. @param path with {z}, {x} and {y} */
export function tilesAt(path: string): string {
  return `${TILES}://${path}`;
}
