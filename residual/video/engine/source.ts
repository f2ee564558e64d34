import type { Config } from '../../../shared/schemas/config.ts';
import type { AccessUnit, Picture } from './picture.ts';

/** Where pictures come from, as `video.source` in the config says it. */
export type SourceSpec =
  | { readonly kind: 'none' }
  | { readonly kind: 'auto' }
  | { readonly kind: 'test' }
  | { readonly kind: 'v4l2'; readonly device: string }
  | { readonly kind: 'rtsp'; readonly url: string; readonly username: string; readonly password: string }
  | { readonly kind: 'rtp'; readonly address: string; readonly port: number };

/** Raw pictures, which the engine encodes, or H.264 that somebody else encoded. */
export interface SourceSink {
  readonly onPicture: (picture: Picture) => void;
  readonly onUnit: (unit: AccessUnit) => void;
}

/** One attempt to get pictures. */
export interface VideoSource {
  /** What a person reads: `/dev/video0`, `rtsp://10.0.0.5/live`; never with a password. */
  readonly name: string;
  /**
   * Runs until the signal aborts (resolves) or the source is lost (rejects with a sentence).
   */
  run(sink: SourceSink, signal: AbortSignal): Promise<void>;
}

/** What a ground station receives from the radio (spec/decisions.md 7). */
const FROM_RADIO = { kind: 'rtp', address: '0.0.0.0', port: 5600 } as const;

/** @throws Error naming the key when the text is none of the forms */
export function parseSourceSpec({ agent, video }: Pick<Config, 'agent' | 'video'>): SourceSpec {
  const { source, username, password } = video;
  const [kind = '', ...others] = source.split(':');
  const rest = others.join(':');
  switch (kind) {
    case 'none':
    case 'test':
      return { kind };
    case 'auto':
      return agent.profile === 'ground-station' ? FROM_RADIO : { kind };
    case 'v4l2':
      return { kind, device: rest };
    case 'rtsp':
    case 'rtsps':
      return { kind: 'rtsp', url: source, username, password };
    case 'rtp': {
      const split = rest.lastIndexOf(':');
      const port = Number(rest.slice(split + 1));
      if (port >= 1 && port <= 65_535)
        return { kind, address: rest.slice(0, split).replace(/^\[|\]$/g, ''), port };
    }
  }
  throw new Error(`video.source: ${source} is none of auto, none, test, v4l2:…, rtsp://…, rtp:address:port`);
}
