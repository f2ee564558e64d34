import { Log } from 'node-av';
import { AV_LOG_FATAL } from 'node-av/constants';

/** Turns off FFmpeg's own output on stderr, which is not JSON; its errors come as return codes. */
export function quietFfmpeg(): void {
  Log.setLevel(AV_LOG_FATAL);
}
