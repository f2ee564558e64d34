import { ApiError, messageOf } from '../errors.ts';
import { runProgram } from '../process/run-program.ts';
import type { Made } from '../schemas/made.ts';
import type { cameras } from '../schemas/video.ts';

/** A camera that libcamera knows: on a CSI connector. */
type CsiCamera = Required<Made<typeof cameras>['cameras'][number]>;
type SensorMode = CsiCamera['modes'][number];

export interface CsiList {
  readonly cameras: readonly CsiCamera[];
  /** Why they cannot be listed; null when they are. */
  readonly problem: string | null;
}

/** The program of libcamera that gives pictures, and its name before 2024. */
export const CSI_PROGRAMS = ['rpicam-vid', 'libcamera-vid'] as const;
export const CSI_MISSING =
  'This machine has neither rpicam-vid nor libcamera-vid, which CSI cameras need: install the package rpicam-apps (libcamera-apps on older systems).';

const LIST_MS = 4000;
/** A camera on a ribbon cable comes and goes with the machine's power. */
const KEPT_MS = 30_000;

/** The cameras that libcamera finds, kept for a while: each look takes hold of them and takes up to a second. */
export class CsiCameras {
  readonly #now: () => number;
  #list: Promise<CsiList> | null = null;
  #at = 0;

  /** @param now steady, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param inUse one of them gives pictures, and must not be disturbed: what was found last stands */
  async list(inUse = false): Promise<CsiList> {
    if (this.#list === null || (!inUse && this.#now() - this.#at > KEPT_MS)) {
      this.#at = this.#now();
      this.#list = look();
    }
    return this.#list;
  }
}

async function look(): Promise<CsiList> {
  for (const program of CSI_PROGRAMS) {
    try {
      return {
        cameras: parseCsiCameras(await runProgram(program, ['--list-cameras'], LIST_MS)),
        problem: null,
      };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'E_NOT_IMPLEMENTED')
        return { cameras: [], problem: messageOf(error) };
    }
  }
  return { cameras: [], problem: CSI_MISSING };
}

/** @param text what `--list-cameras` prints */
export function parseCsiCameras(text: string): CsiCamera[] {
  const cameras: (CsiCamera & { readonly modes: SensorMode[] })[] = [];
  let format = '';
  for (const line of text.split('\n')) {
    const head = /^(\d+) : (\S+) \[(?:(\d+)x(\d+))?[^\]]*\] \((.+)\)$/.exec(line);
    if (head !== null) {
      const [, index = '', label = '', width, height, path = ''] = head;
      cameras.push({
        source: `libcamera:${Number(index)}`,
        device_path: path,
        type: 'csi',
        label,
        width: width === undefined ? null : Number(width),
        height: height === undefined ? null : Number(height),
        modes: [],
      });
    }
    format = /'(\w+)' :/.exec(line)?.[1] ?? format;
    const mode = /(\d+)x(\d+) \[([\d.]+|-?nan) fps/.exec(line);
    if (mode === null) continue;
    const [, width, height, fps = ''] = mode;
    cameras.at(-1)?.modes.push({
      format,
      width: Number(width),
      height: Number(height),
      fps: /^\d/.test(fps) ? Number(fps) : null,
    });
  }
  return cameras;
}
