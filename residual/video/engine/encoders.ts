import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AVPixelFormat } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { within } from '../../../shared/async/within.ts';
import { messageOf } from '../../../shared/errors.ts';
import { av, must } from '../../../shared/media/av.ts';
import { type EncoderChoice, H264Encoder } from '../../../shared/media/encoder.ts';
import { parameterSets } from '../../../shared/media/h264.ts';
import { keysOf } from '../../../shared/member.ts';
import type { PassedEncoder, Profile } from '../../../shared/rpc/video.ts';
import { hasCodec } from '../../../shared/video/cameras.ts';

interface EncodersOptions {
  readonly choice: EncoderChoice;
  /** `/sys` and `/dev`; elsewhere in tests. */
  readonly sys?: string | undefined;
  readonly dev?: string | undefined;
  readonly open?: (name: string, profile: Profile) => Promise<H264Encoder>;
}

/** What each needs besides FFmpeg: opening one without it costs time, and its error says nothing to a person. */
const HARDWARE = {
  h264_v4l2m2m: {
    isThere: (sys: string) => hasCodec(sys),
    missing: 'no V4L2 device of this machine encodes',
  },
  h264_nvenc: {
    isThere: (_sys: string, dev: string) =>
      existsSync(join(dev, 'nvidiactl')) || existsSync(join(dev, 'dxg')),
    missing: 'there is no NVIDIA device',
  },
  h264_qsv: {
    isThere: (_sys: string, dev: string) =>
      existsSync(join(dev, 'dri')) &&
      readdirSync(join(dev, 'dri')).some((name) => name.startsWith('renderD')),
    missing: 'there is no graphics device',
  },
} as const;
const SOFTWARE = 'libx264';
const PROBE = { pictures: 12, everyMs: 20, ms: 3000 } as const;

/**
 * Which encoder this machine uses: for `auto` the first hardware encoder that really gives a picture, else the named one if it does;
 * libx264 where none does.
 */
export class Encoders {
  readonly #options: EncodersOptions;
  readonly #open: NonNullable<EncodersOptions['open']>;
  /** Hardware encoders that opened and then failed. */
  readonly #failed = new Map<string, string>();
  #chosen: string | null = null;
  #passed: readonly PassedEncoder[] = [];

  constructor(options: EncodersOptions) {
    this.#options = options;
    this.#open = options.open ?? (async (name, profile) => H264Encoder.open(name, profile));
  }

  /** Those that were not taken, with the reason of each. */
  get passed(): readonly PassedEncoder[] {
    return this.#passed;
  }

  /** @throws Error with the reason if none opens */
  async open(profile: Profile): Promise<H264Encoder> {
    const { choice } = this.#options;
    const hardware = keysOf(HARDWARE).filter((name) => choice === 'auto' || choice === name);
    if (this.#chosen !== null) {
      try {
        return await this.#open(this.#chosen, profile);
      } catch {
        this.#chosen = null; // not with this profile: chosen anew, which keeps the reason
      }
    }
    const passed: PassedEncoder[] = [];
    for (const encoder of hardware) {
      const reason = this.#missing(encoder) ?? (await this.#probe(encoder, profile));
      if (reason === null) {
        this.#passed = passed;
        this.#chosen = encoder;
        return this.#open(encoder, profile);
      }
      passed.push({ encoder, reason });
    }
    this.#passed = passed;
    this.#chosen = SOFTWARE;
    return this.#open(SOFTWARE, profile);
  }

  /** An encoder that was opened here does not work: another one is taken from now on. */
  failed(name: string, reason: string): void {
    if (name === SOFTWARE || name !== this.#chosen) return;
    this.#failed.set(name, reason);
    this.#chosen = null;
  }

  #missing(name: keyof typeof HARDWARE): string | null {
    const { sys = '/sys', dev = '/dev' } = this.#options;
    const { isThere, missing } = HARDWARE[name];
    return this.#failed.get(name) ?? (isThere(sys, dev) ? null : missing);
  }

  /** @returns why it cannot be used; null: it has given a picture that a decoder can begin with */
  async #probe(name: string, profile: Profile): Promise<string | null> {
    try {
      // One that hangs keeps its memory: it can neither be stopped nor closed.
      const late = (): Error => new Error(`it gave no picture within ${PROBE.ms} ms`);
      await within(this.#try(name, profile), PROBE.ms, late);
      return null;
    } catch (error) {
      return messageOf(error).replace(`${name}: `, '');
    }
  }

  async #try(name: string, profile: Profile): Promise<void> {
    const encoder = await this.#open(name, profile);
    try {
      using picture = black(profile, encoder.format);
      for (let count = 0; count < PROBE.pictures; count++) {
        const times = { capturedAt: 0, at: (count * 1e6) / profile.fps };
        const [unit] = await encoder.encode(picture, times, count === 0);
        if (unit === undefined) await delay(PROBE.everyMs);
        else if (unit.key && parameterSets(unit.data) !== null) return;
        else throw new Error('its first picture is none that a decoder can begin with');
      }
      throw new Error(`it took ${PROBE.pictures} pictures and gave none back`);
    } finally {
      encoder.close();
    }
  }
}

function black({ width, height }: Profile, format: AVPixelFormat): Frame {
  const frame = new (av().Frame)();
  frame.alloc();
  frame.format = format;
  frame.width = width;
  frame.height = height;
  must(frame.getBuffer(), 'probe');
  for (const [plane, bytes] of (frame.data ?? []).slice(0, 3).entries()) bytes.fill(plane === 0 ? 16 : 128);
  return frame;
}
