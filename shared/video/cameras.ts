import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf } from '../errors.ts';

/** One V4L2 device that captures, as the kernel shows it in sysfs. */
export interface Camera {
  /** As in `video.source`. */
  readonly source: `v4l2:${string}`;
  readonly device_path: string;
  readonly type: 'v4l2';
  /** The driver's name for it; null if sysfs has none. */
  readonly label: string | null;
  /** Not read: opening a camera that is in use would disturb it. */
  readonly width: null;
  readonly height: null;
}

export interface CameraList {
  readonly cameras: readonly Camera[];
  /** Why the list may be incomplete. */
  readonly problem: string | null;
}

/**
 * The V4L2 capture devices in the order of their numbers. A camera has several nodes; the one with index 0 gives the pictures.
 * @param sys `/sys`, @param dev `/dev`; elsewhere in tests
 */
export function findCameras(sys = '/sys', dev = '/dev'): CameraList {
  const folder = join(sys, 'class/video4linux');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const absent = codeOf(error) === 'ENOENT'; // a kernel without any camera driver loaded
    return { cameras: [], problem: absent ? null : messageOf(error) };
  }
  const number = (name: string): number => Number(name.slice('video'.length));
  const cameras = names
    .filter((name) => /^video\d+$/.test(name) && (read(join(folder, name, 'index')) ?? '0') === '0')
    // Codecs and image processors of the board are V4L2 devices too, but not cameras; what comes from the receiver of a CSI
    // camera is no picture yet, so libcamera opens that.
    .filter(
      (name) =>
        !/codec|isp|decoder|encoder|m2m|rpivid|hevc|unicam|cfe/i.test(read(join(folder, name, 'name')) ?? ''),
    )
    .toSorted((a, b) => number(a) - number(b))
    .map((name): Camera => {
      const label = read(join(folder, name, 'name'));
      const path = join(dev, name);
      return { source: `v4l2:${path}`, device_path: path, type: 'v4l2', label, width: null, height: null };
    });
  return { cameras, problem: null };
}

/** Whether the kernel has a V4L2 device that encodes, or may. @param sys as for `findCameras` */
export function hasCodec(sys = '/sys'): boolean {
  const folder = join(sys, 'class/video4linux');
  try {
    return readdirSync(folder).some((name) => /codec|enc/i.test(read(join(folder, name, 'name')) ?? ''));
  } catch {
    return false; // no camera driver is loaded, or sysfs cannot be read
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
