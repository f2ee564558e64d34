import { createSocket } from 'node:dgram';
import { setTimeout as delay } from 'node:timers/promises';
import { deferred } from '../../../shared/async/deferred.ts';
import { messageOf } from '../../../shared/errors.ts';
import { LandscapePlace } from '../../../shared/landscape/place.ts';
import { systemVideoClock } from '../../../shared/media/picture.ts';
import { readControl, report } from '../../../shared/media/rtcp.ts';
import { RtpStream } from '../../../shared/media/rtp-stream.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { Film } from './film.ts';
import { Listeners } from './listeners.ts';
import type { CameraOptions } from './options.ts';
import { VehiclePose } from './vehicle-pose.ts';

const HOST = '127.0.0.1';
/** More than this in the kernel's queue, and pictures are dropped: about a second of video. */
const MAX_QUEUED_BYTES = 1024 * 1024;
/** Without a listener for so long, the encoder is closed: who looks now and then does not open it each time. */
const REST_MS = 5000;

/** A network camera on this machine: it draws, encodes and sends while somebody listens, and does nothing while nobody does. */
export class SimCamera {
  readonly #options: CameraOptions;
  readonly #log: Logger;
  readonly #clock = systemVideoClock();
  readonly #socket = createSocket('udp4');
  readonly #stopped = new AbortController();
  readonly #listeners = new Listeners();
  readonly #place = new LandscapePlace();
  readonly #film: Film;
  readonly #rtp = new RtpStream(Math.random);
  #come = deferred();
  #preparing = false;
  #done: Promise<void> = Promise.resolve();

  constructor(options: CameraOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
    const { width, height, fps, kbps } = options;
    this.#film = new Film(this.#clock, { width, height, fps, bitrate_kbps: kbps }, (sentence) =>
      log.info(`camera: ${sentence}`),
    );
  }

  /** @throws Error when the port is taken */
  async start(): Promise<void> {
    const bound = deferred();
    this.#socket.once('error', bound.reject);
    this.#socket.on('message', (datagram, from) => {
      const packet = readControl(datagram);
      if (packet === null) return;
      this.#listeners.hear(packet, from, this.#now);
      this.#come.resolve();
      // It is there, though it has no picture yet.
      if (this.#preparing) this.#socket.send(report(this.#rtp.ssrc), from.port, from.address);
    });
    this.#socket.bind(this.#options.port, HOST, bound.resolve);
    await bound.promise;
    this.#socket.off('error', bound.reject);
    this.#socket.on('error', (error) => this.#log.warn(`camera: ${messageOf(error)}`));
    this.#done = this.#run();
  }

  get port(): number {
    return this.#socket.address().port;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#come.resolve();
    await this.#done;
    this.#socket.close();
  }

  get #now(): number {
    return this.#clock.micros() / 1000;
  }

  get #isWatched(): boolean {
    return !this.#stopped.signal.aborted && this.#listeners.at(this.#now).length > 0;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#come = deferred();
      if (this.#isWatched) await this.#watched();
      else if (!(await this.#comesWithin(REST_MS))) {
        this.#film.rest();
        await this.#come.promise;
      }
    }
    this.#film.rest();
  }

  async #comesWithin(ms: number): Promise<boolean> {
    const over = new AbortController();
    const late = delay(ms, false, { signal: over.signal }).catch(() => false); // somebody has come
    const comes = await Promise.race([this.#come.promise.then(() => true), late]);
    over.abort();
    return comes;
  }

  /** Until nobody listens any more. */
  async #watched(): Promise<void> {
    const { link } = this.#options;
    const pose = new VehiclePose(link, this.#place, () => this.#now / 1000);
    pose.start();
    try {
      this.#preparing = true;
      await Promise.all([pose.heard(), this.#film.ready()]);
      this.#preparing = false;
      while (this.#isWatched) {
        await this.#send(pose);
        await delay(this.#film.wait / 1000);
      }
    } finally {
      this.#preparing = false;
      pose.stop();
    }
  }

  /** @throws Error if the encoder fails: the supervisor starts the camera anew */
  async #send(pose: VehiclePose): Promise<void> {
    for (const unit of await this.#film.next(pose.read(), this.#listeners.keyWanted)) {
      const isFull = this.#socket.getSendQueueSize() > MAX_QUEUED_BYTES;
      if (unit.key && !isFull) this.#listeners.onKey();
      const packets = this.#rtp.packets(unit);
      if (isFull) continue; // the sequence numbers tell of it
      for (const { address, port } of this.#listeners.at(this.#now))
        for (const packet of packets) this.#socket.send(packet, port, address);
    }
  }
}
