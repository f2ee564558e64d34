import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { AVCodecID } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { deferred } from '../../../shared/async/deferred.ts';
import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import { av } from '../../../shared/media/av.ts';
import { memoryOf } from '../../../shared/process/memory.ts';
import { offline } from '../../../shared/process/offline.ts';
import { offerToKernel } from '../../../shared/process/oom-score.ts';
import {
  ANSWER,
  ASK,
  HEAD_BYTES,
  type Head,
  headOf,
  isPicture,
  MAX_INSIDE,
  MAX_PACKET_BYTES,
  MAX_PICTURE_BYTES,
  type PictureHead,
  readHead,
  WIRE,
} from './wire.ts';

const FILE = join(import.meta.dirname, `decoder-main${extname(import.meta.filename)}`);
/** Its memory is that of FFmpeg. */
const FLAGS = ['--max-old-space-size=32', '--max-semi-space-size=1', '--optimize-for-size'];

/** No file of it, the pictures' above all, becomes larger than one picture: in blocks of 512 bytes. */
const WITHIN = `ulimit -f ${MAX_PICTURE_BYTES / 512}; exec "$@"`;
const MEMORY = '/dev/shm';
const TAKEN = Buffer.alloc(1);

const LIMITS = {
  /** To start, beside all else on the slowest board, and for one packet. */
  startMs: 15_000,
  answerMs: 5000,
  /** A timer that comes so late says nothing: this process stood still. */
  lateMs: 1000,
  /** The pictures that the largest H.264 and H.265 refer to, and the process itself: 30 MiB for 1280x720. */
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
  #filled = 0;
  readonly #file = fileInMemory();
  /** Of the newest size; the frames have their own. */
  #pixels = Buffer.alloc(0);
  #question: Question | null = null;
  #problem: string | null = null;
  fresh = true;

  constructor(file: string) {
    const { program, args } = offline('sh', ['-c', WITHIN, 'sh', process.execPath, ...FLAGS, file]);
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', this.#file] });
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
    const { promise, resolve, reject } = deferred<number>();
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
    closeSync(this.#file);
    this.#question?.reject(new Error(why));
    this.#question = null;
  }

  #take(chunk: Buffer): void {
    for (let from = 0; from < chunk.length && !this.over; ) {
      const taken = chunk.copy(this.#head, this.#filled, from);
      from += taken;
      this.#filled += taken;
      if (this.#filled < HEAD_BYTES) return;
      this.#filled = 0;
      this.#heard(readHead(this.#head));
    }
  }

  #heard(head: Head): void {
    const question = this.#question;
    const { kind } = head;
    if (question === null || (kind === ANSWER.picture && ++question.pictures > MAX_INSIDE)) {
      this.end('the decoder gave pictures of nothing');
    } else if (kind === ANSWER.picture && isPicture(head)) {
      this.#show(head, question);
    } else if (kind === ANSWER.done || kind === ANSWER.refused) {
      this.#question = null;
      question.resolve(kind);
    } else {
      this.end('the decoder gave what is no picture');
    }
  }

  #show({ bytes, width, height, is: format, at }: PictureHead, { onFrame }: Question): void {
    try {
      if (this.#pixels.length !== bytes) this.#pixels = Buffer.allocUnsafeSlow(bytes);
      if (readSync(this.#file, this.#pixels, 0, bytes, 0) < bytes)
        throw new Error('the decoder gave what is no picture');
      this.#wire.write(TAKEN);
      using frame = av().Frame.fromVideoBuffer(this.#pixels, { width, height, format });
      frame.pts = BigInt(at);
      onFrame(frame);
    } catch (error) {
      this.end(messageOf(error));
    }
  }
}

/** Without a name, so that it ends with whoever has it open. On a disk where this machine has no such memory. */
function fileInMemory(): number {
  const name = `svc-decoder-${randomUUID()}`;
  const create = (folder: string): number => {
    const path = join(folder, name);
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return file;
  };
  try {
    return create(MEMORY);
  } catch {
    return create(tmpdir()); // or it is told
  }
}

function noPicture(): void {
  // None was asked for.
}
