import { messageOf } from '../../../shared/errors.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { peripheralsRows } from '../../../shared/routes/peripherals.ts';
import { askLinkState } from '../../../shared/rpc/ask-link-state.ts';
import { clientOf } from '../../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../../shared/rpc/supervisor.ts';
import type { Base } from '../base.ts';
import type { ConfigStore } from '../config/store.ts';
import { ConfigFiles } from './config-files.ts';
import { HotPlug } from './hot-plug.ts';
import { Manifests } from './manifests.ts';
import { peripheralHandlers } from './peripheral-handlers.ts';
import { Peripherals } from './peripherals.ts';
import { fingerprint } from './sources/sources.ts';
import { Users } from './users.ts';

interface PeripheralPart {
  readonly handlers: HandlersOf<typeof peripheralsRows, 'residual'>;
  start(): void;
  stop(): Promise<void>;
}

interface PeripheralPartOptions {
  /** `/run/udev`. */
  readonly udev: string;
  readonly config: ConfigStore;
  readonly publish: (topic: string, payload: unknown) => void;
}

/** The peripheral part of the residual: what is connected, who uses it, what is known of it. */
export function openPeripherals(
  { trees, paths, log }: Base,
  { udev, config, publish }: PeripheralPartOptions,
): PeripheralPart {
  let own: ReadonlyMap<number, string> = new Map();
  const supervisor = clientOf(SUPERVISOR, {
    path: paths.supervisorSocket,
    listeners: {
      services: (services) => {
        own = new Map(services.flatMap(({ pid, name }) => (pid === null ? [] : [[pid, name]])));
      },
    },
  });
  const manifests = new Manifests(paths.peripherals);
  const peripherals = new Peripherals({ trees, manifests, wall: Date.now, publish, log });
  const hotPlug = new HotPlug({
    udev,
    fingerprint: async () => fingerprint(trees),
    changed: async () => peripherals.scan(),
    log,
  });
  let started: Promise<void> = Promise.resolve();
  const begin = async (): Promise<void> => {
    // Before the scan: what changes in between is found by the next look.
    const seen = await fingerprint(trees);
    await peripherals.scan();
    hotPlug.start(seen);
  };
  return {
    handlers: peripheralHandlers({
      peripherals,
      manifests,
      users: new Users({
        proc: trees.proc,
        dev: trees.dev,
        own: () => own,
        now: () => performance.now(),
      }),
      configs: new ConfigFiles(paths.peripherals),
      config,
      supervisor: supervisor.calls,
      guard: async () =>
        askLinkState(paths.linkSocket).then(
          ({ guard_any: guard }) => guard,
          () => 'unknown', // who does not answer may be flying
        ),
      wall: Date.now,
    }),
    start() {
      supervisor.start();
      // Not awaited: the node is ready before a slow bus is.
      started = begin().catch((error: unknown) => {
        log.error(`peripherals: ${messageOf(error)}`);
      });
    },
    async stop() {
      supervisor.stop();
      await started;
      await hotPlug.stop();
    },
  };
}
