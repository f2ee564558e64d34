/** What a camera sees of the ground, from its figures. */

export interface Camera {
  /** mm */
  readonly sensorWidth: number;
  readonly sensorHeight: number;
  /** mm */
  readonly focal: number;
  /** pixels */
  readonly imageWidth: number;
  readonly imageHeight: number;
  /** The wide side of the picture lies across the way. */
  readonly landscape: boolean;
  /** s between two photos at least; 0: not known. */
  readonly minInterval: number;
}

interface Preset extends Camera {
  readonly name: string;
}

/**
 * Name, sensor (mm), focal length (mm), picture (pixels), shortest interval (s). The Raspberry Pi's are of its documentation
 * (accessories/camera/camera_hardware.adoc), the Zenmuse P1's of DJI's specification, MicaSense's interval of its own; all others as
 * QGroundControl 4.3 has them (src/FirmwarePlugin/FirmwarePlugin.cc), so that a plan means the same camera in both.
 */
const TABLE: readonly (readonly [string, number, number, number, number, number, number])[] = [
  ['Raspberry Pi Camera Module 3', 6.45, 3.63, 4.74, 4608, 2592, 0],
  ['Raspberry Pi HQ, 6 mm', 6.287, 4.712, 6, 4056, 3040, 0],
  ['Canon S100', 7.6, 5.7, 5.2, 4000, 3000, 0],
  ['DJI Zenmuse P1, 35 mm', 35.9, 24, 35, 8192, 5460, 0.7],
  ['MicaSense RedEdge', 4.8, 3.6, 5.5, 1280, 960, 1],
  ['Parrot Sequoia, RGB', 6.17, 4.63, 4.9, 4608, 3456, 1],
  ['Sony α6000, 16 mm', 23.5, 15.6, 16, 6000, 4000, 1],
  ['Sony RX1R II, 35 mm', 35.9, 24, 35, 7952, 5304, 1],
];

export const PRESETS: readonly Preset[] = TABLE.map(
  ([name, sensorWidth, sensorHeight, focal, imageWidth, imageHeight, minInterval]) => ({
    name,
    sensorWidth,
    sensorHeight,
    focal,
    imageWidth,
    imageHeight,
    landscape: true,
    minInterval,
  }),
);

/** The preset with these figures, whichever way it is mounted. */
export function presetOf(camera: Camera): Preset | null {
  return (
    PRESETS.find(
      (preset) =>
        preset.sensorWidth === camera.sensorWidth &&
        preset.sensorHeight === camera.sensorHeight &&
        preset.focal === camera.focal &&
        preset.imageWidth === camera.imageWidth &&
        preset.imageHeight === camera.imageHeight,
    ) ?? null
  );
}

/** cm of the ground in a pixel, from a height (m). */
export function groundResolution({ sensorWidth, imageWidth, focal }: Camera, height: number): number {
  return (height * sensorWidth * 100) / (imageWidth * focal);
}

/** The height (m) from which a pixel shows so much of the ground (cm). */
export function heightFor({ sensorWidth, imageWidth, focal }: Camera, resolution: number): number {
  return (resolution * imageWidth * focal) / (sensorWidth * 100);
}

interface Footprint {
  /** m across the way and along it. */
  readonly side: number;
  readonly front: number;
}

/** @param distance m to what is photographed */
export function footprint(camera: Camera, distance: number): Footprint {
  const wide = (distance * camera.sensorWidth) / camera.focal;
  const high = (distance * camera.sensorHeight) / camera.focal;
  return camera.landscape ? { side: wide, front: high } : { side: high, front: wide };
}
