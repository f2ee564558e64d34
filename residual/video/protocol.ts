import type { PipelineStatus } from './engine/pipeline.ts';
import type { RadioStatus } from './engine/radio-sender.ts';
import type { RecordingStatus } from './recorder/recorder.ts';

/**
 * What svc-residual and svc-video say to each other.
 * On video.sock (shared/rpc/rpc.ts):
 *   status  -> EngineStatus, also as the event `status` every second and at each change of the recording
 *   profile {width, height, fps, bitrate_kbps} -> the same once the encoder does it
 *   key -> true            the next picture is a key frame
 *   snapshot -> Snapshot
 *   record_start {hint: string | null} -> RecordingStatus
 *   record_stop -> Recorded
 * On video-media.sock every client gets every picture from the next key frame on, as records:
 *   uint32 length of the access unit, uint8 1 for a key frame, float64 CLOCK_MONOTONIC at capture in microseconds,
 *   float64 Unix time of capture in ms, all big-endian, then the access unit in Annex B.
 */

export interface EngineStatus extends PipelineStatus {
  readonly recording: RecordingStatus | null;
  /** Why the last recording ended by itself. */
  readonly recording_problem: string | null;
  readonly radio: RadioStatus | null;
  /** Clients of video-media.sock, and access units that one of them was too slow for. */
  readonly consumers: number;
  readonly consumer_drops: number;
}

export interface Snapshot {
  readonly jpeg_base64: string;
  /** RFC 3339 with milliseconds. */
  readonly captured_at: string;
}

export const MEDIA_HEADER_BYTES = 21;
/** Larger than any access unit of ours; a length beyond it is not ours. */
export const MAX_UNIT_BYTES = 8 * 1024 * 1024;
