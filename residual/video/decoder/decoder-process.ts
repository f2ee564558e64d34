import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { extname, join } from 'node:path';
import type { AVCodecID } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import { memoryOf } from '../../../shared/process/memory.ts';
import { offline } from '../../../shared/process/offline.ts';
import { offerToKernel } from '../../../shared/process/oom-score.ts';
import { av } from '../engine/av.ts';
import {
  ANSWER,
  ASK,
  HEAD_BYTES,
  type Head,
  headOf,
  isPicture,
  MAX_INSIDE,
  MAX_PACKET_BYTES,
  type PictureHead,
  readHead,
  WIRE,
} from './wire.ts';

const FILE = join(import.meta.dirname, `decoder-main${extname(import.meta.filename)}`);
/** Its memory is that of FFmpeg. */
const FLAGS = ['--max-old-space-size=32', '--max-semi-space-size=1', '--optimize-for-size'];

const LIMITS = {
  /** To start, beside all else on the slowest board, and for one packet. */
  startMs: 15_000,
  answerMs: 5000,
  /** A timer that comes so late says nothing: this process stood still. */
  lateMs: 1000,
  /** The pictures that the largest H.264 and H.265 refer to, and the process itself: 60 MiB for 1280x720. */
  memoryMiB: 256,
  weighMs: 2000,
  /** Between the end of its socket and its own. */
  exitMs: 200,
  /** Above svc-video's own oom_score_adj: it starts again, and svc-video goes on meanwhile. */
  oom: 200,
} as const;

interface Question {
  readonly onFrame: (frame: Frame) => void;
  readonly resolve: (kind: number) => void;
  readonly reject: (error: Error) => void;
  pictures: number;
}

/**
 * A decoder in a process of its own, without network: what it decodes comes from strangers, and it is believed nothing. One that lies,
 * hangs or ends is an error for whoever it works for, and for nobody else. It runs from the first `open` to `close`.
 *
 * One process for each decoder: most nodes have none (a camera of this machine comes as raw pictures) or one, so that a common one would
 * save nothing, and whoever breaks it would stop the pictures of every camera.
 */
export class DecoderProcess {
  readonly #file: string;
  #running: Running | null = null;

  /** @param file of the program */
  constructor(file = FILE) {
    this.#file = file;
  }

  /** Begins with another stream. @throws Error if there is no decoder for it */
  async open(codec: AVCodecID, extradata: Buffer | null = null): Promise<void> {
    const running = this.#running?.over === false ? this.#running : new Running(this.#file);
    this.#running = running;
    const limit = running.fresh ? LIMITS.startMs : LIMITS.answerMs;
    const data = extradata ?? Buffer.alloc(0);
    const kind = await running.ask({ kind: ASK.codec, is: codec }, data, limit, noPicture);
    if (kind !== ANSWER.done) throw new Error('no decoder for its format');
  }

  /**
   * One packet at a time.
   * @param data null at the end, for what is still inside; it needs `open` then
   * @param at its presentation time, which its picture has as `pts`: whole microseconds
   * @param onFrame called with each picture that is ready; it is freed when this returns
   * @throws Error what has become of the decoder, or that it makes nothing of what comes
   */
  async decode(data: Buffer | null, at: number, onFrame: (frame: Frame) => void): Promise<void> {
    const running = this.#running;
    if (running === null) throw new Error('the decoder is not open');
    const packet = data ?? Buffer.alloc(0);
    const kind = await running.ask({ kind: ASK.packet, at }, packet, LIMITS.answerMs, onFrame);
    if (kind !== ANSWER.done) throw new Error('what comes cannot be decoded');
  }

  /** Whatever it is at. */
  close(): void {
    this.#running?.end('the decoder was closed');
    this.#running = null;
  }
}

/** One run of the process. */
class Running {
  readonly #child: ChildProcess;
  readonly #wire: Socket;
  readonly #scales: NodeJS.Timeout;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  /** What comes now: the head, or the picture that it announced. */
  #filling: Buffer = this.#head;
  #filled = 0;
  #announced: PictureHead | null = null;
  /** Of the newest size; the frames have their own. */
  #pixels = Buffer.alloc(0);
  #question: Question | null = null;
  #problem: string | null = null;
  fresh = true;

  constructor(file: string) {
    const { program, args } = offline(process.execPath, [...FLAGS, file]);
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const wire = this.#child.stdio[WIRE];
    if (!(wire instanceof Socket)) throw new Error('the decoder has no socket');
    this.#wire = wire;
    wire.on('data', (chunk: Buffer) => this.#take(chunk));
    wire.on('error', () => undefined); // 'close' follows
    this.#child.on('error', (error) => this.end(`the decoder does not start: ${messageOf(error)}`));
    // Its end, or that of its socket alone.
    this.#child.on('exit', (code, signal) => this.end(`the decoder has ended (${signal ?? `code ${code}`})`));
    wire.on('close', () => setTimeout(() => this.end('the decoder hung up'), LIMITS.exitMs));
    const { pid } = this.#child;
    if (pid !== undefined) offerToKernel(pid, LIMITS.oom).catch(() => undefined); // it has ended, or there is no /proc
    this.#scales = every(LIMITS.weighMs, 'memory of the decoder', async () => {
      const mib = pid === undefined ? null : await memoryOf(pid);
      if (mib !== null && mib > LIMITS.memoryMiB)
        this.end(`the decoder took ${Math.round(mib)} MiB of memory, more than ${LIMITS.memoryMiB}`);
    });
  }

  get over(): boolean {
    return this.#problem !== null;
  }

  /** @returns the kind of the message that ended the answer. @throws Error what has become of the process */
  async ask(
    head: Partial<Head>,
    data: Buffer,
    limitMs: number,
    onFrame: (frame: Frame) => void,
  ): Promise<number> {
    if (this.#problem !== null) throw new Error(this.#problem);
    if (this.#question !== null) throw new Error('the decoder has a packet already');
    if (data.length > MAX_PACKET_BYTES) throw new Error('the camera sends pictures that are too large');
    const announced = headOf({ ...head, bytes: data.length });
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#question = { onFrame, resolve, reject, pictures: 0 };
    this.#wire.cork();
    this.#wire.write(announced);
    this.#wire.write(data);
    this.#wire.uncork();
    let due = performance.now() + limitMs;
    const look = (): void => {
      const late = performance.now() - due;
      due = performance.now() + limitMs;
      if (late > LIMITS.lateMs) timer = setTimeout(look, limitMs);
      else this.end(`the decoder has not answered for ${limitMs / 1000} s`);
    };
    let timer = setTimeout(look, limitMs);
    try {
      const kind = await promise;
      this.fresh = false;
      return kind;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Its first end counts. */
  end(why: string): void {
    if (this.#problem !== null) return;
    this.#problem = why;
    clearInterval(this.#scales);
    this.#child.kill('SIGKILL');
    this.#wire.destroy();
    this.#question?.reject(new Error(why));
    this.#question = null;
  }

  #take(chunk: Buffer): void {
    for (let from = 0; from < chunk.length && !this.over; ) {
      const taken = chunk.copy(this.#filling, this.#filled, from);
      from += taken;
      this.#filled += taken;
      if (this.#filled < this.#filling.length) return;
      this.#filled = 0;
      const announced = this.#announced;
      if (announced === null) this.#heard(readHead(this.#head));
      else this.#show(announced);
    }
  }

  #heard(head: Head): void {
    const question = this.#question;
    const { kind } = head;
    if (question === null || (kind === ANSWER.picture && ++question.pictures > MAX_INSIDE)) {
      this.end('the decoder gave pictures of nothing');
    } else if (kind === ANSWER.picture && isPicture(head)) {
      if (this.#pixels.length !== head.bytes) this.#pixels = Buffer.allocUnsafeSlow(head.bytes);
      this.#filling = this.#pixels;
      this.#announced = head;
    } else if (head.bytes > 0 || kind < ANSWER.done || kind > ANSWER.refused) {
      this.end('the decoder gave what is no picture');
    } else {
      this.#question = null;
      question.resolve(kind);
    }
  }

  #show({ width, height, is: format, at }: PictureHead): void {
    this.#filling = this.#head;
    this.#announced = null;
    try {
      using frame = av().Frame.fromVideoBuffer(this.#pixels, { width, height, format });
      frame.pts = BigInt(at);
      this.#question?.onFrame(frame);
    } catch (error) {
      this.end(messageOf(error));
    }
  }
}

function noPicture(): void {
  // None was asked for.
}
