import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { AV_PIX_FMT_YUVJ420P } from 'node-av/constants';
import { chunksOf } from '../../../shared/async/chunks.ts';
import { codeOf } from '../../../shared/errors.ts';
import { av } from '../../../shared/media/av.ts';
import { instant, type Size, type VideoClock } from '../../../shared/media/picture.ts';
import { CSI_MISSING, CSI_PROGRAMS } from '../../../shared/video/csi-cameras.ts';
import type { SourceSink, VideoSource } from './source.ts';

type Camera = ChildProcessByStdio<null, Readable, Readable>;

const KILL_MS = 2000;
const MAX_WORDS = 4000;
/** libcamera pads the rows of other widths, colours with half of it. */
const ROW = 64;

/**
 * A CSI camera through `rpicam-vid`, as raw pictures: an encode there could neither follow the profile and the radio's limit nor
 * give a key frame on request, and the detector and snapshots would need a decode. A board with a hardware encoder uses it here.
 */
export class LibcameraSource implements VideoSource {
  readonly name: string;
  readonly #clock: VideoClock;
  readonly #index: number;
  readonly #size: Size;
  readonly #fps: number;

  constructor(clock: VideoClock, index: number, wanted: Size & { readonly fps: number }) {
    this.name = `libcamera:${index}`;
    this.#clock = clock;
    this.#index = index;
    this.#size = withoutPadding(wanted);
    this.#fps = wanted.fps;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const [program, camera] = await this.#start();
    const closed = once(camera, 'close');
    let killer: NodeJS.Timeout | null = null;
    const endSoon = (): void => {
      killer ??= setTimeout(() => camera.kill('SIGKILL'), KILL_MS);
    };
    const stop = (): void => {
      camera.kill('SIGTERM');
      endSoon();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    let words = '';
    camera.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(-MAX_WORDS);
    });
    try {
      await this.#read(camera.stdout, sink);
    } finally {
      // After the end of its output it ends by itself; or a picture could not be used.
      if (camera.stdout.readableEnded) endSoon();
      else stop();
      const [code, by]: readonly unknown[] = await closed;
      if (killer !== null) clearTimeout(killer);
      signal.removeEventListener('abort', stop);
      words = reason(words) ?? (typeof by === 'string' ? by : `exit code ${String(code)}`);
    }
    if (!signal.aborted) throw new Error(`${program} ended: ${words}`);
  }

  async #start(): Promise<readonly [program: string, camera: Camera]> {
    const { width, height } = this.#size;
    const picture = `--camera ${this.#index} --codec yuv420 --width ${width} --height ${height} --framerate ${this.#fps}`;
    const args = `${picture} --timeout 0 --nopreview --flush --output -`.split(' ');
    for (const program of CSI_PROGRAMS) {
      const camera = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      try {
        await once(camera, 'spawn');
        return [program, camera];
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error;
      }
    }
    throw new Error(CSI_MISSING);
  }

  /** Until the output ends. What is left of a picture then is dropped. */
  async #read(output: Readable, sink: SourceSink): Promise<void> {
    const { width, height } = this.#size;
    const pixels = Buffer.alloc((width * height * 3) / 2);
    let filled = 0;
    let capturedAt = 0;
    let at = 0;
    for await (const chunk of chunksOf(output)) {
      for (let from = 0; from < chunk.length; ) {
        if (filled === 0) ({ capturedAt, at } = instant(this.#clock));
        const taken = chunk.copy(pixels, filled, from);
        from += taken;
        filled += taken;
        if (filled < pixels.length) continue;
        filled = 0;
        if (!sink.wants(at)) continue;
        // libcamera's YUV 4:2:0 for video in files has full range, as a JPEG.
        using frame = av().Frame.fromVideoBuffer(pixels, { width, height, format: AV_PIX_FMT_YUVJ420P });
        sink.onPicture({ frame, capturedAt, at });
      }
    }
  }
}

/** The next larger picture of the same shape without padding; the encoder scales it to what was wanted. */
function withoutPadding({ width, height }: Size): Size {
  const wide = Math.ceil(width / ROW) * ROW;
  return { width: wide, height: Math.round((height * wide) / width / 2) * 2 };
}

/** The program's own last word; null if it said none. */
function reason(words: string): string | null {
  const lines = words.split('\n').filter((line) => line.trim() !== '');
  const last = lines.findLast((line) => line.includes('ERROR')) ?? lines.at(-1);
  return last === undefined ? null : last.replace(/^ERROR: (?:\*\*\* )?(.*?)(?: \*\*\*)?$/, '$1').trim();
}
