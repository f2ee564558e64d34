import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '../../shared/async/backoff.ts';
import { every } from '../../shared/async/every.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { type Server, serverOf } from '../../shared/rpc/contract.ts';
import { type Designated, type DetectorState, type DetectorStatus, VISION } from '../../shared/rpc/vision.ts';
import {
  type Batch,
  type BBox,
  CAMERA_ID,
  type Detection,
  MAX_DETECTIONS,
  type ModelMeta,
} from '../../shared/schemas/vision.ts';
import { FrameClient, type RawPicture } from '../../shared/video/frame-client.ts';
import type { ModelFiles } from '../../shared/vision/model-files.ts';
import { ModelError } from './heads.ts';
import { MemoryGuard } from './memory-guard.ts';
import { Model } from './model.ts';
import { overlap } from './overlap.ts';
import { type Chosen, chooseThreads, median, Pace } from './pace.ts';
import { Target } from './target.ts';
import { type DetectedBox, Tracker } from './tracker.ts';
import type { Trouble } from './trouble.ts';

const STATUS_MS = 1000;
/** Without a picture for so long it waits. */
const WAITING_MS = 3000;
/** Over so long the rate is counted, and so many of the last figures give a median. */
const FPS_MS = 5000;
const FIGURES = 25;
const RECONNECT = { firstMs: 100, capMs: 2000 } as const;
/** A detection this weak may go on with a track; it does not begin one and is not told. */
const WEAK = 0.1;
/** A thing that is not seen is looked for, seconds, and for three pictures at least. */
const FORGET_S = 2;
const FORGET_PICTURES = 3;
/** A box that a client points with must share so much with what is there. */
const LEAST_DESIGNATED = 0.1;
const GOOD_PICTURES = 3;

interface DetectorOptions {
  readonly id: string;
  readonly files: ModelFiles;
  readonly trouble: Trouble;
  /** `vision` of the config. */
  readonly config: {
    readonly rate_hz: number;
    readonly confidence: number;
    readonly threads: number;
    readonly memory_mb: number;
  };
  readonly cores: number;
  readonly framesSocket: string;
  readonly socketPath: string;
  readonly log: Logger;
}

/** Looks at pictures with a model, one at a time and always the newest, and tells what it finds. */
export class Detector {
  readonly #options: DetectorOptions;
  readonly #server: Server<typeof VISION>;
  readonly #stopped = new AbortController();
  readonly #tracker: Tracker;
  readonly #target = new Target();
  #done: Promise<void> = Promise.resolve();
  #ticks: NodeJS.Timeout | undefined;
  #state: DetectorState = 'loading';
  #lastError: string | null = null;
  #threads: number | null = null;
  #pace: Pace | null = null;
  #labels: readonly string[] = [];
  #guard: MemoryGuard | null = null;
  #frames = 0;
  #dropped = 0;
  #batch: Batch | null = null;
  #toldTarget = '';
  /** Monotonic, ms: when the pictures of the last seconds were done. */
  #times: number[] = [];
  #latencies: number[] = [];
  #inferences: number[] = [];

  constructor(options: DetectorOptions) {
    this.#options = options;
    this.#tracker = new Tracker(options.config.confidence);
    this.#server = serverOf(VISION, {
      path: options.socketPath,
      handlers: {
        status: () => this.status(),
        designate: (wanted) => this.#designate(wanted),
        release: () => {
          this.#target.release();
          this.#tell();
          return { done: true };
        },
      },
      greeting: () => [['status', this.status()]],
      onError: (error) => options.log.error(messageOf(error)),
    });
  }

  /** Serves at once; the model is loaded after it. */
  async start(): Promise<void> {
    await this.#server.start();
    this.#ticks = every(STATUS_MS, 'status', () => this.#tick());
    this.#done = this.#run(this.#stopped.signal);
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks);
    this.#stopped.abort(new Error('stopped'));
    await this.#done;
    await this.#server.stop();
  }

  status(): DetectorStatus {
    const now = performance.now();
    this.#times = this.#times.filter((at) => now - at <= FPS_MS);
    const spanMs = (this.#times.at(-1) ?? 0) - (this.#times[0] ?? 0);
    return {
      state: this.#state,
      model_id: this.#options.id,
      fps: spanMs === 0 ? null : round(((this.#times.length - 1) * 1000) / spanMs),
      latency_ms: rounded(median(this.#latencies)),
      inference_ms: rounded(median(this.#inferences)),
      threads: this.#threads,
      rate_hz: rounded(this.#pace?.hz ?? null),
      frames: this.#frames,
      dropped: this.#dropped,
      memory_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      designated: this.#target.state(now),
      last_error: this.#lastError,
    };
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { trouble, id, log } = this.#options;
    let model: Model | null = null;
    let begun = false;
    try {
      begun = await trouble.begin();
      if (!begun)
        throw new ModelError(
          `The model ${id} has stopped the detector's process twice. Choose it again to try it once more.`,
        );
      model = await this.#load();
      await this.#lookOn(model, signal);
      await trouble.over();
    } catch (error) {
      log.error(`the detector has failed: ${messageOf(error)}`);
      // It has done no harm to the process.
      if (begun) await trouble.over().catch((problem: unknown) => log.error(messageOf(problem)));
      this.#enter('failed', messageOf(error));
    } finally {
      await model?.release();
    }
  }

  async #load(): Promise<Model> {
    const { id, files, config, cores, log } = this.#options;
    const read = async (path: string): Promise<Buffer> =>
      readFile(path).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new ModelError(`There is no model ${id} on this node.`) : error;
      });
    const meta = JSON.parse((await read(files.meta)).toString()) as ModelMeta;
    const bytes = await read(files.model);
    // What was checked when it came is what is loaded.
    if (createHash('sha256').update(bytes).digest('hex') !== meta.sha256)
      throw new ModelError(
        'The file of the model has changed since it was added. Delete it and add it again.',
      );
    this.#labels = meta.classes;
    this.#guard = await MemoryGuard.set(config.memory_mb);
    if (this.#guard.problem !== null) log.warn(`memory is watched, not limited: ${this.#guard.problem}`);
    this.#enter('measuring');
    const chosen: Chosen = await chooseThreads(
      async (threads) => Model.open(bytes, meta, threads),
      config.threads,
      cores,
    );
    this.#guard.check();
    this.#threads = chosen.threads;
    this.#pace = new Pace(config.rate_hz, cores, chosen.cpuMs);
    log.info(
      `${meta.name}: ${chosen.wallMs.toFixed(1)} ms on ${chosen.threads} thread(s), ${this.#pace.hz.toFixed(1)} pictures a second`,
    );
    return chosen.model;
  }

  /** Connects to svc-video, again and again, and looks at what it gives. @throws ModelError */
  async #lookOn(model: Model, signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(RECONNECT.firstMs, RECONNECT.capMs);
    this.#enter('waiting');
    while (!signal.aborted) {
      try {
        const frames = await FrameClient.connect(this.#options.framesSocket);
        try {
          await this.#lookAt(frames, model, signal, () => backoff.reset());
        } finally {
          frames.close();
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ModelError) throw error;
        this.#enter('waiting', messageOf(error));
        await delay(backoff.next(), undefined, { signal }).catch(() => undefined); // aborted: the loop ends
      }
    }
  }

  async #lookAt(
    frames: FrameClient,
    model: Model,
    signal: AbortSignal,
    onPicture: () => void,
  ): Promise<void> {
    const { width, height } = model.input;
    for (let due = performance.now(); ; ) {
      await delay(Math.max(0, due - performance.now()), undefined, { signal });
      const picture = await frames.next({ width, height }, signal);
      onPicture();
      const began = performance.now();
      const cpu = process.cpuUsage();
      await this.#look(model, picture);
      const used = process.cpuUsage(cpu);
      this.#pace?.spent((used.user + used.system) / 1000);
      const period = 1000 / (this.#pace?.hz ?? 1);
      const busy = performance.now() - began;
      this.#dropped += Math.floor(busy / period);
      // On the beat, so that the rate is kept; after a stall from now on, without a burst.
      due = Math.max(due + period, performance.now() - period);
      if (busy > period) due = performance.now();
    }
  }

  async #look(model: Model, picture: RawPicture): Promise<void> {
    const { config, id, trouble } = this.#options;
    const { header } = picture;
    const placement = model.place(picture);
    const began = performance.now();
    const outputs = await model.infer();
    const now = performance.now();
    keep(this.#inferences, now - began);
    this.#guard?.check();
    const least = Math.min(WEAK, config.confidence);
    const found = model.read(outputs, placement, picture, least, MAX_DETECTIONS);
    const forget = Math.max(FORGET_S, FORGET_PICTURES / (this.#pace?.hz ?? 1));
    const ids = this.#tracker.update(found, header.at_us / 1e6, forget);
    const seen = { sure: new Set<number>(), weak: new Set<number>() };
    for (const [at, track] of ids.entries()) {
      const isSure = (found[at]?.score ?? 0) >= config.confidence;
      if (track !== null) seen[isSure ? 'sure' : 'weak'].add(track);
    }
    this.#target.update(seen.sure, seen.weak, now, forget * 1000);
    const target = this.#target.state(now);
    const latency = Number(process.hrtime.bigint() / 1000n) / 1000 - header.at_us / 1000;
    this.#batch = {
      v: 1,
      source: 'svc-vision',
      model_id: id,
      camera_id: CAMERA_ID,
      frame_id: header.frame_id,
      ts_ms: header.captured_at_ms,
      frame_width: header.frame_width,
      frame_height: header.frame_height,
      latency_ms: round(latency),
      detections: found.flatMap((each, at) => {
        const track = ids[at] ?? null;
        const isTarget = target !== null && track === target.track_id;
        return each.score >= config.confidence || isTarget
          ? [this.#detection(each, track, isTarget ? target : null)]
          : [];
      }),
    };
    keep(this.#latencies, latency);
    this.#times.push(now);
    this.#frames++;
    if (this.#frames === GOOD_PICTURES) await trouble.over();
    this.#server.tell('batch', this.#batch);
    if (JSON.stringify(target) !== this.#toldTarget) this.#tell();
    this.#enter('running');
  }

  #detection(found: DetectedBox, track: number | null, target: Designated | null): Detection {
    const { x, y, width, height, kind, score } = found;
    return {
      bbox: {
        x: round(x),
        y: round(y),
        width: Math.max(0.1, round(width)),
        height: Math.max(0.1, round(height)),
      },
      class_label: this.#labels[kind] ?? `class ${kind}`,
      confidence: Math.round(score * 1000) / 1000,
      track_id: track,
      lock_state: target?.lock_state ?? null,
    };
  }

  #designate(wanted: {
    readonly bbox?: BBox;
    readonly track_id?: number;
    readonly class_label?: string;
  }): Designated {
    const newest = this.#times.at(-1);
    const now = performance.now();
    const forgetMs = Math.max(FORGET_S, FORGET_PICTURES / (this.#pace?.hz ?? 1)) * 1000;
    const there = newest !== undefined && now - newest <= forgetMs ? (this.#batch?.detections ?? []) : [];
    const { bbox: box, track_id: number, class_label: label } = wanted;
    const likeness = ({ bbox, track_id }: Detection): number =>
      box === undefined ? Number(track_id === number) : overlap(bbox, box);
    const best = there
      .filter(
        ({ class_label, track_id }) => track_id !== null && (label === undefined || label === class_label),
      )
      .map((detection) => ({ detection, like: likeness(detection) }))
      .toSorted((a, b) => b.like - a.like)[0];
    const track = best?.detection.track_id ?? null;
    if (best === undefined || track === null || best.like < LEAST_DESIGNATED)
      throw new ApiError('E_NOT_FOUND', 'Nothing that was detected is there in the newest picture.');
    this.#target.point(track, now, forgetMs);
    this.#tell();
    return { track_id: track, lock_state: 'locked' };
  }

  #tick(): void {
    const newest = this.#times.at(-1);
    const late = WAITING_MS + 1000 / (this.#pace?.hz ?? 1);
    if (this.#state === 'running' && (newest === undefined || performance.now() - newest > late))
      this.#enter('waiting', 'No picture comes from svc-video.');
    else this.#tell();
  }

  #enter(state: DetectorState, problem: string | null = null): void {
    const isNew = state !== this.#state || problem !== this.#lastError;
    this.#state = state;
    this.#lastError = problem;
    if (isNew) this.#tell();
  }

  #tell(): void {
    const status = this.status();
    this.#toldTarget = JSON.stringify(status.designated);
    this.#server.tell('status', status);
  }
}

function keep(figures: number[], next: number): void {
  figures.push(next);
  if (figures.length > FIGURES) figures.shift();
}

/** To a tenth. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function rounded(value: number | null): number | null {
  return value === null ? null : round(value);
}
