import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { AV_LOG_FATAL, AV_PIX_FMT_YUV420P, AVERROR_EOF } from 'node-av/constants';
import type { Dictionary, Frame, Rational } from 'node-av/lib';

/** FFmpeg by node-av, and small helpers over its return codes. */

type Lib = typeof import('node-av/lib');

const require = createRequire(import.meta.url);
let lib: Lib | null = null;

/** FFmpeg, loaded for the first camera or recording: a node without them saves 30 MiB. */
export function av(): Lib {
  if (lib !== null) return lib;
  const loaded: Lib = require('node-av/lib');
  // Its own output on stderr is not JSON; its errors come as return codes.
  loaded.Log.setLevel(AV_LOG_FATAL);
  lib = loaded;
  return loaded;
}

/** The time base of all our streams. */
export function microseconds(): Rational {
  return new (av().Rational)(1, 1_000_000);
}

/** @throws Error `<what>: <FFmpeg's message>` for a negative code */
export function must(code: number, what: string): number {
  if (code < 0) throw new Error(inWords(code, what));
  return code;
}

export function inWords(code: number, what: string): string {
  return `${what}: ${av().FFmpegError.strerror(code)}`;
}

/** As FFmpeg makes it of errno (libavutil/error.h). node-av's own constants load FFmpeg. */
export const averrorOf = (name: keyof typeof constants.errno): number => -constants.errno[name];
export const AVERROR_EAGAIN: number = averrorOf('EAGAIN');

/** Whether the code means "nothing more at the moment". */
export function isDrained(code: number): boolean {
  return code === AVERROR_EAGAIN || code === AVERROR_EOF;
}

export function dictionary(options: Readonly<Record<string, string | number>>): Dictionary {
  return av().Dictionary.fromObject(options);
}

/** Another reference to the same pixels, to be freed by the caller. */
export function cloneFrame(frame: Frame): Frame {
  const copy = frame.clone();
  if (copy === null) throw new Error('out of memory for a picture');
  return copy;
}

/** A new picture in planar YUV 4:2:0, to be freed by the caller. @throws Error without memory */
export function blankFrame({ width, height }: { readonly width: number; readonly height: number }): Frame {
  const frame = new (av().Frame)();
  frame.alloc();
  frame.format = AV_PIX_FMT_YUV420P;
  frame.width = width;
  frame.height = height;
  must(frame.getBuffer(), 'a picture');
  return frame;
}
