import { setTimeout as delay } from 'node:timers/promises';
import { AV_PIX_FMT_YUV420P } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { av, must } from '../engine/av.ts';
import { instant, type VideoClock } from '../engine/picture.ts';
import type { SourceSink, VideoSource } from './source.ts';
import { TestPicture } from './test-picture.ts';

/** The moving test picture with its clock, at a steady rate, instead of a camera. */
export class TestSource implements VideoSource {
  readonly name = 'test';
  readonly #clock: VideoClock;
  readonly #size: { readonly width: number; readonly height: number; readonly fps: number };

  constructor(
    clock: VideoClock,
    size: { readonly width: number; readonly height: number; readonly fps: number },
  ) {
    this.#clock = clock;
    this.#size = size;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const { width, height, fps } = this.#size;
    const picture = new TestPicture(width, height);
    const began = this.#clock.micros();
    for (let number = 0; !signal.aborted; ) {
      const now = instant(this.#clock);
      if (sink.wants(now.at)) {
        using frame = blank(width, height);
        const [y, u, v] = frame.data ?? [];
        if (y === undefined || u === undefined || v === undefined)
          throw new Error('no memory for the test picture');
        const [strideY = 0, strideU = 0, strideV = 0] = frame.linesize;
        picture.draw({ y, u, v, strides: [strideY, strideU, strideV] }, now.capturedAt, number);
        sink.onPicture({ frame, ...now });
      }
      // The next due time in the future: after a stall, frames are skipped instead of sent in a burst.
      number = Math.max(number + 1, Math.ceil(((this.#clock.micros() - began) * fps) / 1e6));
      const wait = (began + (number * 1e6) / fps - this.#clock.micros()) / 1000;
      await delay(Math.max(0, wait), undefined, { signal }).catch(() => undefined); // aborted: the loop ends
    }
  }
}

function blank(width: number, height: number): Frame {
  const frame = new (av().Frame)();
  frame.alloc();
  frame.format = AV_PIX_FMT_YUV420P;
  frame.width = width;
  frame.height = height;
  must(frame.getBuffer(), 'test picture');
  return frame;
}
