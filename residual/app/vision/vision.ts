import { enabledFeatures } from '../../../shared/config/features.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { visionRows } from '../../../shared/routes/vision.ts';
import type { Base, UpgradeHandler } from '../base.ts';
import type { ConfigStore } from '../config/store.ts';
import type { DetectionFeed } from './detection-feed.ts';
import { DetectionSockets } from './detection-sockets.ts';
import { DetectorClient } from './detector-client.ts';
import { modelCheck } from './model-check.ts';
import { ModelRegistry } from './model-registry.ts';
import { ModelStore } from './model-store.ts';
import { SeenEvents } from './seen.ts';
import { visionHandlers } from './vision-handlers.ts';
import { type OwnLease, VisionLease } from './vision-lease.ts';

export interface Vision {
  readonly handlers: HandlersOf<typeof visionRows, 'residual'>;
  /** By row id. */
  readonly upgrades: ReadonlyMap<string, UpgradeHandler>;
  start(): Promise<void>;
  stop(): void;
}

interface VisionOptions {
  readonly store: ConfigStore;
  readonly feed: DetectionFeed;
  readonly lease: OwnLease;
  /** To extensions. */
  readonly publish: (topic: string, payload: unknown) => void;
  /** The program that checks a model. */
  readonly checker: string;
}

/** The vision part of the residual: models, the choice of the detector, svc-vision's client, who hears of detections. */
export function openVision({ config, paths, log }: Base, options: VisionOptions): Vision {
  const { feed } = options;
  const now = (): number => performance.now();
  const warn = (sentence: string): void => void log.warn(sentence);
  const lease = new VisionLease(options.lease, warn);
  const detector = new DetectorClient({
    visionSocket: paths.visionSocket,
    supervisorSocket: paths.supervisorSocket,
    feed,
    onStatus: (status) => lease.heard(status),
  });
  const store = new ModelStore({
    folder: paths.models,
    maxBytes: config.vision.models_max_mb * 1e6,
    check: modelCheck(options.checker, config.vision.memory_mb),
    wall: Date.now,
    warn,
  });
  const sockets = new DetectionSockets({ feed, running: () => detector.connected, now, log });
  const seen = new SeenEvents(now, (what) => {
    log.info(`vision: ${what.class_label} comes into view`, { event: 'vision.seen', ...what });
    options.publish('vision.seen', what);
  });
  const isOn = enabledFeatures(config).has('vision');
  let unsubscribe: (() => void) | null = null;
  return {
    handlers: visionHandlers({
      config: options.store,
      store,
      registry: new ModelRegistry(config.vision.registry, now),
      detector,
      feed,
    }),
    upgrades: new Map([['vision.detections.ws.ws', sockets.upgrade]]),
    async start() {
      if (!isOn) return;
      await store.start();
      unsubscribe = feed.subscribe((batch) => seen.heard(batch));
      detector.start();
    },
    stop() {
      unsubscribe?.();
      sockets.stop();
      detector.stop();
      store.stop();
    },
  };
}
