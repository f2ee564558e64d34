import { join } from 'node:path';
import { enabledFeatures } from '../../shared/config/features.ts';
import type { Config } from '../../shared/config/schema.ts';
import type { Paths } from '../../shared/paths.ts';
import type { ChildSpec } from './child.ts';

interface PlanInput {
  readonly config: Config;
  readonly paths: Paths;
  /** The folder that holds `front`, `residual`, `bin`: the checkout, or `dist` in a compiled node. */
  readonly root: string;
  /** `.ts` in a checkout, `.js` compiled. */
  readonly extension: '.ts' | '.js';
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly withResidual: boolean;
  /** It belongs to a fleet. */
  readonly enrolled: boolean;
  /** Run svc-helper as a child, if systemd does not start it; useful only if the supervisor is root. */
  readonly withHelper: boolean;
  /** How long the front lets requests in flight finish when the node stops. */
  readonly drainMs: number;
  /** TCP port for the simulated flight controller, whenever it is the source. */
  readonly simPort: number;
  /** Other memory ceilings by name, MiB. */
  readonly ceilings: Readonly<Record<string, number>>;
}

/**
 * Memory ceiling of each process, MiB: three to five times its use under load. svc-link has the link to a vehicle that may be
 * armed, so only a leak can reach its ceiling.
 */
const CEILINGS_MIB = {
  'svc-helper': 160,
  'svc-sim': 256,
  'svc-radio-sim': 256,
  'svc-link': 384,
  'svc-video': 448,
  // And what the model may take.
  'svc-vision': 256,
  'svc-residual': 384,
  'svc-fleet': 128,
  'svc-control': 320,
} as const;

/**
 * Less compiled code, which saves 6 MiB a process. Not for svc-control: it answers every request, and would need 1.5 times the CPU for
 * each (docs/footprint.md).
 */
const SMALL_CODE = '--optimize-for-size';

/** Where each process starts: a file below the root, without its extension. */
export const ENTRIES = {
  'svc-helper': 'bin/helper/main',
  'svc-sim': 'bin/sim/main',
  'svc-radio-sim': 'bin/radio-sim/main',
  'svc-link': 'front/link/main',
  'svc-video': 'residual/video/main',
  'svc-vision': 'residual/vision/main',
  'svc-residual': 'residual/app/main',
  'svc-fleet': 'front/fleet/main',
  'svc-control': 'front/control/main',
} as const satisfies Readonly<Record<keyof typeof CEILINGS_MIB, string>>;

/** The processes of a node in start order, as configured. */
export function planChildren(input: PlanInput): readonly ChildSpec[] {
  const { config, paths, extension, root } = input;
  const withVideo = input.withResidual && config.video.source !== 'none' && (config.features.video ?? true);
  const withVision = withVideo && enabledFeatures(config).has('vision') && config.vision.detector !== '';
  const simulated = config.mavlink.source === 'sim';
  const simulatedRadio = input.env['SVC_RADIO_SIM'] !== undefined && config.radio.mode === 'external';
  const env = {
    ...input.env,
    SVC_ETC_DIR: paths.etc,
    SVC_RUN_DIR: paths.run,
    SVC_STATE_DIR: paths.state,
    SVC_LOG_LEVEL: config.logging.level,
    SVC_SIM_PORT: String(input.simPort),
    // Each thread that allocates would have a heap of its own, which is never given back.
    MALLOC_ARENA_MAX: '1',
    NODE_COMPILE_CACHE: input.env['NODE_COMPILE_CACHE'] ?? join(paths.state, 'compile-cache'),
  };
  const child = (name: keyof typeof ENTRIES, wanted: boolean, ...args: string[]): ChildSpec => ({
    name,
    args: [...(name === 'svc-control' ? [] : [SMALL_CODE]), join(root, ENTRIES[name] + extension), ...args],
    env,
    memoryMiB: input.ceilings[name] ?? CEILINGS_MIB[name],
    wanted,
  });
  return [
    child('svc-helper', input.withHelper),
    { ...child('svc-sim', simulated, '--port', String(input.simPort)), follows: 'svc-link' },
    child('svc-radio-sim', simulatedRadio),
    child('svc-link', true),
    later(child('svc-video', withVideo)),
    later(larger(child('svc-vision', withVision), config.vision.memory_mb)),
    later(child('svc-residual', input.withResidual)),
    later(
      child(
        'svc-fleet',
        input.enrolled && enabledFeatures(config).has('fleet'),
        '--telemetry-hz',
        String(config.fleet.telemetry_hz),
        '--telemetry-fields',
        config.fleet.telemetry_fields.join(),
        '--queue-mb',
        String(config.fleet.queue_mb),
      ),
    ),
    child(
      'svc-control',
      true,
      '--drain-ms',
      String(input.drainMs),
      ...(input.withResidual ? [] : ['--no-residual']),
    ),
  ];
}

/** More memory, MiB. */
function larger(spec: ChildSpec, mib: number): ChildSpec {
  return { ...spec, memoryMiB: spec.memoryMiB + mib };
}

function later(spec: ChildSpec): ChildSpec {
  return { ...spec, later: true };
}
