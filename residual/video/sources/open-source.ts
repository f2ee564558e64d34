import { existsSync } from 'node:fs';
import type { Config } from '../../../shared/config/schema.ts';
import type { VideoClock } from '../../../shared/media/picture.ts';
import {
  parseVideoSource,
  started,
  type VideoSource as VideoAddress,
} from '../../../shared/schemas/addresses.ts';
import type { CameraList } from '../../../shared/video/cameras.ts';
import type { CsiList } from '../../../shared/video/csi-cameras.ts';
import { CAMERA_FORMATS, cameraSocket } from '../../../shared/video/extension-cameras.ts';
import { AvSource } from './av-source.ts';
import { LibcameraSource } from './libcamera-source.ts';
import { RtpSource } from './rtp-source.ts';
import type { VideoSource } from './source.ts';
import { TestSource } from './test-source.ts';

export interface SourceDeps {
  readonly clock: VideoClock;
  readonly size: { readonly width: number; readonly height: number; readonly fps: number };
  readonly cameras: () => CameraList;
  readonly csi: () => Promise<CsiList>;
  /** H.265 is passed on as it comes. */
  readonly passes265: boolean;
  /** For an RTSP camera; an empty name is none. */
  readonly login: { readonly username: string; readonly password: string };
  /** Where svc-residual hands over the cameras of extensions. */
  readonly extensionCameras: string;
  /** The port of the simulator's camera (bin/sim/camera); null where none runs. */
  readonly simulated: number | null;
}

// A time-out in microseconds: FFmpeg's own limit, below the engine's.
const RTSP = {
  timeout: 3_000_000,
  fflags: 'nobuffer',
  flags: 'low_delay',
  // By UDP a key frame arrives as a burst, and a packet may be overtaken.
  buffer_size: 2 * 1024 * 1024,
  max_delay: 100_000,
} as const;

const LOOPBACK = '127.0.0.1';

/** The video that a ground station receives from the radio (docs/contract/ground.md). */
const FROM_RADIO = { kind: 'rtp', host: '0.0.0.0' } as const;

/**
 * The source of this node's pictures.
 * @param port where the radio hands over the active drone's, null while there is none
 * @throws Error naming the key if `video.source` is invalid
 */
export function videoAddress(
  { agent, video }: Pick<Config, 'agent' | 'video'>,
  port: number | null,
): VideoAddress {
  const address = started('video.source', video.source, parseVideoSource);
  if (address.kind !== 'auto' || agent.profile !== 'ground-station') return address;
  return port === null ? { kind: 'none' } : { ...FROM_RADIO, port };
}

/** The source for one attempt; null if there is none at the moment. */
export async function openVideoSource(spec: VideoAddress, deps: SourceDeps): Promise<VideoSource | null> {
  const { clock, size, passes265 } = deps;
  switch (spec.kind) {
    case 'none':
      return null;
    case 'bars':
      return new TestSource(clock, size);
    case 'landscape':
      return landscape(clock, deps.simulated);
    case 'rtp':
      return new RtpSource(clock, spec.host, spec.port);
    case 'rtsp':
      return new AvSource(clock, {
        name: spec.url,
        url: withLogin(spec.url, deps.login),
        format: 'rtsp',
        options: { ...RTSP, rtsp_transport: 'tcp+udp', rtsp_flags: 'prefer_tcp' },
        // Where it does not say that TCP is the matter, but hangs up.
        otherwise: { ...RTSP, rtsp_transport: 'udp' },
        passes265,
      });
    case 'v4l2':
      return v4l2(clock, spec.device, size);
    case 'libcamera':
      return new LibcameraSource(clock, spec.index, size);
    case 'extension':
      return ofExtension(deps, spec.id);
    case 'auto': {
      const camera = deps.cameras().cameras[0] ?? (await deps.csi()).cameras[0];
      const found = camera === undefined ? null : parseVideoSource(camera.source);
      return found === null ? null : openVideoSource(found, deps);
    }
  }
}

/** The simulator's camera: to this machine's own eyes a network camera that sends on demand. */
function landscape(clock: VideoClock, port: number | null): VideoSource | null {
  return port === null
    ? null
    : new RtpSource(clock, LOOPBACK, 0, { name: 'landscape', host: LOOPBACK, port });
}

/** Null while the extension offers none. */
function ofExtension({ clock, extensionCameras, passes265 }: SourceDeps, id: string): VideoSource | null {
  const format = CAMERA_FORMATS.find((each) => existsSync(cameraSocket(extensionCameras, id, each)));
  if (format === undefined) return null;
  return new AvSource(clock, {
    name: `extension:${id}`,
    url: `unix:${cameraSocket(extensionCameras, id, format)}`,
    format,
    options: { fflags: 'nobuffer', flags: 'low_delay', probesize: 500_000 },
    passes265,
  });
}

function v4l2(clock: VideoClock, device: string, { width, height, fps }: SourceDeps['size']): VideoSource {
  return new AvSource(clock, {
    name: `v4l2:${device}`,
    url: device,
    format: 'v4l2',
    options: { video_size: `${width}x${height}`, framerate: fps, fflags: 'nobuffer' },
    local: true,
  });
}

function withLogin(url: string, { username, password }: SourceDeps['login']): string {
  if (username === '') return url;
  const parsed = new URL(url);
  parsed.username = encodeURIComponent(username);
  parsed.password = encodeURIComponent(password);
  return parsed.href;
}
