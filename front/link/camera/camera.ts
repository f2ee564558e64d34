import type { MavLinkData } from 'node-mavlink';
import { type Rate, TokenBucket } from '../../../shared/async/token-bucket.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { COMMAND_AT } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import {
  CAMERA_MS,
  type CameraAction,
  type CameraDone,
  type CameraRequest,
  type CameraState,
} from '../../../shared/rpc/camera.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';
import { MAX_FOLLOWED } from '../../../shared/rpc/video.ts';
import type { Clock, Timer } from '../clock.ts';
import { Encoder, type Target } from '../encode.ts';
import type { Methods, Part } from '../part.ts';
import type { FrameTarget } from '../router/addresses.ts';
import type { Asker, OwnComponent, Router } from '../router/router.ts';
import type { Signer } from '../signer.ts';
import * as frames from './camera-frames.ts';

/** MAV_COMP_ID_CAMERA to MAV_COMP_ID_CAMERA6. */
const COMPONENTS = [100, 101, 102, 103, 104, 105] as const;
/** MAV_TYPE_CAMERA */
const TYPE_CAMERA = 30;
const SEVERITY_WARNING = 4;
const TEXT_CHARS = 50;
/** An older position is not where a picture was taken. */
const PLACE_S = 3;

/** MAV_CMD */
const CMD = {
  REQUEST_MESSAGE: 512,
  IMAGE_START_CAPTURE: 2000,
  VIDEO_START_CAPTURE: 2500,
  VIDEO_STOP_CAPTURE: 2501,
} as const;

const MESSAGE = {
  INFORMATION: 259,
  SETTINGS: 260,
  STORAGE: 261,
  CAPTURE_STATUS: 262,
  STREAM_INFORMATION: 269,
  STREAM_STATUS: 270,
} as const;

/** The deprecated commands that ask for one message each, and ground stations still send. */
const REQUESTS: ReadonlyMap<number, number> = new Map([
  [521, MESSAGE.INFORMATION],
  [522, MESSAGE.SETTINGS],
  [525, MESSAGE.STORAGE],
  [527, MESSAGE.CAPTURE_STATUS],
  [2504, MESSAGE.STREAM_INFORMATION],
  [2505, MESSAGE.STREAM_STATUS],
]);
const MESSAGES: ReadonlySet<number> = new Set(Object.values(MESSAGE));

const ACTIONS: ReadonlyMap<number, CameraAction> = new Map([
  [CMD.IMAGE_START_CAPTURE, 'picture'],
  [CMD.VIDEO_START_CAPTURE, 'record_start'],
  [CMD.VIDEO_STOP_CAPTURE, 'record_stop'],
]);

/** MAV_RESULT */
const RESULT = { ACCEPTED: 0, TEMPORARILY_REJECTED: 1, DENIED: 2, UNSUPPORTED: 3, FAILED: 4 } as const;
/** Errors that another time may not have. */
const PASSING: ReadonlySet<string> = new Set([
  'E_RECORDING_ACTIVE',
  'E_RECORDING_NOT_ACTIVE',
  'E_NO_FRAME',
  'E_NO_PIPELINE',
]);

/** Whoever reaches an endpoint could fill the disk otherwise. Stopping needs no limit. */
const CAPTURES: Rate = { perSecond: 1, burst: 1 };
/** Longer than svc-residual's own time-outs. */
const ACTION_MS = 8000;

interface Pending {
  readonly id: number;
  readonly command: number;
  readonly from: Target;
  readonly asker: Asker;
  readonly timer: Timer;
}

interface CameraOptions {
  readonly clock: Clock;
  /** Encodes as the camera; the link gives it the system id and the key. */
  readonly encoder: Encoder;
  /** With which the node signs what it sends the vehicle; null: the vehicle wants no signatures. */
  readonly signer: () => Signer | null;
  /** Frames of endpoints are signed by the node: they need not be. */
  readonly signEndpoints: boolean;
  /** Who is heard, and the way to every endpoint: nothing of a camera goes to the flight controller. */
  readonly router: Pick<Router, 'knows' | 'groundStations' | 'broadcast' | 'play'>;
  /** The vehicle whose camera it is; null before it is known. */
  readonly vehicle: () => Target | null;
  readonly telemetry: () => Telemetry;
  /** Hands an action to svc-residual, which answers with `done`. */
  readonly ask: (request: CameraRequest) => void;
}

/**
 * The node's video as a MAVLink camera (docs/contract/video.md), by https://mavlink.io/en/services/camera.html. svc-residual tells
 * what camera there is, and carries out what ground stations ask for; this side knows MAVLink. A camera that the vehicle has
 * already keeps its component id: ours takes the next.
 */
export class Camera implements OwnComponent, Part {
  readonly methods = {
    camera: ({ camera }) => this.#tell(camera),
    camera_done: (done) => this.#done(done),
  } satisfies Methods;
  readonly #options: CameraOptions;
  readonly #payload = new Payload();
  readonly #captures: Readonly<Record<CameraAction, TokenBucket | null>>;
  readonly #pending = new Map<CameraAction, Pending>();
  #state: CameraState | null = null;
  #toldAt = -Infinity;
  /** Ours on the link; null before the first heartbeat. */
  #component: number | null = null;
  #pictures = 0;
  #nextId = 1;

  constructor(options: CameraOptions) {
    this.#options = options;
    const now = options.clock.now();
    this.#captures = {
      picture: new TokenBucket(CAPTURES, now),
      record_start: new TokenBucket(CAPTURES, now),
      record_stop: null,
    };
    options.router.play(this);
  }

  /** The RPC method `camera`. */
  #tell(state: CameraState | null): { ground_stations: readonly string[] } {
    const before = this.#state;
    this.#state = state;
    this.#toldAt = this.#options.clock.now();
    if (before !== null && state !== null && (before.recording_ms === null) !== (state.recording_ms === null))
      this.#announce(this.#captureStatus(state));
    return { ground_stations: this.#stations() };
  }

  /** The RPC method `camera_done`; one that comes too late is ignored. */
  #done({ id, problem, picture }: CameraDone): { done: true } {
    for (const [action, { id: waiting }] of this.#pending) {
      if (waiting === id) this.#settle(action, problem, picture);
    }
    return { done: true };
  }

  /** Once a second. @returns whether endpoints see a camera */
  beat(): boolean {
    const { encoder, vehicle, router } = this.#options;
    const target = vehicle();
    if (this.#present === null || target === null) return false;
    const free = COMPONENTS.find((component) => !router.knows({ system: target.system, component }));
    this.#component = free ?? null; // null: there are six cameras already
    if (free === undefined) return false;
    encoder.component = free;
    router.broadcast(encoder.heartbeat(TYPE_CAMERA));
    return true;
  }

  stop(): void {
    for (const { timer } of this.#pending.values()) timer.cancel();
    this.#pending.clear();
  }

  isFor({ system, component }: FrameTarget): boolean {
    if (component !== this.#component || this.#present === null) return false;
    return system === this.#options.vehicle()?.system;
  }

  accepts(frame: Frame): boolean {
    const { signEndpoints } = this.#options;
    const signer = this.#options.signer();
    if (signer === null || signEndpoints) return true;
    return frame.signed && signer.verifies(frame);
  }

  receive(frame: Frame, target: FrameTarget, asker: Asker): void {
    if (frame.id !== MSG.COMMAND_LONG && frame.id !== MSG.COMMAND_INT) return;
    const addressed = this.isFor(target);
    const state = this.#present;
    if (state === null || this.#component === null || (!addressed && !this.#isForAll(target))) return;
    const payload = this.#payload.load(frame);
    const command = payload.u16(COMMAND_AT);
    const from = { system: frame.system, component: frame.component };
    const wanted = command === CMD.REQUEST_MESSAGE ? payload.f32(0) : REQUESTS.get(command);
    if (wanted !== undefined && (addressed || MESSAGES.has(wanted))) {
      this.#request(wanted, command, from, asker, state);
      return;
    }
    if (!addressed) return; // for whoever else is there
    const action = ACTIONS.get(command);
    if (action === undefined) this.#ack(asker, from, command, RESULT.UNSUPPORTED);
    // Only single pictures: total count in the third parameter, 0 for a sequence without an end.
    else if (action === 'picture' && payload.f32(8) !== 1) {
      this.#ack(asker, from, command, RESULT.DENIED);
      this.#say(asker, 'one picture at a time (param3 = 1)');
    } else this.#act(action, command, from, asker);
  }

  /** The camera while it is there. */
  get #present(): CameraState | null {
    return this.#options.clock.now() - this.#toldAt < CAMERA_MS ? this.#state : null;
  }

  #isForAll({ system, component }: FrameTarget): boolean {
    const vehicle = this.#options.vehicle();
    return vehicle !== null && component === 0 && (system === 0 || system === vehicle.system);
  }

  /** Those that are followed, if any is. */
  #stations(): readonly string[] {
    return this.#options.router.groundStations.slice(0, MAX_FOLLOWED);
  }

  /** What reaches this ground station; null: nothing does. */
  #streamFor({ host }: Asker, { outputs, follow_port: port }: CameraState): frames.Stream | null {
    if (host === null) return null;
    const there = outputs.filter(({ address }) => address === host);
    const sent = there.filter(({ sending }) => sending);
    const found = sent.find(({ kind }) => kind === 'rtp') ?? sent[0];
    if (found !== undefined) return found;
    // svc-video has it within a second; what it refuses is among its outputs.
    const begins = port !== null && !there.some((output) => output.kind === 'rtp' && output.port === port);
    return begins && this.#stations().includes(host) ? { kind: 'rtp', port } : null;
  }

  #request(wanted: number, command: number, from: Target, asker: Asker, state: CameraState): void {
    const message = this.#messageOf(wanted, asker, state);
    if (typeof message === 'number') {
      this.#ack(asker, from, command, message);
      return;
    }
    this.#ack(asker, from, command, RESULT.ACCEPTED);
    asker.answer(this.#options.encoder.message(message));
  }

  /** @returns the message, or the MAV_RESULT of the refusal */
  #messageOf(wanted: number, asker: Asker, state: CameraState): MavLinkData | number {
    const at = this.#uptime;
    const stream = this.#streamFor(asker, state);
    switch (wanted) {
      case MESSAGE.INFORMATION:
        return frames.information(at, state, stream);
      case MESSAGE.SETTINGS:
        return frames.settings(at);
      case MESSAGE.STORAGE:
        return frames.storage(at, state);
      case MESSAGE.CAPTURE_STATUS:
        return this.#captureStatus(state);
      case MESSAGE.STREAM_INFORMATION:
        return stream === null ? RESULT.TEMPORARILY_REJECTED : frames.streamInformation(state, stream);
      case MESSAGE.STREAM_STATUS:
        return stream === null ? RESULT.TEMPORARILY_REJECTED : frames.streamStatus(state);
      default:
        return RESULT.UNSUPPORTED;
    }
  }

  #act(action: CameraAction, command: number, from: Target, asker: Asker): void {
    const { clock, ask } = this.#options;
    const waiting = this.#pending.get(action);
    if (waiting !== undefined) {
      // A repetition gets the answer of the first; somebody else has to wait.
      const same = waiting.from.system === from.system && waiting.from.component === from.component;
      if (!same) this.#ack(asker, from, command, RESULT.TEMPORARILY_REJECTED);
      return;
    }
    if (this.#captures[action]?.take(clock.now()) === false) {
      this.#ack(asker, from, command, RESULT.TEMPORARILY_REJECTED);
      return;
    }
    const id = this.#nextId++;
    const timer = clock.after(ACTION_MS, () =>
      this.#settle(action, { code: 'E_TIMEOUT', detail: 'no answer in time' }, null),
    );
    this.#pending.set(action, { id, command, from, asker, timer });
    ask({ id, action });
  }

  #settle(action: CameraAction, problem: CameraDone['problem'], picture: CameraDone['picture']): void {
    const pending = this.#pending.get(action);
    if (pending === undefined) return;
    this.#pending.delete(action);
    const { timer, asker, from, command } = pending;
    timer.cancel();
    this.#ack(asker, from, command, problem === null ? RESULT.ACCEPTED : resultOf(problem.code));
    if (problem !== null) this.#say(asker, problem.detail);
    if (picture === null) return;
    this.#announce(frames.imageCaptured(this.#uptime, this.#place, this.#pictures, picture));
    this.#pictures++;
  }

  #captureStatus(state: CameraState): MavLinkData {
    return frames.captureStatus(this.#uptime, state, this.#pictures, this.#pending.has('picture'));
  }

  /** Where the vehicle is; null if that is not known at the moment. */
  get #place(): frames.Place | null {
    const { ages, position } = this.#options.telemetry();
    const isThere = ages.position !== null && ages.position <= PLACE_S && position.state !== 'lost';
    return isThere ? position : null;
  }

  get #uptime(): number {
    return Math.round(this.#options.clock.now());
  }

  #ack(asker: Asker, from: Target, command: number, result: number): void {
    asker.answer(this.#options.encoder.message(frames.commandAck(from, command, result)));
  }

  #say(asker: Asker, why: string): void {
    asker.answer(this.#options.encoder.statusText(SEVERITY_WARNING, `camera: ${why}`.slice(0, TEXT_CHARS)));
  }

  #announce(message: MavLinkData): void {
    const { router, encoder } = this.#options;
    router.broadcast(encoder.message(message));
  }
}

function resultOf(code: string): number {
  if (PASSING.has(code)) return RESULT.TEMPORARILY_REJECTED;
  return code === 'E_DISK_FULL' ? RESULT.DENIED : RESULT.FAILED;
}
