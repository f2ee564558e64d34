import { Codec, CodecContext, Frame, Packet } from 'node-av';
import { AV_CODEC_ID_H264 } from 'node-av/constants';
import { cloneFrame, must } from './av.ts';
import type { AccessUnit, Picture } from './picture.ts';

// A key frame a second at 60 pictures a second, with room for a late one.
const MAX_UNITS = 180;
const MAX_BYTES = 8 * 1024 * 1024;

/** The pictures since the newest key frame, so that the present picture can be decoded on request. */
export class UnitBuffer {
  #units: AccessUnit[] = [];
  #bytes = 0;

  push(unit: AccessUnit): void {
    if (unit.key) this.clear();
    else if (this.#units.length === 0) return;
    this.#units.push(unit);
    this.#bytes += unit.data.length;
    if (this.#units.length > MAX_UNITS || this.#bytes > MAX_BYTES) this.clear();
  }

  clear(): void {
    this.#units = [];
    this.#bytes = 0;
  }

  /** @returns the newest picture, its frame for the caller to free; null before the first key frame */
  async decode(): Promise<Picture | null> {
    const units = this.#units.slice();
    const codec = Codec.findDecoder(AV_CODEC_ID_H264);
    if (units.length === 0 || codec === null) return null;
    const decoder = new CodecContext();
    decoder.allocContext3(codec);
    const packet = new Packet();
    const frame = new Frame();
    packet.alloc();
    frame.alloc();
    let newest: Picture | null = null;
    try {
      decoder.threadCount = 1;
      must(await decoder.open2(codec), 'decoder');
      for (const unit of [...units, null]) {
        if (unit !== null) {
          packet.data = unit.data;
          packet.pts = BigInt(Math.round(unit.at));
        }
        await decoder.sendPacket(unit === null ? null : packet); // after a damaged one the picture before it stays
        packet.unref();
        while ((await decoder.receiveFrame(frame)) >= 0) {
          newest?.frame.free();
          const from = units.find(({ at }) => BigInt(Math.round(at)) === frame.pts) ?? units.at(-1);
          newest = { frame: cloneFrame(frame), capturedAt: from?.capturedAt ?? 0, at: from?.at ?? 0 };
          frame.unref();
        }
      }
      return newest;
    } finally {
      packet.free();
      frame.free();
      decoder.freeContext();
    }
  }
}
