import type { VideoCodec } from '../rpc/video.ts';
import { joinNals, NAL, nalType, splitNals } from './h264.ts';
import { NAL265, nalType265 } from './h265.ts';

const SETS = {
  h264: { types: [NAL.sps, NAL.pps], typeOf: nalType },
  h265: { types: [NAL265.vps, NAL265.sps, NAL265.pps], typeOf: nalType265 },
} as const satisfies Record<
  VideoCodec,
  { readonly types: readonly number[]; readonly typeOf: (nal: Buffer) => number }
>;

/**
 * The parameter sets of a stream. A camera may say them once, at its beginning or in its description, and one after the other:
 * whoever comes later needs them too, so that each key frame gets those that it comes without.
 */
export class KeptSets {
  #codec: VideoCodec | null = null;
  /** The newest of each type; a type may have several. */
  readonly #kept = new Map<number, readonly Buffer[]>();

  /** Those of a description or of a picture, in Annex B. */
  learn(codec: VideoCodec, unit: Buffer): ReadonlySet<number> {
    if (codec !== this.#codec) this.#kept.clear();
    this.#codec = codec;
    const { types, typeOf } = SETS[codec];
    const nals = splitNals(unit);
    const found = new Set<number>();
    for (const type of types) {
      const own = nals.filter((nal) => typeOf(nal) === type);
      if (own.length === 0) continue;
      found.add(type);
      this.#kept.set(
        type,
        own.map((nal) => Buffer.from(nal)),
      );
    }
    return found;
  }

  /** @returns the unit; of a key frame with the sets that it lacks in front, as far as they are known */
  complete(codec: VideoCodec, unit: Buffer, key: boolean): Buffer {
    const own = this.learn(codec, unit);
    if (!key) return unit;
    const lacking = SETS[codec].types
      .filter((type) => !own.has(type))
      .flatMap((type) => this.#kept.get(type) ?? []);
    return lacking.length === 0 ? unit : Buffer.concat([joinNals(lacking), unit]);
  }
}
