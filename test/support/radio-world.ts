import type { ChangeStore, OpenChange } from '../../front/control/radio/channel-change/change-file.ts';
import { ChannelChange } from '../../front/control/radio/channel-change/channel-change.ts';
import type {
  ChannelAnswer,
  ChannelRequest,
} from '../../front/control/radio/channel-change/channel-phases.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { VirtualClock } from './virtual-clock.ts';

export const [OLD, NEW] = [36, 149];
export const REVERT_MS = 5000;

/** How long things take, ms. */
const TUNE_MS = 50;
const WRITE_MS = 5;
const AIR_MS = 20;
const PING_MS = 2000;
const CONTROL_MS = 2000;
const NODE_MS = 6000;
const POWER_MS = 12_000;
/** svc-link was killed: so long nobody knows whether the vehicle is armed. */
const UNKNOWN_MS = 5000;

const never = async (): Promise<never> => new Promise<never>(() => undefined);

/** One end: its card, its disk, and svc-control, which can be killed at every step that it takes. */
export class End {
  readonly name: string;
  readonly #world: World;
  /** Where its card is; null while there is no power. */
  channel: number | null = OLD;
  tuning = false;
  /** In the configuration, with which the radio starts. */
  kept = OLD;
  disk: OpenChange | null = null;
  readonly refuses = new Map<number, string>();
  /** By its region. */
  forbidden: number | null = null;
  guardUnknownUntil = 0;
  /** When the other end was heard, svc-control to svc-control. */
  heardAt = new Map<string, number>();
  change: ChannelChange | null = null;
  #life = 0;
  readonly lines: string[] = [];

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
  }

  get isGround(): boolean {
    return this.name === 'ground';
  }

  async begin(): Promise<void> {
    const life = ++this.#life;
    const { clock, drones } = this.#world;
    const alive = (): boolean => life === this.#life;
    this.heardAt = new Map();
    /** What svc-control does to the world; the process may die before it, or after. */
    const step = async <T>(what: string, ms: number, effect: () => T): Promise<T> => {
      this.#world.step(`${this.name}: ${what}`);
      if (!alive()) return never();
      await clock.pause(ms);
      if (!alive()) return never();
      const result = effect();
      this.#world.step(`${this.name}: ${what}, done`);
      return alive() ? result : never();
    };
    const store: ChangeStore = {
      read: async () => this.disk,
      write: async (change) =>
        step(`writes ${change.settled ?? 'the file'}`, WRITE_MS, () => void (this.disk = change)),
      remove: async () =>
        this.disk === null ? undefined : step('removes the file', WRITE_MS, () => void (this.disk = null)),
    };
    const silentMs = (id: string): number | null => {
      const at = this.heardAt.get(id);
      return at === undefined ? null : clock.now() - at;
    };
    const words = (level: string) => (line: string) => void this.lines.push(`${level} ${line}`);
    const log = Object.assign(createLogger('test', 'silent'), {
      info: words('info'),
      warn: words('warn'),
      error: words('error'),
    });
    this.change = new ChannelChange({
      radio: {
        channel: async () => this.channel,
        mayUse: async (channel) => {
          if (channel === this.forbidden) throw new ApiError('E_RADIO_REFUSED', 'not in this region');
        },
        tune: async (channel) => {
          this.tuning = true;
          try {
            return await step(`tunes to ${channel}`, TUNE_MS, () => {
              const refusal = this.refuses.get(channel);
              if (refusal !== undefined) throw new ApiError('E_RADIO_REFUSED', refusal);
              if (this.channel !== null) this.channel = channel;
              return { frequency_mhz: 5000 + 5 * channel };
            });
          } finally {
            this.tuning = false;
          }
        },
        keepChannel: async (channel) => step(`keeps ${channel}`, WRITE_MS, () => void (this.kept = channel)),
      },
      bound: () =>
        this.isGround ? drones.map(({ name }) => ({ device_id: name })) : [{ device_id: 'ground' }],
      relay: this.isGround
        ? {
            health: (id) => ({ silentMs: silentMs(id) }),
            call: async (id, { body, timeoutMs }) => {
              const request = body as ChannelRequest & { readonly force?: boolean };
              this.#world.step(`ground: asks ${request.phase}`);
              if (!alive()) return never();
              const answer = await this.#world.carry(id, request, timeoutMs).catch((error: unknown) => error);
              this.#world.step(`ground: asked ${request.phase}`);
              if (!alive()) return never();
              if (answer instanceof Error) throw answer;
              this.heardAt.set(id, clock.now());
              return answer as { status: number; body: unknown };
            },
          }
        : null,
      groundSilentMs: () => silentMs('ground'),
      store,
      revertMs: REVERT_MS,
      clock: {
        now: () => clock.now(),
        pause: async (ms, signal) => {
          await clock.pause(ms, signal);
          if (!alive()) await never();
        },
      },
      log,
    });
    await this.change.start();
  }

  /** `kill -9` of svc-control, and its next start. */
  kill(afterMs = CONTROL_MS): void {
    if (this.channel === null) return; // nothing runs without power
    const killed = ++this.#life;
    this.change = null;
    this.tuning = false;
    this.#world.later(afterMs, async () => {
      if (killed === this.#life) await this.begin();
    });
  }

  killNode(): void {
    this.kill(NODE_MS);
  }

  /** The card comes back on the channel of the configuration. */
  cutPower(): void {
    if (this.channel === null) return;
    this.kill(POWER_MS);
    this.channel = null;
    this.#world.later(POWER_MS - CONTROL_MS, async () => {
      this.channel = this.kept;
    });
  }

  /** svc-link is killed. */
  killLink(): void {
    this.guardUnknownUntil = this.#world.clock.now() + UNKNOWN_MS;
  }

  refuse(channel: number, ms: number): void {
    this.refuses.set(channel, 'Device or resource busy (-16)');
    if (ms !== Infinity) this.#world.later(ms, async () => void this.refuses.delete(channel));
  }
}

/** A ground station and its drones, which hear each other while their cards are on one channel, on a clock of their own. */
export class World {
  readonly clock = new VirtualClock();
  readonly drones: readonly End[];
  readonly ground: End;
  /** Nothing is carried, or no answers are; wfb-ng's keepalive is heard all the same, which must mean nothing. */
  air: 'carries' | 'nothing' | 'no answers' = 'carries';
  readonly steps: string[] = [];
  readonly #times: (readonly [step: string, at: number])[] = [];
  /** A channel on which nothing is carried, for good. */
  deadChannel: number | null = null;
  /** One channel is heard on the other, as at arm's length. */
  leaks = false;
  /** Called at each step, with its number. */
  onStep: (number: number, what: string) => void = () => undefined;
  /** When everything that was broken works again, unless it is broken for good. */
  quietFrom = 0;

  constructor(drones = 1) {
    this.drones = Array.from(
      { length: drones },
      (_, index) => new End(`drone${index === 0 ? '' : index + 1}`, this),
    );
    this.ground = new End('ground', this);
  }

  get drone(): End {
    return this.drones[0] ?? this.ground;
  }

  get ends(): readonly End[] {
    return [...this.drones, this.ground];
  }

  async start(): Promise<void> {
    for (const end of this.ends) await end.begin();
    void this.#pings();
    await this.clock.until(() => false, PING_MS + 1000);
    this.steps.length = 0;
  }

  /** When something was done, each time, ms. */
  timesOf(what: string): readonly number[] {
    return this.#times.filter(([step]) => step === what).map(([, at]) => at);
  }

  step(what: string): void {
    this.steps.push(what);
    this.#times.push([what, this.clock.now()]);
    this.onStep(this.steps.length, what);
  }

  later(ms: number, work: () => Promise<void>): void {
    this.quietFrom = Math.max(this.quietFrom, this.clock.now() + ms);
    void this.clock.pause(ms).then(work);
  }

  loseRelay(how: 'nothing' | 'no answers', ms: number): void {
    this.air = how;
    this.later(ms, async () => void (this.air = 'carries'));
  }

  /** What an operator asks the ground station for; the error's words, or null if svc-control was killed meanwhile. */
  async ask(channel: number, forMs = 30_000): Promise<ChannelAnswer | string | null> {
    let answer: ChannelAnswer | string | null = null;
    this.ground.change?.request({ channel }).then(
      (value) => {
        answer = value;
      },
      (error: unknown) => {
        answer = messageOf(error);
      },
    );
    await this.clock.until(() => answer !== null || this.ground.change === null, forMs);
    return answer;
  }

  /** Whether both ends are on one channel, and both know that the change is over. */
  get isSettled(): boolean {
    return (
      this.ends.every(
        ({ channel, kept, disk, tuning }) =>
          channel === this.ground.channel && kept === channel && disk === null && !tuning,
      ) && this.ground.channel !== null
    );
  }

  /** A question of the ground station to a drone, and its answer. */
  async carry(
    id: string,
    request: ChannelRequest & { readonly force?: boolean },
    timeoutMs: number,
  ): Promise<{ status: number; body: unknown }> {
    const { clock } = this;
    const drone = this.drones.find(({ name }) => name === id);
    const end = clock.now() + timeoutMs;
    const lost = async (): Promise<never> => {
      await clock.pause(end - clock.now());
      throw new ApiError('E_TIMEOUT', 'no answer');
    };
    await clock.pause(AIR_MS);
    if (drone === undefined || !this.#reach(drone) || this.air === 'nothing') return lost();
    const { change } = drone;
    if (change === null) throw new ApiError('E_UPSTREAM_DOWN', 'no connection');
    drone.heardAt.set('ground', clock.now());
    const { force, ...asked } = request;
    if (force !== true && clock.now() < drone.guardUnknownUntil)
      return { status: 409, body: { detail: 'It is not known whether the vehicle is armed.' } };
    const said: { status: number; body: unknown }[] = [];
    change.request(asked).then(
      (body) => {
        said.push({ status: 200, body });
      },
      (error: unknown) => {
        said.push({ status: 409, body: { detail: messageOf(error) } });
      },
    );
    while (said.length === 0 && clock.now() < end) await clock.pause(5);
    const [answer] = said;
    if (answer === undefined || drone.change !== change || !this.#reach(drone) || this.air !== 'carries')
      return lost();
    await clock.pause(AIR_MS);
    return answer;
  }

  #reach(drone: End): boolean {
    const { ground } = this;
    if (ground.channel === this.deadChannel) return false;
    const hears = drone.channel === ground.channel || (this.leaks && ground.channel !== null);
    return drone.channel !== null && hears && !drone.tuning && !ground.tuning;
  }

  async #pings(): Promise<void> {
    for (;;) {
      for (const drone of this.drones) {
        if (
          !this.#reach(drone) ||
          this.air === 'nothing' ||
          drone.change === null ||
          this.ground.change === null
        )
          continue;
        drone.heardAt.set('ground', this.clock.now());
        if (this.air === 'carries') this.ground.heardAt.set(drone.name, this.clock.now());
      }
      await this.clock.pause(PING_MS);
    }
  }
}
