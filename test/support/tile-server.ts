import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plainPng } from './pmtiles.ts';

/** What a server does with a request for a tile. */
export type TileBehaviour = (req: IncomingMessage, res: ServerResponse, tile: Buffer) => void;

/** A key in the address of a source, which nobody may be shown. */
export const TILE_KEY = 'K3y-of-the-provider';

/** A picture of its own for each tile. */
export function tileOf(z: number, x: number, y: number): Buffer {
  return plainPng(64, [z, x % 256, y % 256]);
}

/** A tile server: `/behaviour/z/x/y`. It answers with a picture, unless a behaviour of that name was given. */
export class TileServer {
  readonly behaviours = new Map<string, TileBehaviour>();
  /** Paths without the query, as they came. */
  readonly asked: string[] = [];
  readonly heads: IncomingMessage['headers'][] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(port = 0): Promise<TileServer> {
    const server = createServer();
    const tiles = new TileServer(server);
    server.on('request', (req, res) => tiles.#answer(req, res));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return tiles;
  }

  get port(): number {
    const { port } = this.#server.address() as AddressInfo;
    return port;
  }

  /** As `maps.sources` has one. */
  source(id: string, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    return {
      id,
      name: `Source ${id}`,
      url: `http://127.0.0.1:${this.port}/${id}/{z}/{x}/{y}?key=${TILE_KEY}`,
      attribution: '© Somebody',
      min_zoom: 0,
      max_zoom: 18,
      tile: 'raster',
      ...more,
    };
  }

  /** How often a source was asked. */
  count(id: string): number {
    return this.asked.filter((path) => path.startsWith(`/${id}/`)).length;
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const [path = ''] = (req.url ?? '').split('?');
    this.asked.push(path);
    this.heads.push(req.headers);
    const [, id = '', z, x, y] = path.split('/');
    const tile = tileOf(Number(z), Number(x), Number(y));
    const behaviour = this.behaviours.get(id);
    if (behaviour === undefined) res.writeHead(200, { 'content-type': 'image/png' }).end(tile);
    else behaviour(req, res, tile);
  }
}
