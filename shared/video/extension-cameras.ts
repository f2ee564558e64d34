import { createHash } from 'node:crypto';
import { join } from 'node:path';

/**
 * How an extension sends its pictures, by FFmpeg's names: an MPEG transport stream, or one JPEG after another. One of them is named:
 * a stream whose kind is found out could be a list of files and addresses to open.
 */
export const CAMERA_FORMATS = ['mpegts', 'mjpeg'] as const;

export type CameraFormat = (typeof CAMERA_FORMATS)[number];

/** Where svc-residual hands an extension's pictures to svc-video. An id may be longer than a path of a socket. */
export function cameraSocket(folder: string, extension: string, format: CameraFormat): string {
  const name = createHash('sha256').update(extension).digest('hex').slice(0, 16);
  return join(folder, `${name}.${format}`);
}
