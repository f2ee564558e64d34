import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LinkConnection } from '../../residual/app/link-connection.ts';
import { nodeCalls } from '../../residual/app/plugins/ipc/node-calls.ts';
import { Topics } from '../../residual/app/plugins/ipc/topics.ts';
import { LinkVehicle, type Vehicle } from '../../residual/app/plugins/ipc/vehicle.ts';
import { deferred } from '../../shared/async/deferred.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Manifest } from '../../shared/plugins/manifest.ts';
import { AuthorHost } from './author-host.ts';
import { readManifestOf } from './manifest-file.ts';
import { RunningExtension } from './run-extension.ts';

interface DevelopmentOptions {
  readonly folder: string;
  /** For sockets and data. */
  readonly temporary: string;
  readonly config: Map<string, unknown>;
  /** The simulated node. */
  readonly paths: Pick<Paths, 'linkSocket' | 'mavlinkSocket' | 'controlSocket'>;
  readonly onLine: (line: string) => void;
}

/** An editor writes several files at once. */
const SETTLE_MS = 200;
/** Nothing here changes what runs. */
const UNWATCHED = /(?:^|\/)(?:\.|node_modules\/|tests\/|__pycache__\/)|\.svcplug$/;

/** Runs an extension while its author works on it, again after each change, until `signal`. */
export async function develop(options: DevelopmentOptions, signal: AbortSignal): Promise<void> {
  const { folder, onLine } = options;
  const dataDir = join(options.temporary, 'data');
  await mkdir(dataDir);
  const sockets = join(options.temporary, 'sockets');
  const httpSocket = join(sockets, 'http.sock');
  const page = await servePage(httpSocket);
  let changed = deferred();
  const watcher = watch(folder, { recursive: true, signal }, (_event, name) => {
    if (name === null || !UNWATCHED.test(name)) changed.resolve();
  });
  watcher.on('error', (error) => onLine(`changes are not seen: ${error.message}`));
  const aborted = once(signal, 'abort');
  const topics = new Topics();
  const link = new LinkConnection(options.paths.linkSocket);
  const vehicle = new LinkVehicle(link, topics);
  vehicle.start();
  link.start();
  try {
    while (!signal.aborted) {
      changed = deferred();
      try {
        const manifest = await readManifestOf(folder);
        if (manifest.agent?.http === true) onLine(`its pages: ${addressOf(page)}`);
        await runOnce(
          options,
          manifest,
          { dataDir, sockets, topics, vehicle },
          Promise.race([changed.promise, aborted]),
        );
      } catch (error) {
        onLine(messageOf(error));
        await Promise.race([changed.promise, aborted]);
      }
      if (signal.aborted) break;
      await delay(SETTLE_MS);
      onLine('--- changed');
    }
  } finally {
    vehicle.stop();
    link.stop();
    page.close();
    page.closeAllConnections();
  }
}

interface Surroundings {
  readonly dataDir: string;
  readonly sockets: string;
  readonly topics: Topics;
  readonly vehicle: Vehicle;
}

async function runOnce(
  { folder, paths, config, onLine }: DevelopmentOptions,
  manifest: Manifest,
  { dataDir, sockets, topics, vehicle }: Surroundings,
  until: Promise<unknown>,
): Promise<void> {
  const host = new AuthorHost({
    manifest,
    folder: sockets,
    config,
    topics,
    vehicle,
    mavlinkSocket: paths.mavlinkSocket,
    nodeCalls: nodeCalls(paths.controlSocket),
    onEvent: (sentence) => onLine(`> ${sentence}`),
  });
  await host.start();
  try {
    const extension = await RunningExtension.start(manifest, { folder, sockets, dataDir }, onLine);
    const ended = await Promise.race([until.then(() => null), extension.ended()]);
    if (ended !== null) {
      onLine(`it ${ended}; it starts again when a file changes`);
      await until;
    }
    await extension.stop();
  } finally {
    await host.stop();
  }
}

/** A browser cannot open a Unix socket. */
async function servePage(socketPath: string): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const forwarded = request({ socketPath, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', (error) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(503).end(`The extension is not serving HTTP: ${error.message}\n`);
    });
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function addressOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/` : 'nowhere';
}
