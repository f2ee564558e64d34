import { type FSWatcher, watch } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { contained, every } from '../../../shared/async/every.ts';
import { detectBoard } from '../../../shared/board.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Call, Handler, HandlersOf } from '../../../shared/routes/handler.ts';
import type { logsRows } from '../../../shared/routes/logs.ts';
import type { pluginsRows } from '../../../shared/routes/plugins.ts';
import type { Row } from '../../../shared/routes/row.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Base, UpgradeHandler } from '../base.ts';
import type { DetectionFeed } from '../vision/detection-feed.ts';
import { type PassedCall, PassThrough } from './http/pass-through.ts';
import { Installer } from './install/installer.ts';
import type { NodeServices, Recording } from './ipc/hosted.ts';
import { nodeCalls } from './ipc/node-calls.ts';
import { Topics } from './ipc/topics.ts';
import { LinkVehicle } from './ipc/vehicle.ts';
import { httpSocketOf } from './launch.ts';
import { Lifecycle } from './lifecycle.ts';
import { pluginHandlers } from './plugin-handlers.ts';
import { chooseSandbox } from './sandbox/sandbox.ts';
import { PluginStore } from './store.ts';

/** How often the revocations are read whether or not a change was seen: not every file system tells. */
const SIGNERS_MS = 10_000;
const INTEGRITY_MS = 10 * 60_000;

interface Plugins {
  readonly handlers: HandlersOf<typeof pluginsRows, 'residual'>;
  /** By row id. */
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  /** An event of the node, to the extensions that hear it. */
  readonly publish: (topic: string, payload: unknown) => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface PluginsOptions {
  /** Whether this node was installed, so that extensions are units of the machine. */
  readonly installed: boolean;
  readonly recording: Recording;
  readonly detections: DetectionFeed;
  readonly picture: NodeServices['picture'];
  /** GET /api/logs. */
  readonly logs: Handler<(typeof logsRows)[0]>;
}

/** The extension part of the residual: archives, records, the processes of extensions, their sockets. */
export async function openPlugins(
  { config, paths, link, log }: Base,
  { installed, recording, detections, picture, logs }: PluginsOptions,
): Promise<Plugins> {
  const { profile } = config.agent;
  const topics = new Topics();
  const vehicle = new LinkVehicle(link, topics);
  const store = new PluginStore(paths.pluginState);
  const installer = new Installer({
    folder: paths.plugins,
    keys: paths.pluginKeys,
    revocations: paths.pluginRevocations,
    requireSigned: config.plugins.require_signed,
    version: VERSION,
    profile,
    board: await detectBoard(),
  });
  const passThrough = new PassThrough({
    socketOf: (id) => {
      const spec = lifecycle.running(id)?.spec;
      return spec?.http === true ? httpSocketOf(spec) : null;
    },
  });
  const lifecycle = new Lifecycle({
    store,
    installer,
    sandbox: await chooseSandbox({
      installed,
      helperSocket: paths.helperSocket,
      allowUnsandboxed: config.plugins.allow_unsandboxed,
      node: process.execPath,
      onProblem: (sentence) => log.warn(sentence),
    }),
    services: {
      topics,
      vehicle,
      mavlinkSocket: paths.mavlinkSocket,
      recording,
      detectionFeed: detections,
      picture,
      nodeCalls: nodeCalls(paths.controlSocket),
      profile,
    },
    places: {
      data: paths.pluginData,
      sockets: paths.pluginSockets,
      cameras: paths.cameraSockets,
      profile,
      closedDevices: closedDevices(config),
    },
    settings: paths.pluginConfig,
    onEnded: (id) => passThrough.close(id),
    wall: Date.now,
    now: () => performance.now(),
    log,
  });
  const timers: NodeJS.Timeout[] = [];
  const checkSigners = async (): Promise<void> => lifecycle.checkSigners();
  let watcher: FSWatcher | null = null;
  let resuming: Promise<void> = Promise.resolve();
  return {
    handlers: pluginHandlers({
      store,
      installer,
      lifecycle,
      passThrough,
      folder: paths.plugins,
      urlHosts: config.plugins.url_hosts,
      logs,
    }),
    upgrades: new Map<string, UpgradeHandler>([
      [
        'plugins.id.x.path.ws',
        (call: Call<Row>, req, socket, head) =>
          passThrough.upgrade(call as unknown as PassedCall, req, socket, head),
      ],
    ]),
    publish: (topic, payload) => topics.publish(topic, payload),
    async start() {
      // Other users of this machine see neither the files nor the sockets.
      for (const folder of [paths.plugins, paths.pluginData, paths.pluginSockets])
        await mkdir(folder, { recursive: true, mode: 0o700 });
      vehicle.start();
      // Not awaited: the node is ready before its extensions are.
      resuming = begin(store, installer, lifecycle, topics).catch((error: unknown) => {
        log.error(`extensions: ${messageOf(error)}`);
      });
      watcher = watchFile(paths.pluginRevocations, contained('signers of extensions', checkSigners), log);
      timers.push(
        every(SIGNERS_MS, 'signers of extensions', checkSigners),
        every(INTEGRITY_MS, 'files of extensions', async () => lifecycle.checkIntegrity()),
      );
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      watcher?.close();
      topics.publish('agent.shutdown', {});
      lifecycle.close();
      await resuming;
      await lifecycle.stop();
      passThrough.stop();
      vehicle.stop();
      await rm(paths.pluginSockets, { recursive: true, force: true });
    },
  };
}

async function begin(
  store: PluginStore,
  installer: Installer,
  lifecycle: Lifecycle,
  topics: Topics,
): Promise<void> {
  await installer.sweep(await store.all());
  await lifecycle.resume();
  topics.publish('agent.ready', {});
}

/** Its folder is watched, since the file may be replaced, or not be there yet. Null where the machine cannot watch. */
function watchFile(path: string, changed: () => void, log: Base['log']): FSWatcher | null {
  try {
    const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
      if (name === basename(path)) changed();
    });
    watcher.on('error', (error) => log.debug(`${path} is not watched: ${messageOf(error)}`));
    return watcher;
  } catch (error) {
    log.debug(`${path} is not watched: ${messageOf(error)}`); // it is read every 10 s all the same
    return null;
  }
}

/** The flight controller's port belongs to svc-link, whatever was granted. */
function closedDevices({ mavlink }: Base['config']): readonly string[] {
  const match = /^serial:([^:]+)/.exec(mavlink.source);
  return match?.[1] === undefined ? [] : [match[1]];
}
