import { type FileHandle, open, rm } from 'node:fs/promises';
import { AV_PKT_FLAG_KEY, AVMEDIA_TYPE_VIDEO } from 'node-av/constants';
import type { FormatContext, Stream } from 'node-av/lib';
import { av, dictionary, microseconds, must } from '../../../shared/media/av.ts';
import type { AccessUnit, Size } from '../../../shared/media/picture.ts';
import type { VideoCodec } from '../../../shared/rpc/video.ts';
import { CODECS } from '../engine/codecs.ts';

// Each fragment is one key frame interval and can be played alone, so a file is playable up to a power cut.
const OPTIONS = { movflags: 'frag_keyframe+empty_moov+default_base_moof' } as const;
const DEFAULT_DURATION_US = 33_333;

/** One fragmented MP4 while it is written. Calls may not overlap. */
export class Mp4File {
  readonly #context: FormatContext;
  readonly #stream: Stream;
  readonly #handle: FileHandle;
  readonly #packet = new (av().Packet)();
  #first: number | null = null;
  #last = -1;
  /** Up to here the file has whole fragments, bytes. */
  #whole = 0;

  private constructor(context: FormatContext, stream: Stream, handle: FileHandle) {
    this.#context = context;
    this.#stream = stream;
    this.#handle = handle;
    this.#packet.alloc();
  }

  /**
   * @param path must not exist yet
   * @param parameterSets in Annex B: an MP4's head needs them before the first picture
   * @throws Error with the reason, ENOSPC among them; no file is left then
   */
  static async create(
    path: string,
    codec: VideoCodec,
    parameterSets: Buffer,
    { width, height }: Size,
  ): Promise<Mp4File> {
    // We create the file first, so that an existing one is never overwritten, and to have a descriptor for fsync.
    const handle = await open(path, 'wx+', 0o640);
    const context = new (av().FormatContext)();
    try {
      must(context.allocOutputContext2(null, 'mp4', path), 'mp4');
      const stream = context.newStream();
      const { codecpar } = stream;
      codecpar.codecType = AVMEDIA_TYPE_VIDEO;
      codecpar.codecId = CODECS[codec].id;
      // The parameter sets are in the head alone: Apple's players take no other H.265.
      if (codec === 'h265') codecpar.codecTag = 'hvc1';
      codecpar.extradata = parameterSets;
      codecpar.width = width;
      codecpar.height = height;
      stream.timeBase = microseconds();
      must(await context.openOutput(), 'open');
      must(await context.writeHeader(dictionary(OPTIONS)), 'header');
      const file = new Mp4File(context, stream, handle);
      file.#whole = await file.#stored();
      return file;
    } catch (error) {
      await context.closeOutput().catch(() => undefined); // the first error is reported
      await handle.close();
      await rm(path, { force: true });
      throw error;
    }
  }

  /** @throws Error if it cannot be written; close the file then */
  async write(unit: AccessUnit): Promise<void> {
    this.#first ??= unit.at;
    const at = Math.max(this.#last + 1, Math.round(unit.at - this.#first));
    this.#last = at;
    const packet = this.#packet;
    packet.data = unit.data;
    packet.streamIndex = this.#stream.index;
    packet.pts = BigInt(at);
    packet.dts = packet.pts;
    packet.duration = BigInt(DEFAULT_DURATION_US);
    if (unit.key) packet.setFlags(AV_PKT_FLAG_KEY);
    packet.rescaleTs(microseconds(), this.#stream.timeBase);
    try {
      must(await this.#context.writeFrame(packet), 'write');
      if (unit.key) {
        this.#whole = await this.#stored();
      }
    } finally {
      packet.unref();
    }
  }

  /**
   * Brings what was written to the disk.
   * @returns length of the file, bytes
   * @throws Error if it is shorter than what was written: libavformat keeps that error to itself until the next packet
   */
  async #stored(): Promise<number> {
    await this.#context.flush();
    const written = Number(this.#context.pbBytes);
    await this.#handle.datasync();
    const { size } = await this.#handle.stat();
    if (size < written) throw new Error(`no space left: the disk took ${size} bytes of ${written}`);
    return size;
  }

  /** Seconds from the first picture to the last. */
  get seconds(): number {
    return Math.max(0, this.#last) / 1e6;
  }

  /** Of its whole fragments, bytes. */
  get size(): number {
    return this.#whole;
  }

  /**
   * Ends the last fragment and closes.
   * @throws Error if that fragment cannot be written; the file ends before it then
   */
  async close(): Promise<void> {
    try {
      must(await this.#context.writeTrailer(), 'trailer');
      this.#whole = await this.#stored();
    } finally {
      try {
        await this.#context.closeOutput(); // tries once more to write what it still has
      } finally {
        this.#packet.free();
        this.#context.freeContext();
        try {
          await this.#handle.truncate(this.#whole);
          await this.#handle.datasync();
        } finally {
          await this.#handle.close();
        }
      }
    }
  }
}
