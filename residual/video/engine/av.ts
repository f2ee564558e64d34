import { Dictionary, FFmpegError, type Frame } from 'node-av';
import { AVERROR_EAGAIN, AVERROR_EOF } from 'node-av/constants';

/** Small helpers over FFmpeg's return codes. */

/** @throws Error `<what>: <FFmpeg's message>` for a negative code */
export function must(code: number, what: string): number {
  if (code < 0) throw new Error(`${what}: ${FFmpegError.strerror(code)}`);
  return code;
}

/** Whether the code means "nothing more at the moment". */
export function isDrained(code: number): boolean {
  return code === AVERROR_EAGAIN || code === AVERROR_EOF;
}

export function dictionary(options: Readonly<Record<string, string | number>>): Dictionary {
  return Dictionary.fromObject(options);
}

/** Another reference to the same pixels, to be freed by the caller. */
export function cloneFrame(frame: Frame): Frame {
  const copy = frame.clone();
  if (copy === null) throw new Error('out of memory for a picture');
  return copy;
}
