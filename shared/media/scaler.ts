import { AV_PIX_FMT_YUV420P, type AVPixelFormat, SWS_BILINEAR } from 'node-av/constants';
import type { Frame, SoftwareScaleContext } from 'node-av/lib';
import { av, must } from './av.ts';

/** Converts pictures to the encoder's size and pixel format. */
export class Scaler {
  #context: SoftwareScaleContext | null = null;
  #from = '';

  /**
   * @param format default planar YUV 4:2:0 (a JPEG has full range)
   * @returns `source` itself if it already fits, else a new frame for the caller to free
   */
  async scale(
    source: Frame,
    width: number,
    height: number,
    format: AVPixelFormat = AV_PIX_FMT_YUV420P,
  ): Promise<Frame> {
    if (source.width === width && source.height === height && source.format === format) return source;
    const key = `${source.width} ${source.height} ${source.format} ${width} ${height} ${format}`;
    if (this.#context === null || this.#from !== key) {
      this.close();
      this.#context = new (av().SoftwareScaleContext)();
      this.#context.getContext(
        source.width,
        source.height,
        source.format as AVPixelFormat,
        width,
        height,
        format,
        SWS_BILINEAR,
      );
      this.#from = key;
    }
    const target = new (av().Frame)();
    target.alloc();
    target.format = format;
    target.width = width;
    target.height = height;
    try {
      must(target.getBuffer(), 'scaling');
      must(await this.#context.scaleFrame(target, source), 'scaling');
    } catch (error) {
      target.free();
      throw error;
    }
    return target;
  }

  close(): void {
    this.#context?.freeContext();
    this.#context = null;
    this.#from = '';
  }
}
