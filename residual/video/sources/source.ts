import type { AccessUnit, Picture } from '../../../shared/media/picture.ts';

/** Raw pictures, which the engine encodes, or such that are encoded already. */
export interface SourceSink {
  /**
   * Asked for each raw picture before it is decoded or drawn, with its `Picture.at`: false if nobody would use it. A camera that sends on
   * demand is asked for them while this is true.
   */
  readonly wants: (at: number) => boolean;
  /** Key frames are enough: of what comes encoded, the source need not decode the others. */
  readonly keysOnly: boolean;
  readonly onPicture: (picture: Picture) => void;
  readonly onUnit: (unit: AccessUnit) => void;
}

/** One attempt to get pictures. */
export interface VideoSource {
  /** Name for people: `/dev/video0`, `rtsp://10.0.0.5/live`; never with a password. */
  readonly name: string;
  /** What does not get on at the moment, if it is not the camera: a sentence. */
  readonly hindrance?: string | null;
  /** It still makes what it will show, so that nothing can come yet. */
  readonly preparing?: boolean;
  /** Nothing comes, as nobody wants pictures (`SourceSink.wants`). */
  readonly rests?: boolean;
  /** The next picture is to be a key frame, if it can be asked for one. */
  requestKey?(): void;
  /**
   * Runs until the signal aborts (resolves) or the source is lost (rejects with a sentence).
   */
  run(sink: SourceSink, signal: AbortSignal): Promise<void>;
}

/** One of the cameras that can be shown. */
export interface Camera {
  readonly id: string;
  /** It needs a part of this machine that another one of this kind may need as well. */
  readonly exclusive: boolean;
  /** The source for one attempt; null when there is no camera at the moment. */
  readonly open: () => Promise<VideoSource | null>;
}
