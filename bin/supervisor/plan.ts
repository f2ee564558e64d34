import { join } from 'node:path';
import { enabledFeatures } from '../../shared/config/features.ts';
import type { Config } from '../../shared/config/schema.ts';
import { hasMachineWork } from '../../shared/machine-work.ts';
import type { Paths } from '../../shared/paths.ts';
import { parseVideoSource } from '../../shared/schemas/addresses.ts';
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
  /** UDP port for the simulator's camera, whenever it is one of the cameras. */
  readonly cameraPort: number;
  /** Other memory ceilings by name, MiB. */
  readonly ceilings: Readonly<Record<string, number>>;
  /** What the machine, or its control group, has for all processes together, MiB. */
  readonly memoryMiB: number;
}

interface Memory {
  /** What it may take where there is little, MiB: more than it needs under load (docs/footprint.md). */
  readonly least: number;
  /** What it may take at most, MiB: three to five times its use under load. */
  readonly most: number;
  /** Added to the supervisor's own oom_score_adj: who goes first when the machine has no memory left. The link goes last. */
  readonly oom: number;
}

/** Only a leak can reach the ceiling of svc-link, which has the link to a vehicle that may be armed. */
const MEMORY = {
  'svc-helper': { least: 48, most: 160, oom: 100 },
  'svc-sim': { least: 64, most: 256, oom: 0 },
  'svc-link': { least: 104, most: 384, oom: 0 },
  'svc-camera-sim': { least: 112, most: 384, oom: 750 },
  'svc-video': { least: 112, most: 448, oom: 700 },
  // And what the model may take.
  'svc-vision': { least: 96, most: 256, oom: 900 },
  'svc-residual': { least: 80, most: 384, oom: 300 },
  'svc-fleet': { least: 48, most: 128, oom: 400 },
  'svc-machine': { least: 48, most: 128, oom: 200 },
  'svc-control': { least: 88, most: 320, oom: 100 },
} as const satisfies Readonly<Record<string, Memory>>;

/** For the supervisor itself, MiB. */
const SUPERVISOR_MIB = 32;

/**
 * Less compiled code, which saves 6 MiB a process. Not for svc-control: it answers every request, and would need 1.5 times the CPU for
 * each (docs/footprint.md).
 */
const SMALL_CODE = '--optimize-for-size';

/** Where each process starts: a file below the root, without its extension. */
export const ENTRIES = {
  'svc-helper': 'bin/helper/main',
  'svc-sim': 'bin/sim/main',
  'svc-link': 'front/link/main',
  'svc-camera-sim': 'bin/sim/camera/main',
  'svc-video': 'residual/video/main',
  'svc-vision': 'residual/vision/main',
  'svc-residual': 'residual/app/main',
  'svc-fleet': 'front/fleet/main',
  'svc-machine': 'front/machine/main',
  'svc-control': 'front/control/main',
} as const satisfies Readonly<Record<keyof typeof MEMORY, string>>;

/** The processes of a node in start order, as configured. */
export function planChildren(input: PlanInput): readonly ChildSpec[] {
  const { config, paths, extension, root } = input;
  const withVideo = input.withResidual && config.video.source !== 'none' && (config.features.video ?? true);
  const withVision = withVideo && enabledFeatures(config).has('vision') && config.vision.detector !== '';
  const simulated = config.mavlink.source === 'sim';
  const simulatedCamera = withVideo && namesLandscape(config.video);
  const env = {
    ...input.env,
    SVC_ETC_DIR: paths.etc,
    SVC_RUN_DIR: paths.run,
    SVC_STATE_DIR: paths.state,
    SVC_LOG_LEVEL: config.logging.level,
    SVC_SIM_PORT: String(input.simPort),
    SVC_CAMERA_SIM_PORT: String(input.cameraPort),
    // Each thread that allocates would have a heap of its own, which is never given back.
    MALLOC_ARENA_MAX: '1',
    // Calls that a disk holds take a thread each; the others go on. A thread that has nothing to do costs some kilobytes.
    UV_THREADPOOL_SIZE: input.env['UV_THREADPOOL_SIZE'] ?? '16',
    NODE_COMPILE_CACHE: input.env['NODE_COMPILE_CACHE'] ?? join(paths.state, 'compile-cache'),
  };
  const child = (name: keyof typeof ENTRIES, wanted: boolean, ...args: string[]): ChildSpec => ({
    name,
    args: [...(name === 'svc-control' ? [] : [SMALL_CODE]), join(root, ENTRIES[name] + extension), ...args],
    env,
    memoryMiB: MEMORY[name].most,
    oom: MEMORY[name].oom,
    wanted,
  });
  const children = [
    child('svc-helper', input.withHelper),
    { ...child('svc-sim', simulated, '--port', String(input.simPort)), follows: 'svc-link' },
    child('svc-link', true),
    {
      ...later(child('svc-camera-sim', simulatedCamera, ...cameraArgs(input))),
      follows: 'svc-video',
    },
    later(child('svc-video', withVideo)),
    // Models are strangers' work, and the library that runs them has telephoned home.
    { ...later(larger(child('svc-vision', withVision), config.vision.memory_mb)), offline: true },
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
    later(child('svc-machine', hasMachineWork(config, input.env))),
    child(
      'svc-control',
      true,
      '--drain-ms',
      String(input.drainMs),
      ...(input.withResidual ? [] : ['--no-residual']),
    ),
  ];
  return fitted(children, input);
}

/** Whether a camera of the config is the simulator's. */
function namesLandscape({ source, cameras }: Config['video']): boolean {
  return [source, ...cameras.map((camera) => camera.source)].some(
    (each) => parseVideoSource(each)?.kind === 'landscape',
  );
}

function cameraArgs({ config, paths, cameraPort }: PlanInput): readonly string[] {
  const { width, height, fps, bitrate_kbps: kbps } = config.video.hero;
  const values = { port: cameraPort, link: paths.linkSocket, width, height, fps, kbps };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

/**
 * Ceilings that fit together into the machine's memory: what is beyond the least that each wanted process needs shrinks alike. A
 * machine with less than that is left to the kernel, which ends the picture first and the link last.
 */
function fitted(
  children: readonly ChildSpec[],
  { ceilings, memoryMiB }: Pick<PlanInput, 'ceilings' | 'memoryMiB'>,
): readonly ChildSpec[] {
  const sum = (value: (spec: ChildSpec) => number): number =>
    children.filter(({ wanted }) => wanted).reduce((total, spec) => total + value(spec), 0);
  const leasts = new Map(Object.entries(MEMORY).map(([name, { least: mib }]) => [name, mib]));
  const least = ({ name }: ChildSpec): number => leasts.get(name) ?? 0;
  const needed = sum(least);
  const share = (memoryMiB - SUPERVISOR_MIB - needed) / (sum((spec) => spec.memoryMiB) - needed);
  return children.map((spec) => ({
    ...spec,
    memoryMiB:
      ceilings[spec.name] ??
      Math.floor(least(spec) + (spec.memoryMiB - least(spec)) * Math.min(1, Math.max(0, share))),
  }));
}

/** More memory, MiB. */
function larger(spec: ChildSpec, mib: number): ChildSpec {
  return { ...spec, memoryMiB: spec.memoryMiB + mib };
}

function later(spec: ChildSpec): ChildSpec {
  return { ...spec, later: true };
}
