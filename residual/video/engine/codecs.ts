import { AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, type AVCodecID } from 'node-av/constants';
import { parameterSets } from '../../../shared/media/h264.ts';
import { parameterSets265 } from '../../../shared/media/h265.ts';
import type { VideoCodec } from '../../../shared/rpc/video.ts';

interface CodecFacts {
  readonly id: AVCodecID;
  readonly name: string;
  /** The parameter sets of an access unit, as Annex B; null where one is missing. */
  readonly sets: (unit: Buffer) => Buffer | null;
}

/** What the parts that work with either need to know of it. */
export const CODECS: Readonly<Record<VideoCodec, CodecFacts>> = {
  h264: { id: AV_CODEC_ID_H264, name: 'H.264', sets: parameterSets },
  h265: { id: AV_CODEC_ID_HEVC, name: 'H.265', sets: parameterSets265 },
};
