import { type Classification, classOf, type OperatorPlace } from '../../../shared/flight/remote-id.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { RemoteIdState } from '../../../shared/rpc/link-answers.ts';
import type { Clock } from '../clock.ts';
import type { Encoder, Target } from '../encode.ts';
import type { Methods, Part } from '../part.ts';

/** The specification asks for each second (ASTM F3411); ArduPilot gives a SYSTEM up after 3 s. */
const PERIOD_MS = 1000;
/** ARM_STATUS comes once a second. */
const HEARD_MS = 5000;
/** A page that was closed says nothing any more: the operator may have gone on. */
const LIVE_MS = 300_000;
/** MAV_ODID_ARM_STATUS_GOOD_TO_ARM */
const GOOD_TO_ARM = 0;
const ERROR_CHARS = 50;
/** MAV_ODID_OPERATOR_LOCATION_TYPE */
const [TAKEOFF, LIVE, FIXED] = [0, 1, 2] as const;
/** The timestamp of OPEN_DRONE_ID_SYSTEM counts seconds from 2019-01-01. */
const EPOCH_MS = Date.UTC(2019, 0, 1);
const UNKNOWN_ALT = -1000;

export interface RemoteIdOptions {
  readonly operatorId: string;
  readonly selfId: string;
  readonly classification: Classification;
  /** Of the config; null: none. */
  readonly place: OperatorPlace | null;
}

interface RemoteIdTools {
  readonly clock: Clock;
  readonly encoder: Encoder;
  readonly send: (bytes: Buffer) => boolean;
  /** The autopilot, null before its first heartbeat. */
  readonly autopilot: () => Target | null;
}

/**
 * Tells the Remote ID transmitter on the vehicle's side who flies and from where, and remembers what it says about that. Nothing
 * is sent to a vehicle without one, unless the operator has set something up.
 */
export class RemoteId implements Part {
  readonly methods = {
    remote_id: () => this.#state,
    remote_id_place: (place) => {
      this.#live = { place, at: this.#tools.clock.now() };
      return this.#state;
    },
  } satisfies Methods;
  readonly #tools: RemoteIdTools;
  readonly #options: RemoteIdOptions;
  readonly #payload = new Payload();
  #heard: {
    readonly system: number;
    readonly component: number;
    readonly at: number;
    readonly status: number;
    readonly error: string;
  } | null = null;
  /** Where the operator stands now, and since when. */
  #live: { readonly place: OperatorPlace; readonly at: number } | null = null;
  #sentAt = -Infinity;

  constructor(tools: RemoteIdTools, options: RemoteIdOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  /** Another vehicle on that side has a transmitter of its own. */
  onFrame(frame: Frame): void {
    if (frame.id !== MSG.OPEN_DRONE_ID_ARM_STATUS) return;
    if (frame.system !== this.#tools.autopilot()?.system) return;
    const payload = this.#payload.load(frame);
    this.#heard = {
      system: frame.system,
      component: frame.component,
      at: this.#tools.clock.now(),
      status: payload.u8(0),
      error: payload.text(1, ERROR_CHARS).trim(),
    };
  }

  get #state(): RemoteIdState {
    const heard = this.#transmitter();
    const now = this.#tools.clock.now();
    const ready = heard?.status === GOOD_TO_ARM;
    return {
      state: heard === null ? 'absent' : ready ? 'ready' : 'not_ready',
      reasons: heard === null || ready || heard.error === '' ? [] : [heard.error],
      operator_id_set: this.#options.operatorId !== '',
      operator_place: this.#place().kind,
      transmitter:
        heard === null
          ? null
          : {
              system: heard.system,
              component: heard.component,
              age_s: Math.round((now - heard.at) / 100) / 10,
            },
    };
  }

  /** What keeps it from being ready, in its own words; null: nothing, or there is none. */
  get problem(): string | null {
    const heard = this.#transmitter();
    if (heard === null || heard.status === GOOD_TO_ARM) return null;
    return heard.error === '' ? 'Remote ID is not ready' : `Remote ID: ${heard.error}`;
  }

  /** Called several times a second. */
  tick(): void {
    const now = this.#tools.clock.now();
    if (now - this.#sentAt < PERIOD_MS) return;
    const target = this.#tools.autopilot();
    if (target === null || !this.#isWanted()) return;
    this.#sentAt = now;
    const { encoder, send } = this.#tools;
    const { operatorId, selfId } = this.#options;
    // To every component: ArduPilot passes them on to the transmitter that it knows, and others sit on the link themselves.
    const all = { system: target.system, component: 0 };
    if (operatorId !== '')
      send(encoder.frame(MSG.OPEN_DRONE_ID_OPERATOR_ID, textPayload(all, operatorId, 43)));
    if (selfId !== '') send(encoder.frame(MSG.OPEN_DRONE_ID_SELF_ID, textPayload(all, selfId, 46)));
    send(encoder.frame(MSG.OPEN_DRONE_ID_SYSTEM, this.#system(all)));
  }

  #isWanted(): boolean {
    const { operatorId, selfId, classification } = this.#options;
    const set = operatorId !== '' || selfId !== '' || classification !== 'undeclared';
    return set || this.#place().kind !== null || this.#transmitter() !== null;
  }

  #transmitter() {
    const heard = this.#heard;
    return heard === null || this.#tools.clock.now() - heard.at > HEARD_MS ? null : heard;
  }

  #place(): { readonly kind: RemoteIdState['operator_place']; readonly place: OperatorPlace | null } {
    const live = this.#live;
    if (live !== null && this.#tools.clock.now() - live.at <= LIVE_MS)
      return { kind: 'live', place: live.place };
    const { place } = this.#options;
    return { kind: place === null ? null : 'fixed', place };
  }

  /** OPEN_DRONE_ID_SYSTEM; 0, 0 is "not known". */
  #system({ system, component }: Target): Buffer {
    const { kind, place } = this.#place();
    const [type, category, euClass] = classOf(this.#options.classification);
    const seconds = Math.floor((this.#tools.clock.wall() - EPOCH_MS) / 1000);
    const payload = Buffer.alloc(54);
    payload.writeInt32LE(Math.round((place?.lat ?? 0) * 1e7), 0);
    payload.writeInt32LE(Math.round((place?.lon ?? 0) * 1e7), 4);
    payload.writeFloatLE(UNKNOWN_ALT, 8); // ceiling and floor of an area: this is one aircraft
    payload.writeFloatLE(UNKNOWN_ALT, 12);
    payload.writeFloatLE(place?.alt ?? UNKNOWN_ALT, 16);
    payload.writeUInt32LE(Math.max(0, seconds), 20); // 0: a clock that was never set
    payload.writeUInt16LE(1, 24);
    payload.writeUInt8(system, 28);
    payload.writeUInt8(component, 29);
    payload.writeUInt8(kind === 'live' ? LIVE : kind === 'fixed' ? FIXED : TAKEOFF, 50);
    payload.writeUInt8(type, 51);
    payload.writeUInt8(category, 52);
    payload.writeUInt8(euClass, 53);
    return payload;
  }
}

/** OPEN_DRONE_ID_OPERATOR_ID and _SELF_ID: kind 0, which is the operator's number, and a text. */
function textPayload({ system, component }: Target, text: string, length: number): Buffer {
  const payload = Buffer.alloc(length);
  payload.writeUInt8(system, 0);
  payload.writeUInt8(component, 1);
  payload.write(text, 23, 'latin1');
  return payload;
}
