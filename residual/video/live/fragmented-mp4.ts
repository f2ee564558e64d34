import { NAL, nalType, splitNals } from '../../../shared/media/h264.ts';

/**
 * H.264 as fragmented MP4 for Media Source in a browser (ISO/IEC 14496-12 and 14496-15): one track, one fragment a picture.
 * Times count from the first picture, microseconds.
 */

const TICKS = 1_000_000;
const TRACK = 1;
/** sample_depends_on, sample_is_non_sync_sample. */
const FLAGS = { key: 0x02_00_00_00, other: 0x01_01_00_00 } as const;
const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000);

export interface Track {
  /** Without start codes. */
  readonly sps: Buffer;
  readonly pps: Buffer;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

export interface Sample {
  /** Counts from 1, one for each fragment. */
  readonly sequence: number;
  readonly at: number;
  readonly duration: number;
  readonly key: boolean;
  /** As `sampleOf` makes it. */
  readonly data: Buffer;
}

/** RFC 6381: `avc1.` and the profile, constraints and level of the SPS. */
export function codecOf(sps: Buffer): string {
  return `avc1.${sps.toString('hex', 1, 4)}`;
}

/** The pictures' data of an access unit in Annex B; the parameter sets are in the head of the stream. */
export function sampleOf(unit: Buffer): Buffer {
  const without: readonly number[] = [NAL.sps, NAL.pps, NAL.aud];
  const nals = splitNals(unit).filter((nal) => !without.includes(nalType(nal)));
  return Buffer.concat(nals.flatMap((nal) => [u32(nal.length), nal]));
}

/** What comes before the first fragment. */
export function initSegment(track: Track): Buffer {
  const { width, height } = track;
  const table = box(
    'stbl',
    full('stsd', 0, u32(1), sampleEntry(track)),
    full('stts', 0, u32(0)),
    full('stsc', 0, u32(0)),
    full('stsz', 0, u32(0, 0)),
    full('stco', 0, u32(0)),
  );
  const media = box(
    'minf',
    full('vmhd', 1, Buffer.alloc(8)),
    box('dinf', full('dref', 0, u32(1), full('url ', 1))),
    table,
  );
  const trak = box(
    'trak',
    // Enabled, in the movie; layer, group and volume are 0.
    full('tkhd', 3, u32(0, 0, TRACK, 0, 0, 0, 0, 0, 0), MATRIX, u32(width * 0x10000, height * 0x10000)),
    box(
      'mdia',
      full('mdhd', 0, u32(0, 0, TICKS, 0), u16(0x55c4, 0)), // the language is undetermined
      full('hdlr', 0, u32(0), Buffer.from('vide'), Buffer.alloc(13)),
      media,
    ),
  );
  const movie = full(
    'mvhd',
    0,
    u32(0, 0, TICKS, 0, 0x10000),
    u16(0x100),
    Buffer.alloc(10),
    MATRIX,
    Buffer.alloc(24),
    u32(TRACK + 1),
  );
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5'), u32(0), Buffer.from('iso5iso6mp41')),
    box('moov', movie, trak, box('mvex', full('trex', 0, u32(TRACK, 1, 0, 0, 0)))),
  ]);
}

/** One picture. */
export function fragment({ sequence, at, duration, key, data }: Sample): Buffer {
  const moof = (dataAt: number): Buffer =>
    box(
      'moof',
      full('mfhd', 0, u32(sequence)),
      box(
        'traf',
        full('tfhd', 0x02_00_00, u32(TRACK)), // offsets count from the moof
        full('tfdt', 0x01_00_00_00, u32(Math.floor(at / 2 ** 32), at % 2 ** 32)), // version 1: 64 bits
        // Offset of the data, and the picture's duration, size and flags.
        full('trun', 0x7_01, u32(1, dataAt, duration, data.length, key ? FLAGS.key : FLAGS.other)),
      ),
    );
  return Buffer.concat([moof(moof(0).length + 8), box('mdat', data)]);
}

function sampleEntry({ sps, pps, width, height }: Track): Buffer {
  const sets = Buffer.concat([
    Buffer.from([1]),
    sps.subarray(1, 4),
    Buffer.from([0xff, 0xe1]), // lengths of four bytes; one SPS
    u16(sps.length),
    sps,
    Buffer.from([1]),
    u16(pps.length),
    pps,
  ]);
  return box(
    'avc1',
    u16(0, 0, 0, 1),
    Buffer.alloc(16),
    u16(width, height),
    u32(0x48_00_00, 0x48_00_00, 0), // 72 dpi
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    box('avcC', sets),
  );
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(length), Buffer.from(type, 'latin1'), ...parts]);
}

/** A box with a version (the highest byte) and flags. */
function full(type: string, flags: number, ...parts: readonly Buffer[]): Buffer {
  return box(type, u32(flags), ...parts);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}
