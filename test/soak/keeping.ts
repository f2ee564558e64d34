import { existsSync, globSync, readFileSync } from 'node:fs';
import { unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AUDIT_FILES } from '../../front/control/stores/audit-files.ts';
import { messageOf } from '../../shared/errors.ts';
import { AUDIT_FILE } from '../../shared/paths.ts';
import { decodeFile } from '../support/pictures.ts';
import { svc } from '../support/svc.ts';
import { ask, membersOf } from './ask.ts';
import { dangerous, FORBIDDEN, GUARDED_PARAM, sayOnce } from './guarded.ts';
import { groundPort } from './load.ts';
import { KEYED, type Rig } from './rig.ts';

/** Something that the node acknowledges, and must not lose. */
export interface Keeping {
  /** Goes on until the end of the run. */
  run(): Promise<void>;
  /** After each fault, and at the end: is all still there that was acknowledged? */
  check(): Promise<void>;
}

const WRITE_MS = 2000;
const MAX_REMEMBERED = 20;

/** Config values that count up. */
export class ConfigWrites implements Keeping {
  readonly #rig: Rig;
  #sent = 0;
  #acknowledged = 0;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async run(): Promise<void> {
    await this.#rig.repeat(WRITE_MS, async () => {
      const value = ++this.#sent;
      const body = { key: 'agent.name', value: `soak-${value}` };
      const { status } = await this.#rig.ask('/api/config', { method: 'PUT', body });
      if (status !== 200) return;
      this.#acknowledged = value;
      this.#rig.count('config writes');
    });
  }

  async check(): Promise<void> {
    const { config, audit } = this.#rig.invariants;
    const least = this.#acknowledged;
    const { agent } = await this.#rig.json('/api/config');
    const name = (agent as { readonly name?: string } | undefined)?.name ?? '';
    const found = Number(/^soak-(\d+)$/.exec(name)?.[1] ?? 0);
    config.check(
      found >= least && found <= this.#sent,
      () => `agent.name is ${name}, acknowledged was soak-${least}`,
    );
    const verified = await this.#rig.json('/api/audit/verify');
    audit.check(verified['ok'] === true, () => `verify answers ${JSON.stringify(verified)}`);
    audit.number('acknowledged changes of the config', this.#rig.counts['config writes'] ?? 0);
  }

  /** At the end, over the files: the chain as the command sees it, and an announcement for each change. */
  async checkFiles(): Promise<void> {
    const { audit } = this.#rig.invariants;
    const { paths } = this.#rig.node;
    const { code, stdout, stderr } = await svc(paths, 'audit', 'verify');
    audit.check(code === 0, () => `svc audit verify ends with ${code}: ${stdout}${stderr}`);
    if (existsSync(join(paths.auditDir, `${AUDIT_FILE}.${AUDIT_FILES - 1}`))) return; // the oldest are gone by design
    const announced = globSync(join(paths.auditDir, `${AUDIT_FILE}*`))
      .filter((path) => !path.endsWith('.head'))
      .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
      .filter((line) => line.includes('"announced"') && line.includes('"PUT /api/config"')).length;
    audit.number('announced in its files', announced);
    audit.check(
      announced >= (this.#rig.counts['config writes'] ?? 0),
      () => `only ${announced} are announced`,
    );
  }
}

interface Token {
  readonly token: string;
  readonly token_id: string;
}

/** Tokens that are made, used, and revoked. */
export class Tokens implements Keeping {
  readonly #rig: Rig;
  readonly #revoked: Token[] = [];
  #kept: Token | null = null;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async run(): Promise<void> {
    await this.#rig.repeat(15_000, async () => {
      const token = await this.#mint();
      if (token === null) return;
      if (this.#kept === null) {
        this.#kept = token;
        return;
      }
      await this.#rig.ask('/api/status', { headers: { 'x-svc-mcp-token': token.token } });
      const body = { token_id: token.token_id };
      const revoked = await this.#rig.ask('/api/mcp/revoke', { method: 'POST', body });
      if (revoked.status !== 200) return;
      this.#rig.count('tokens revoked');
      this.#revoked.push(token);
      if (this.#revoked.length > MAX_REMEMBERED) this.#revoked.splice(1, 1); // the oldest stays
    });
  }

  async check(): Promise<void> {
    const { tokens } = this.#rig.invariants;
    const use = async ({ token }: Token): Promise<number | null> =>
      (await ask(`${this.#rig.node.url}/api/status`, { headers: { 'x-svc-mcp-token': token } })).status;
    for (const token of this.#revoked) {
      const status = await use(token);
      tokens.check(status === 401, () => `a revoked token got ${status}`);
    }
    if (this.#kept === null) return;
    const status = await use(this.#kept);
    tokens.check(status === 200, () => `the token that was kept got ${status}`);
  }

  async #mint(): Promise<Token | null> {
    const body = { scopes: ['read'], label: 'soak' };
    const answer = await this.#rig.ask('/api/mcp/tokens', { method: 'POST', body });
    const { token, token_id } = membersOf(answer);
    return typeof token === 'string' && typeof token_id === 'string' ? { token, token_id } : null;
  }
}

/** Recordings of some seconds; each is played, then deleted. */
export class Recordings implements Keeping {
  readonly #rig: Rig;
  readonly #folder: string;
  /** Those that were stopped, and acknowledged so. */
  readonly #stopped = new Set<string>();

  /** @param folder for the one that is played */
  constructor(rig: Rig, folder: string) {
    this.#rig = rig;
    this.#folder = folder;
  }

  async run(): Promise<void> {
    // A recording may run already, or have ended with its process; the disk may be full.
    await this.#rig.repeat(6000, async () => {
      const start = await this.#rig.ask('/api/video/record/start', { method: 'POST', body: {} }, [409]);
      if (start.status !== 200) return;
      const at = performance.now();
      await this.#rig.pause(4000);
      const stop = await this.#rig.ask('/api/video/record/stop', { method: 'POST' }, [409]);
      const { name } = membersOf(stop);
      if (stop.status !== 200 || typeof name !== 'string') return;
      this.#rig.count('recordings');
      this.#stopped.add(name);
      if (this.#rig.wellSince('node', at)) await this.#play(name);
    });
  }

  /** Plays and deletes all that nobody writes: also those that a fault has cut off. */
  async check(): Promise<void> {
    const { recordings, recording } = await this.#rig.json('/api/video/recordings');
    const active = (recording as { readonly name?: string } | null)?.name;
    const files = (recordings ?? []) as readonly { readonly name: string; readonly kind: string }[];
    for (const { name, kind } of files) if (kind === 'recording' && name !== active) await this.#play(name);
  }

  async #play(name: string): Promise<void> {
    const { recordings } = this.#rig.invariants;
    const path = `/api/video/recordings/${name}`;
    const { status, body } = await this.#rig.ask(path, {}, [404]);
    if (status !== 200) return; // a fault, or the check was faster
    const file = join(this.#folder, `${process.hrtime.bigint()}.mp4`);
    await writeFile(file, body);
    try {
      const { pictures } = await decodeFile(file);
      // One that was cut off before its first fragment was whole has none.
      const none = !this.#stopped.has(name) && !body.includes('moof');
      recordings.check(
        none || pictures.length > 0,
        () =>
          `${name} (${body.length} bytes, ${this.#stopped.has(name) ? 'stopped' : 'cut off'}) has no picture`,
      );
      if (none) this.#rig.count('recordings cut off before their first fragment');
    } catch (error) {
      recordings.broke(`${name} (${body.length} bytes) does not play: ${messageOf(error)}`);
    } finally {
      await unlink(file);
    }
    const { status: deleted } = await this.#rig.ask(path, { method: 'DELETE' }, [404]);
    if (deleted === 200) this.#stopped.delete(name);
  }
}

interface Seen {
  readonly armed: boolean | null;
  readonly mode: string | null;
  readonly prearm?: unknown;
  readonly statustext?: readonly unknown[];
  readonly position: {
    readonly lat: number | null;
    readonly lon: number | null;
    readonly alt_rel: number | null;
  };
}

const FLIGHT_S = 300;
const SPEEDUP = 3;
const HEIGHT_M = 10;
/** Nobody changes the battery for hours. */
const CAPACITY_MAH = 10_000_000;
/** About 30 m of latitude. */
const AWAY_DEG = 0.00027;

/** Flights of the simulated vehicle; a lost command is sent again, as a person would. */
export class Flights implements Keeping {
  readonly #rig: Rig;
  #flown = 0;
  /** Those during which nothing was wrong with the node. */
  #calm = 0;
  #armed = false;
  #last: Seen | null = null;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async run(): Promise<void> {
    await this.#rig.repeat(5000, async () => this.#rig.flights.run(async () => this.#fly()));
  }

  /** The log has each as one session. Asked while no flight is on. */
  async check(): Promise<void> {
    await this.#rig.flights.run(async () => {
      const { data } = await this.#rig.json('/api/observability/sessions?kind=flight&limit=1000');
      const sessions = (data ?? []) as readonly { readonly ended_us: number | null }[];
      const { 'flight log': rule } = this.#rig.invariants;
      if (this.#flown > 1000) return;
      const open = sessions.filter(({ ended_us }) => ended_us === null).length;
      rule.number('flights', this.#flown);
      rule.number('sessions', sessions.length);
      rule.number('flights with no fault meanwhile', this.#calm);
      // Two flights are one where nobody heard of the landing between them.
      rule.check(
        sessions.length >= this.#calm && sessions.length <= this.#flown && open === 0,
        () =>
          `${this.#flown} flights, ${this.#calm} with no fault; ${sessions.length} sessions, ${open} of them open`,
      );
    });
  }

  async #fly(): Promise<void> {
    const { flights } = this.#rig.invariants;
    const begun = performance.now();
    const end = begun + FLIGHT_S * 1000;
    // Not disarmed by itself between arming and take-off, when a fault comes between the two.
    for (const [name, value] of [
      ['SIM_SPEEDUP', SPEEDUP],
      ['DISARM_DELAY', 0],
      ['BATT_CAPACITY', CAPACITY_MAH],
    ] as const)
      await this.#rig.ask(`/api/params/${name}`, { method: 'PUT', body: { value, force: true } }, [409]);
    const home = await this.#until(end, ({ position }) => position.lat !== null);
    if (home === null) return; // not begun
    // There and back: it does not wander off.
    const target = (home.position.lat ?? 0) + (this.#flown % 2 === 0 ? AWAY_DEG : -AWAY_DEG);
    this.#armed = false;
    const up = await this.#until(
      end,
      ({ position }) => (position.alt_rel ?? 0) > HEIGHT_M - 2,
      async ({ armed, mode }) => {
        if (mode !== 'GUIDED') await this.#command('mode', 'GUIDED');
        if (armed !== true) await this.#command('arm');
        await this.#command('takeoff', HEIGHT_M);
      },
    );
    if (up !== null) {
      await this.#tamper();
      await this.#until(
        end,
        ({ position }) => Math.abs((position.lat ?? 0) - target) < AWAY_DEG / 4,
        async () => this.#command('goto', target, home.position.lon ?? 0, HEIGHT_M),
      );
      await this.#tamper();
    }
    // Also at the end of the run: it lands, and the log has the whole flight.
    const down = await this.#until(
      end,
      ({ armed, position }) => armed === false && (position.alt_rel ?? 0) < 2,
      async () => this.#command('land'),
      true,
    );
    if (this.#armed) this.#flown++;
    if (this.#armed && this.#rig.wellSince('node', begun)) this.#calm++;
    this.#rig.count('flights');
    const texts = JSON.stringify([this.#last?.prearm, this.#last?.statustext?.slice(0, 3)]);
    flights.check(
      down !== null && (up !== null || this.#rig.signal.aborted),
      () => `${up === null ? 'it did not take off' : 'it did not come down'}: ${texts}`,
    );
  }

  /** In flight: what sets the vehicle up otherwise, by frames and by a PUT, and a look at what came of it. */
  async #tamper(): Promise<void> {
    const { guard } = this.#rig.invariants;
    const at = performance.now();
    if (!(await sayOnce(groundPort(this.#rig), dangerous()))) return; // a fault
    const path = `/api/params/${GUARDED_PARAM}`;
    const put = await this.#rig.ask(path, { method: 'PUT', body: { value: FORBIDDEN } }, [409]);
    const isCalm = this.#rig.wellSince('node', at);
    guard.check(put.status === 409 || (put.status !== 200 && !isCalm), () => `PUT ${path}: ${put.status}`);
    await this.#rig.pause(1000); // it would have told its new value, or be down
    const { value } = membersOf(await ask(`${this.#rig.node.url}${path}`, {}));
    guard.check(value !== FORBIDDEN, () => `${GUARDED_PARAM} was changed in flight`);
    if (isCalm && typeof value === 'number') this.#rig.count('frames that were kept from the vehicle');
    const seen = membersOf(await ask(`${this.#rig.node.url}/api/telemetry`, {})) as unknown as Seen;
    if (!this.#rig.wellSince('node', at) || !this.#rig.wellSince('link', at)) return;
    const height = seen.position.alt_rel ?? 0;
    guard.check(seen.armed === true && height > HEIGHT_M / 2, () => `armed ${seen.armed}, ${height} m up`);
  }

  /** Looks twice a second, and sends `order` every 10 s until it is so. @returns null when the time is over */
  async #until(
    end: number,
    so: (seen: Seen) => boolean,
    order: (seen: Seen) => Promise<void> = async () => undefined,
    tillEnd = false,
  ): Promise<Seen | null> {
    let ordered = -Infinity;
    const goesOn = (): boolean => performance.now() < end && (tillEnd || !this.#rig.signal.aborted);
    while (goesOn()) {
      const answer = await ask(`${this.#rig.node.url}/api/telemetry`, { headers: KEYED });
      const seen = membersOf(answer) as unknown as Seen;
      if (answer.status === 200 && seen.armed !== null) {
        this.#armed ||= seen.armed;
        this.#last = seen;
        if (so(seen)) return seen;
        if (performance.now() - ordered > 10_000) {
          ordered = performance.now();
          await order(seen);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return null;
  }

  async #command(cmd: string, ...args: readonly (string | number)[]): Promise<void> {
    await this.#rig.ask('/api/command', { method: 'POST', body: { cmd, args } });
    this.#rig.count('commands');
  }
}
