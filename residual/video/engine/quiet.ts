import { Log } from 'node-av';
import { AV_LOG_FATAL } from 'node-av/constants';

/** FFmpeg writes to stderr by itself, and not as JSON lines; what matters of it comes back as return codes. */
export function quietFfmpeg(): void {
  Log.setLevel(AV_LOG_FATAL);
}
