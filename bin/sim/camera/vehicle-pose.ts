import { setTimeout as delay } from 'node:timers/promises';
import { deferred } from '../../../shared/async/deferred.ts';
import type { LandscapePlace } from '../../../shared/landscape/place.ts';
import { clientOf } from '../../../shared/rpc/contract.ts';
import { LINK } from '../../../shared/rpc/link.ts';
import type { LinkState } from '../../../shared/rpc/link-state.ts';
import { Smooth } from './landscape/smooth.ts';
import type { Pose } from './landscape/view.ts';

/** svc-link tells its state to whoever connects. */
const LINK_MS = 500;
const POSITION_S = 0.12;
const ATTITUDE_S = 0.14;

/** Where the vehicle is and how it is held, as svc-link tells, in between as well. While nothing is heard it stands on the pad. */
export class VehiclePose {
  readonly #client;
  readonly #now: () => number;
  readonly #place: LandscapePlace;
  readonly #told = deferred();
  readonly #e = new Smooth(POSITION_S);
  readonly #n = new Smooth(POSITION_S);
  readonly #up = new Smooth(POSITION_S);
  readonly #roll = new Smooth(ATTITUDE_S, true);
  readonly #pitch = new Smooth(ATTITUDE_S, true);
  readonly #yaw = new Smooth(ATTITUDE_S, true);
  /** When the newest message of each kind was received, seconds. */
  #positionAt = -Infinity;
  #attitudeAt = -Infinity;

  /** @param path of `link.sock`, null: there is no vehicle. @param place where the landscape lies. @param now monotonic, seconds */
  constructor(path: string | null, place: LandscapePlace, now: () => number) {
    this.#now = now;
    this.#place = place;
    const listeners = { state: (state: LinkState) => this.#hear(state) };
    this.#client = path === null ? null : clientOf(LINK, { path, listeners });
  }

  start(): void {
    this.#client?.start();
  }

  stop(): void {
    this.#client?.stop();
  }

  /** Resolves when svc-link has told where the vehicle is; after a moment without a word as well. */
  async heard(): Promise<void> {
    if (this.#client === null) return;
    await Promise.race([this.#told.promise, delay(LINK_MS, undefined, { ref: false })]);
  }

  /** At this moment. */
  read(): Pose {
    const now = this.#now();
    for (const each of [this.#e, this.#n, this.#up, this.#roll, this.#pitch, this.#yaw]) each.step(now);
    return {
      e: this.#e.value,
      n: this.#n.value,
      up: this.#up.value,
      roll: this.#roll.value,
      pitch: this.#pitch.value,
      yaw: this.#attitudeAt === -Infinity ? STANDING_YAW : this.#yaw.value,
    };
  }

  #hear({ telemetry }: LinkState): void {
    const now = this.#now();
    const { position, velocity, attitude, home, ages } = telemetry;
    const { lat, lon } = position;
    const positionAt = now - (ages.position ?? Infinity);
    if (lat !== null && lon !== null && positionAt > this.#positionAt + SAME_S) {
      this.#positionAt = positionAt;
      const known = home.lat === null || home.lon === null ? null : { lat: home.lat, lon: home.lon };
      const { e, n } = this.#place.locate({ lat, lon }, known);
      this.#e.tell(e, velocity.vy ?? 0, positionAt);
      this.#n.tell(n, velocity.vx ?? 0, positionAt);
      this.#up.tell(position.alt_rel ?? 0, -(velocity.vz ?? 0), positionAt);
    }
    const attitudeAt = now - (ages.attitude ?? Infinity);
    if (attitudeAt > this.#attitudeAt + SAME_S) {
      this.#attitudeAt = attitudeAt;
      this.#roll.tell(attitude.roll ?? 0, 0, attitudeAt);
      this.#pitch.tell(attitude.pitch ?? 0, 0, attitudeAt);
      this.#yaw.tell(attitude.yaw ?? 0, 0, attitudeAt);
    }
    this.#told.resolve();
  }
}

/** The same message, told again, seems to come a little earlier or later. */
const SAME_S = 0.02;
/** Towards the house. */
const STANDING_YAW = (-7 * Math.PI) / 180;
