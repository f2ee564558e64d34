import type { Config } from '../../../shared/config/schema.ts';
import { MAIN_CAMERA } from '../../../shared/rpc/video.ts';
import {
  destination,
  parseVideoSource,
  started,
  type VideoSource as VideoAddress,
} from '../../../shared/schemas/addresses.ts';
import { openVideoSource, type SourceDeps, videoAddress } from './open-source.ts';
import type { Camera } from './source.ts';

/** They may need the same device, chip or port: then one can only run when the other has ended. */
const EXCLUSIVE: readonly VideoAddress['kind'][] = ['auto', 'libcamera', 'rtp', 'v4l2'];
const NO_LOGIN = { username: '', password: '' } as const;

interface ConfiguredCamera extends Camera {
  readonly address: VideoAddress;
}

/**
 * The cameras that this node can show: that of `video.source`, then those of `video.cameras`. The login belongs to the host in
 * `video.source`, and is sent to no other.
 * @param port as for `videoAddress`
 * @throws Error naming the key of an invalid source
 */
export function configuredCameras(
  config: Pick<Config, 'agent' | 'video'>,
  port: number | null,
  deps: Omit<SourceDeps, 'login'>,
): readonly [ConfiguredCamera, ...ConfiguredCamera[]] {
  const { video } = config;
  const host = hostOf(video.source);
  const camera = (id: string, source: string, address: VideoAddress): ConfiguredCamera => {
    const login = hostOf(source) === host ? video : NO_LOGIN;
    return {
      id,
      address,
      exclusive: EXCLUSIVE.includes(address.kind),
      open: async () => openVideoSource(address, { ...deps, login }),
    };
  };
  return [
    camera(MAIN_CAMERA, video.source, videoAddress(config, port)),
    ...video.cameras.map(({ id, source }) =>
      camera(id, source, started('video.cameras', source, parseVideoSource)),
    ),
  ];
}

const hostOf = (source: string): string | null => destination('video-source', source);
