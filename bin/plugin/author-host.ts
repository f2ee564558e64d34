import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExtensionCamera } from '../../residual/app/plugins/ipc/extension-camera.ts';
import { ExtensionDetections } from '../../residual/app/plugins/ipc/extension-detections.ts';
import { ExtensionLimits } from '../../residual/app/plugins/ipc/extension-limits.ts';
import { ExtensionTelemetry } from '../../residual/app/plugins/ipc/extension-telemetry.ts';
import { Host } from '../../residual/app/plugins/ipc/host.ts';
import { Methods } from '../../residual/app/plugins/ipc/methods.ts';
import type { NodeCalls } from '../../residual/app/plugins/ipc/node-calls.ts';
import { Published } from '../../residual/app/plugins/ipc/published.ts';
import type { Topics } from '../../residual/app/plugins/ipc/topics.ts';
import type { Vehicle } from '../../residual/app/plugins/ipc/vehicle.ts';
import { DetectionFeed } from '../../residual/app/vision/detection-feed.ts';
import { deferred } from '../../shared/async/deferred.ts';
import { within } from '../../shared/async/within.ts';
import { messageOf } from '../../shared/errors.ts';
import { memberOf } from '../../shared/member.ts';
import type { Manifest } from '../../shared/plugins/manifest.ts';
import { notHere } from './standing-vehicle.ts';

interface AuthorHostOptions {
  readonly manifest: Manifest;
  /** For its sockets; made anew. */
  readonly folder: string;
  /** The extension's configuration; it is changed by config.set. */
  readonly config: Map<string, unknown>;
  readonly topics: Topics;
  readonly vehicle: Vehicle;
  /** Raw MAVLink of the simulated node; null: there is none. */
  readonly mavlinkSocket: string | null;
  /** What asks the simulated node; null: there is none. */
  readonly nodeCalls: NodeCalls | null;
  /** What the extension did, a sentence each. */
  readonly onEvent: (sentence: string) => void;
}

const HELLO_MS = 10_000;
const MAX_SHOWN = 300;
/** What an author wants to see, and how it is called. */
const SHOWN: Readonly<Record<string, readonly [word: string, members: readonly string[]]>> = {
  'event.publish': ['event', ['topic', 'payload']],
  'state.publish': ['state', ['topic', 'payload']],
  'telemetry.extend': ['telemetry', ['values']],
  'vision.publish_detection': ['detections', ['detections']],
  'command.send': ['command', ['cmd', 'args']],
  'mission.write': ['mission.write', ['part']],
  'mavlink.register_component': ['component', ['component_id']],
  'camera.register': ['camera', ['format']],
};

/**
 * The node's own host of an extension's socket, on its author's machine: every grant of the manifest, what is published shown, and
 * whatever needs a camera not available.
 */
export class AuthorHost {
  readonly #host: Host;
  readonly #hello = deferred();

  constructor(options: AuthorHostOptions) {
    const { manifest, folder, config, topics, vehicle, onEvent } = options;
    const { id, version } = manifest;
    const agent = manifest.agent ?? { permissions: [], mavlink_components: [] };
    const grants: ReadonlySet<string> = new Set(agent.permissions.map((permission) => permission.id));
    const now = (): number => performance.now();
    const feed = new DetectionFeed();
    const methods = new Methods();
    this.#hello.promise.catch(() => undefined); // whoever waits for it hears of it
    this.#host = new Host({
      folder,
      onHello: () => this.#hello.resolve(),
      onProblem: (problem) => onEvent(`its connection was ended: ${problem}`),
      methods: {
        async call(session, name, args) {
          try {
            const result = await methods.call(session, name, args);
            const sentence = shown(name, args);
            if (sentence !== null) onEvent(sentence);
            return result;
          } catch (error) {
            onEvent(`${name} was refused: ${messageOf(error)}`);
            throw error;
          }
        },
      },
      hosted: {
        id,
        version,
        profile: 'drone',
        grants: () => grants,
        denied: () => undefined,
        components: agent.mavlink_components,
        topics,
        vehicle,
        mavlinkSocket: options.mavlinkSocket ?? join(folder, 'no-vehicle'),
        nodeCalls: options.nodeCalls ?? (async (_id, { path }) => notHere(path)),
        recording: {
          start: async () => notHere('recording.start'),
          stop: async () => notHere('recording.stop'),
        },
        picture: async () => notHere('vision.read_frame'),
        detectionFeed: feed,
        detections: new ExtensionDetections(id, feed, now, Date.now),
        published: new Published(now, Date.now),
        telemetry: new ExtensionTelemetry(id, vehicle, now),
        camera: new ExtensionCamera(id, { sockets: folder, cameras: join(tmpdir(), 'no-cameras') }),
        limits: new ExtensionLimits(now),
        settings: {
          read: async () => Promise.resolve(Object.fromEntries(config)),
          write: async (key, value) => {
            if (value === null) config.delete(key);
            else config.set(key, value);
            return Promise.resolve(Object.fromEntries(config));
          },
        },
      },
    });
  }

  async start(): Promise<void> {
    await this.#host.start();
  }

  async stop(): Promise<void> {
    this.#hello.reject(new Error('The host was stopped before the extension said hello.'));
    await this.#host.stop();
  }

  /** @throws after 10 s without a hello */
  async greeted(): Promise<void> {
    await within(
      this.#hello.promise,
      HELLO_MS,
      () => new Error(`The extension did not say hello within ${HELLO_MS / 1000} s.`),
    );
  }

  /** Runs a tool. @throws ExtensionError: its own words, `plugin_disconnected`, or `tool_timeout` after `ms` */
  async invoke(tool: string, args: unknown, ms: number): Promise<unknown> {
    return this.#host.ask('tool.invoke', { tool, arguments: args }, ms);
  }
}

/** Null for what would only fill the screen. */
function shown(method: string, args: unknown): string | null {
  const [word, members] = SHOWN[method] ?? [null, []];
  if (word === null) return null;
  const values = members.map((name) => memberOf(args, name));
  return [word, ...values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value ?? null)))]
    .join(' ')
    .slice(0, MAX_SHOWN);
}
