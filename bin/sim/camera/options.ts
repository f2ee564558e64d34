import { parseArgs } from 'node:util';

export const USAGE = `svc-camera-sim: a camera over a made-up landscape, H.264 by RTP to whoever listens on this machine

  --port PORT      of 127.0.0.1, 0: any; RTP comes from there to whoever sends RTCP receiver reports to it
  --link PATH      link.sock of the node whose vehicle carries it; without it the camera stands on the pad
  --width PIXELS   --height PIXELS   --fps RATE   --kbps RATE   of what it sends`;

export interface CameraOptions {
  /** 0: any. */
  readonly port: number;
  readonly link: string | null;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly kbps: number;
}

/** @throws Error naming what cannot be used */
export function parseOptions(args: readonly string[]): CameraOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string', default: '0' },
      link: { type: 'string' },
      width: { type: 'string', default: '1280' },
      height: { type: 'string', default: '720' },
      fps: { type: 'string', default: '30' },
      kbps: { type: 'string', default: '4000' },
    },
  });
  return {
    port: whole('port', values.port, 65_535, 0),
    link: values.link ?? null,
    width: whole('width', values.width, 3840),
    height: whole('height', values.height, 2160),
    fps: whole('fps', values.fps, 120),
    kbps: whole('kbps', values.kbps, 50_000),
  };
}

function whole(name: string, text: string, most: number, least = 1): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new Error(`--${name} must be a whole number from ${least} to ${most}`);
  return value;
}
