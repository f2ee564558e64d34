import { ardupilotmega, common, type MavLinkData, MavLinkProtocolV2, minimal } from 'node-mavlink';
import { Link } from '../../front/link/link.ts';
import type { ParamStore } from '../../front/link/params/param-store.ts';
import type { LinkOptions, Parts } from '../../front/link/parts.ts';
import {
  newTransportCounters,
  type Transport,
  type TransportEvents,
} from '../../front/link/sources/transport.ts';
import { linkState } from '../../front/link/state.ts';
import type { CommandName } from '../../shared/flight/command-catalogue.ts';
import { frameCrc } from '../../shared/mavlink/crc.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import type { CameraRequest } from '../../shared/rpc/camera.ts';
import type { CommandRequest } from '../../shared/rpc/link.ts';
import type { CommandResult } from '../../shared/rpc/link-answers.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { attitude, autopilotVersion, commandAck, encodeAs, heartbeat } from './mavlink-samples.ts';

export const SILENT_LOG = createLogger('test', 'silent');

/** One message that the link sent to the vehicle. */
export interface Sent {
  readonly id: number;
  readonly system: number;
  readonly component: number;
  readonly at: number;
  readonly fields: Readonly<Record<string, number | string>>;
  /** With the zero bytes that v2 cuts off. */
  readonly payload: Buffer;
}

const REGISTRY: Readonly<Record<number, new () => MavLinkData>> = {
  ...common.REGISTRY,
  ...ardupilotmega.REGISTRY,
  ...minimal.REGISTRY,
};

function padded(frame: Frame): Buffer {
  const payload = Buffer.alloc(256);
  frame.buffer.copy(payload, 0, frame.payloadStart, frame.payloadStart + frame.payloadLength);
  return payload;
}

/** What node-mavlink reads in a frame of ours. */
export function read(frame: Frame): Sent['fields'] {
  const clazz = REGISTRY[frame.id];
  if (clazz === undefined) return {}; // newer than node-mavlink
  const fields = new MavLinkProtocolV2().data(padded(frame), clazz as never);
  return Object.fromEntries(Object.entries(fields));
}

/** PX4's custom_mode that a command leads to; null: it changes none. */
function modeOf({ command, _param2: main, _param3: sub }: Sent['fields']): number | null {
  if (command === 176) return ((Number(main) << 16) | (Number(sub) << 24)) >>> 0;
  return PX4_MODES.get(Number(command)) ?? null;
}

/** By MAV_CMD. */
const PX4_MODES: ReadonlyMap<number, number> = new Map([
  [21, 0x0604_0000],
  [22, 0x0204_0000],
  [34, 0x0103_0000],
  [192, 0x0304_0000],
  [300, 0x0404_0000],
]);

/** A transport whose other end is the test. */
export class MemoryTransport implements Transport {
  open = false;
  readonly baud = null;
  readonly counters = newTransportCounters();
  readonly #onFrame: Framer;
  #events: TransportEvents | null = null;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = new Framer(onFrame);
  }

  get port(): string | null {
    return this.open ? 'memory' : null;
  }

  start(events: TransportEvents): void {
    this.#events = events;
    this.connect();
  }

  async stop(): Promise<void> {
    this.#events = null;
    this.open = false;
  }

  write(bytes: Uint8Array): boolean {
    if (!this.open) return false;
    this.counters.txFrames++;
    this.counters.txBytes += bytes.length;
    this.#onFrame.push(bytes, 0);
    return true;
  }

  connect(): void {
    this.open = true;
    this.#events?.onOpen();
  }

  drop(): void {
    this.open = false;
    this.#events?.onClose();
  }

  deliver(bytes: Uint8Array): void {
    this.#events?.onData(bytes);
  }
}

export interface RigOptions {
  readonly system?: number;
  readonly type?: number;
  readonly autopilot?: number;
  readonly customMode?: number;
  /** PX4: its heartbeats show the mode that an accepted command leads to; true unless said. */
  readonly follows?: boolean;
  /** Answers COMMAND_LONG 511 with ACCEPTED by itself, so that stream requests stay out of the way. */
  readonly ackStreams?: boolean;
  /** What it answers as AUTOPILOT_VERSION; null: nothing. */
  readonly version?: { readonly capabilities?: number; readonly uid?: number } | null;
  readonly store?: ParamStore;
  /** `flight.max_goto_m`; any distance unless said. */
  readonly maxGotoM?: number;
  readonly onCameraRequest?: (request: CameraRequest) => void;
  readonly tlog?: LinkOptions['tlog'];
  readonly remoteId?: LinkOptions['remoteId'];
  /** `mavlink.system`, the vehicle of the process before, and what is kept of this one. */
  readonly chosen?: Pick<LinkOptions, 'system' | 'formerVehicle' | 'onVehicle'>;
}

/** A Link with a fake clock and a scripted vehicle. Everything that the vehicle says goes out after what the link does. */
export class Rig {
  readonly clock = new FakeClock();
  readonly sent: Sent[] = [];
  readonly states: LinkState[] = [];
  /** Sentences that the link logged. */
  readonly logged: string[] = [];
  readonly transport: MemoryTransport;
  readonly link: Link;
  /** Its RPC methods. */
  readonly calls: Parts['methods'];
  system: number;
  armed = false;
  customMode: number;
  /** Called for each message of the link, after it has gone out. */
  onSent: (sent: Sent) => void = () => undefined;
  readonly #options: RigOptions;
  #seq = 0;
  /** Where its last order leads to. */
  #ordered: number | null = null;

  constructor(options: RigOptions = {}) {
    this.#options = options;
    this.system = options.system ?? 1;
    this.customMode = options.customMode ?? 0;
    this.transport = new MemoryTransport((frame) => this.#onFrame(frame));
    this.link = new Link({
      clock: this.clock,
      log: this.#logger(),
      transport: this.transport,
      source: 'memory',
      store: options.store ?? null,
      maxGotoM: options.maxGotoM ?? 0,
      ...(options.tlog === undefined ? {} : { tlog: options.tlog }),
      ...(options.remoteId === undefined ? {} : { remoteId: options.remoteId }),
      ...(options.onCameraRequest === undefined ? {} : { onCameraRequest: options.onCameraRequest }),
      ...options.chosen,
      onState: (state) => this.states.push(structuredClone(state)),
    });
    this.calls = this.link.parts.methods;
  }

  /** One whose vehicle is there. */
  static async met(options: RigOptions = {}): Promise<Rig> {
    const rig = new Rig(options);
    await rig.meet();
    await rig.live(500);
    return rig;
  }

  state(): LinkState {
    return linkState(this.link.parts);
  }

  /** Starts, and lets the vehicle be heard. */
  async meet(): Promise<void> {
    this.link.start();
    this.beat();
    await this.clock.advance(20);
  }

  /** The vehicle says something. */
  say(message: MavLinkData, system = this.system, component = 1): void {
    this.transport.deliver(encodeAs(message, 'v2', this.#seq++ & 0xff, system, component));
    if (
      this.#ordered === null ||
      !(message instanceof common.CommandAck) ||
      message.result !== common.MavResult.ACCEPTED
    )
      return;
    this.customMode = this.#ordered;
    this.#ordered = null;
  }

  /** A PARAM_VALUE whose four bytes of value are given, because as a float they may be a NaN. */
  sayRaw(message: MavLinkData, bits: number): void {
    const frame = encodeAs(message, 'v2', this.#seq++ & 0xff, this.system, 1);
    frame.writeUInt32LE(bits, 10);
    const crcAt = frame.length - 2;
    frame.writeUInt16LE(frameCrc(frame, 1, crcAt, crcExtraOf(22)), crcAt);
    this.transport.deliver(frame);
  }

  beat(): void {
    const { type = 2, autopilot = 3 } = this.#options;
    this.say(heartbeat({ armed: this.armed, customMode: this.customMode, type, autopilot }));
  }

  /** Time passes, with a heartbeat of the vehicle every 500 ms. */
  async live(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      await this.clock.advance(Math.min(500, left));
      this.beat();
    }
    await settle();
  }

  /** Runs a command until its answer is there. */
  async command(
    cmd: CommandName,
    args: CommandRequest['args'] = [],
    timeout?: number,
  ): Promise<CommandResult> {
    const params = timeout === undefined ? { cmd, args } : { cmd, args, timeout_ms: timeout };
    let over = false;
    const running = this.calls.command(params).finally(() => {
      over = true;
    });
    running.catch(() => undefined); // it is awaited below, when the clock has moved
    const isOver = (): boolean => over;
    for (let waited = 0; waited < 30_000 && !isOver(); waited += 50) {
      if (waited % 500 === 0) this.beat();
      await this.clock.advance(50);
    }
    if (!isOver()) throw new Error(`${cmd} had no answer`);
    return running;
  }

  /** COMMAND_LONG and COMMAND_INT of the given MAV_CMD that went out. */
  commands(command: number): Sent[] {
    return this.sent.filter(({ id, fields }) => (id === 75 || id === 76) && fields['command'] === command);
  }

  attitude(bootMs: number): void {
    this.say(attitude(bootMs));
  }

  #logger(): Logger {
    const write = (sentence: string): void => {
      this.logged.push(sentence);
    };
    return { info: write, warn: write, error: write } as unknown as Logger;
  }

  #onFrame(frame: Frame): void {
    const { id, system, component } = frame;
    const sent = { id, system, component, at: this.clock.now(), fields: read(frame), payload: padded(frame) };
    this.sent.push(sent);
    const { autopilot, follows = true } = this.#options;
    if (autopilot === 12 && follows && (id === 75 || id === 76)) this.#ordered = modeOf(sent.fields);
    // Not from within the link's own call: a real vehicle answers later.
    queueMicrotask(() => {
      if (this.#options.ackStreams !== false && id === 76 && sent.fields['command'] === 511) {
        this.say(commandAck(511, 0, system));
      }
      const { version = {} } = this.#options;
      if (version !== null && id === 76 && sent.fields['command'] === 512 && sent.fields['_param1'] === 148) {
        this.say(autopilotVersion(version));
      }
      this.onSent(sent);
    });
  }
}
