import { common } from 'node-mavlink';
import type { CommandName } from '../../shared/flight/command-catalogue.ts';
import type { CommandResult } from '../../shared/rpc/link-answers.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';
import { commandLong } from '../link/ground-station.ts';
import { LinkProcess } from '../link/link-process.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { SimProcess } from '../sim/sim-process.ts';

const HEARTBEAT = 0;
const MISSION_CURRENT = 42;
/** PX4 sends it before the list. */
const HASH = '_HASH_CHECK';

type Position = { readonly lat: number; readonly lon: number };

/** A real svc-link on a real svc-sim. `await using` stops both. */
export class SimFlight implements AsyncDisposable {
  readonly sim: SimProcess;
  readonly link: LinkProcess;
  #linked = true;

  private constructor(sim: SimProcess, link: LinkProcess) {
    this.sim = sim;
    this.link = link;
  }

  /** @param args of svc-sim */
  static async start(...args: string[]): Promise<SimFlight> {
    const sim = await SimProcess.start('--speedup', '20', '--param-rate', '4000', ...args);
    return new SimFlight(sim, await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`));
  }

  /** Waits for what the vehicle tells; the error says what it told last. */
  async until(what: string, fits: (state: LinkState) => boolean): Promise<LinkState> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const { telemetry, params, armed, statustext } = this.link.state ?? {};
        reject(new Error(`not ${what}: ${JSON.stringify({ armed, telemetry, params, statustext })}`));
      }, 15_000);
    });
    try {
      return await Promise.race([this.link.until(fits), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Knows where it is, and its parameters are here. @returns where it stands */
  async ready(): Promise<Position> {
    const { telemetry } = await this.until(
      'ready',
      ({ telemetry: { position, sources, home, ekf }, params }) =>
        params.expected !== null &&
        !params.priming &&
        sources.position === 'GLOBAL_POSITION_INT' &&
        position.lat !== null &&
        home.lat !== null &&
        ekf.ok === true,
    );
    await this.#hurry();
    return { lat: telemetry.position.lat ?? NaN, lon: telemetry.position.lon ?? NaN };
  }

  /** @throws Error with the vehicle's words when it does not accept */
  async accepted(cmd: CommandName, ...args: (number | string)[]): Promise<void> {
    const result = await this.link.command(cmd, ...args);
    if (result.status !== 'accepted') throw new Error(`${cmd}: ${JSON.stringify(result)}`);
  }

  /** On a bad line, where three sends may be lost: asks until the vehicle has said something. */
  async answered(cmd: CommandName, ...args: (number | string)[]): Promise<CommandResult> {
    for (let tries = 0; tries < 4; tries++) {
      const result = await this.link.command(cmd, ...args);
      if (result.status !== 'no_ack') return result;
    }
    throw new Error(`${cmd} was never answered`);
  }

  /** On a bad line: takes off, unless what it shows says that it was heard though nobody heard the answer. */
  async airborne(height: number): Promise<void> {
    const low = (): boolean => (this.link.state?.telemetry.position.alt_rel ?? 0) < 1;
    for (let tries = 0; tries < 4 && low(); tries++) {
      const { status } = await this.link.command('takeoff', height);
      if (status === 'accepted') return;
      await this.link.nextState();
    }
  }

  /** How much faster than real time the vehicle flies from now on. */
  async pace(speedup: number): Promise<void> {
    await this.link.calls.param_set({ name: 'SIM_SPEEDUP', value: speedup, force: true });
  }

  async inMode(name: string): Promise<LinkState> {
    return this.until(`in ${name}`, ({ telemetry }) => telemetry.mode === name);
  }

  /** @param height m above home; undefined: it has none */
  async at(place: Position, height?: number): Promise<void> {
    await this.until(`at ${JSON.stringify(place)}`, ({ telemetry: { position } }) => {
      const near =
        Math.abs((position.lat ?? NaN) - place.lat) < 3e-5 &&
        Math.abs((position.lon ?? NaN) - place.lon) < 3e-5;
      return near && (height === undefined || Math.abs((position.alt_rel ?? NaN) - height) < 2);
    });
  }

  async armed(wanted: boolean): Promise<void> {
    await this.until(wanted ? 'armed' : 'disarmed', ({ armed }) => armed === wanted);
  }

  /**
   * The vehicle's parameters, read by node-mavlink from a list. Stops svc-link, because the simulator's port has one place.
   * @returns type and the value's four bytes, by name
   */
  async parameters(): Promise<ReadonlyMap<string, { readonly type: number; readonly bits: Buffer }>> {
    await this.#stopLink();
    await this.sim.fault({ dropFrames: 0 });
    const client = await this.sim.connect();
    const values = new Map<string, { type: number; bits: Buffer }>();
    const complete = client.next(common.ParamValue, ({ paramId, paramType, paramCount }) => {
      if (paramId === HASH) return false; // counts for none
      const bits = Buffer.alloc(4);
      client.packets.at(-1)?.payload.copy(bits, 0, 0, 4); // as a number it might be a NaN
      values.set(paramId, { type: paramType, bits });
      return values.size === paramCount;
    });
    client.send(common.ParamRequestList, { targetSystem: 1, targetComponent: 1 });
    await complete;
    return values;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopLink();
    await this.sim[Symbol.asyncDispose]();
  }

  /** A ground station beside svc-link says something. */
  async tell(message: common.CommandLong): Promise<void> {
    const socket = await this.link.joinFeed();
    socket.end(encodeAs(message, 'v2', 0, 255, 190));
  }

  /** As a ground station would, beside svc-link: heartbeats and the mission's progress at 20 Hz, so that nobody waits a second. */
  async #hurry(): Promise<void> {
    const socket = await this.link.joinFeed();
    for (const message of [HEARTBEAT, MISSION_CURRENT]) {
      const order = { ...commandLong(511, message), targetSystem: 1, _param2: 50_000 };
      const frame = encodeAs(Object.assign(new common.CommandLong(), order), 'v2', 0, 255, 190);
      for (let copy = 0; copy < 5; copy++) socket.write(frame); // on a bad line some are lost
    }
    socket.end();
  }

  async #stopLink(): Promise<void> {
    if (!this.#linked) return;
    this.#linked = false;
    await this.link.stop();
  }
}
