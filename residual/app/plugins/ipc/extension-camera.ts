import { chmod, mkdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { contained } from '../../../../shared/async/every.ts';
import { listenUnix } from '../../../../shared/rpc/socket-file.ts';
import {
  CAMERA_FORMATS,
  type CameraFormat,
  cameraSocket,
} from '../../../../shared/video/extension-cameras.ts';
import { extensionSocket } from '../sandbox/extension-socket.ts';

/** svc-video has one, and for a moment another while it starts again. */
const MAX_READERS = 2;

interface CameraPlace {
  /** The folder that the extension shares with the node: it listens on `camera.sock` there. */
  readonly sockets: string;
  /** Where svc-video looks for the cameras of extensions. */
  readonly cameras: string;
}

/**
 * The camera of one extension, for svc-video: a socket of the node's own that hands on what the extension's sends. svc-video never
 * opens anything that an extension has made, and sees nothing of it without the grant.
 */
export class ExtensionCamera {
  readonly #id: string;
  readonly #place: CameraPlace;
  readonly #readers = new Set<Socket>();
  #server: Server | null = null;

  constructor(id: string, place: CameraPlace) {
    this.#id = id;
    this.#place = place;
  }

  /** From now on its pictures can be shown. @throws Error if its socket cannot be made */
  async offer(format: CameraFormat): Promise<void> {
    this.end();
    const path = cameraSocket(this.#place.cameras, this.#id, format);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await chmod(dirname(path), 0o700); // other users of this machine see no pictures
    for (const other of CAMERA_FORMATS) // of before, or of a process that was killed
      await rm(cameraSocket(this.#place.cameras, this.#id, other), { force: true });
    const server = createServer((reader) => this.#accept(reader));
    server.maxConnections = MAX_READERS;
    this.#server = server;
    await listenUnix(server, path, 0o600);
  }

  /** Whoever looks at it sees nothing more. */
  end(): void {
    this.#server?.close(); // this removes the file too
    this.#server = null;
    for (const reader of this.#readers) reader.destroy();
  }

  #accept(reader: Socket): void {
    this.#readers.add(reader);
    reader.once('close', () => this.#readers.delete(reader));
    reader.on('error', () => undefined); // 'close' follows
    reader.resume(); // svc-video says nothing
    contained('camera of an extension', async () => this.#connect(reader))();
  }

  async #connect(reader: Socket): Promise<void> {
    const found = await extensionSocket(join(this.#place.sockets, 'camera.sock'));
    if (found === null || reader.destroyed) {
      await found?.close();
      reader.destroy(); // it does not listen; svc-video tries again
      return;
    }
    const camera = connect({ path: found.path });
    camera.on('error', () => undefined); // 'close' follows
    camera.once('close', () => reader.destroy());
    reader.once('close', () => camera.destroy());
    camera.pipe(reader);
    await new Promise<void>((resolve) => {
      camera.once('connect', resolve).once('close', () => resolve());
    });
    await found.close();
  }
}
