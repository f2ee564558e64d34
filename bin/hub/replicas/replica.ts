import { every } from '../../../shared/async/every.ts';
import { messageOf } from '../../../shared/errors.ts';
import { replicaId } from '../../../shared/fleet/topics.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { HubDatabase, Queries } from '../database/tables.ts';
import type { Share } from '../fleet/share.ts';
import { Locks } from './locks.ts';

/** The nodes are divided into so many parts, by their ids (as in the migration that made the leases). */
const PARTITIONS = 64;
const REPLICAS = 9;
const TURN_MS = 2000;
/** What nobody has for so long is a problem that everybody tells; and so is a database that does not answer. */
const UNHELD_MS = 10_000;
/** Certificates, logs and the provider's tokens go by the machine's own clock. */
const CLOCK_MS = 30_000;

const PARTS = Array.from({ length: PARTITIONS }, (_, n) => `part-${String(n).padStart(2, '0')}`);
const NAMES = Array.from({ length: REPLICAS }, (_, n) => `replica-${n + 1}`);
const UPKEEP = 'upkeep';

interface Change {
  /** Whether it hears this node, and did not before, or somebody else did in between. */
  readonly isGained: (node: string) => boolean;
  readonly isRenamed: boolean;
}

interface ReplicaOptions {
  readonly database: Pick<HubDatabase, 'session' | 'name'>;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** It hears other nodes than before, or has another name. */
  readonly onChange: (change: Change) => Promise<void>;
  /** Something is wrong with the replicas that one of them cannot mend. */
  readonly onAlarm: (what: string) => void;
  readonly log: Logger;
}

/** One of several hubs with one database: it hears its share of the nodes, as many as each of the others. */
export class Replica implements Share {
  readonly alone = false;
  readonly #options: ReplicaOptions;
  readonly #locks: Locks;
  #timer: NodeJS.Timeout | undefined;
  /** What it held when it last said so: the names with their fencing numbers. */
  #told: ReadonlySet<string> = new Set();
  #toldName: string | null = null;
  #turning: Promise<void> | null = null;
  #telling: Promise<void> | null = null;
  /** Since when nobody has had it, by part; monotonic ms. */
  readonly #unheld = new Map<string, number>();
  /** When the database answered last, monotonic ms, and how far this machine's clock was ahead of it. */
  #looked: number;
  #ahead = 0;
  /** The database's time less the monotonic clock, when it was last asked, ms; null: not yet. */
  #offset: number | null = null;
  #alarm: string | null = null;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#locks = new Locks(options.database, [...PARTS, ...NAMES, UPKEEP], options.monotonic);
    this.#looked = options.monotonic();
  }

  /** The database's time, ms since 1970: what ends, ends at all replicas at once, and not when somebody sets a clock. */
  now(): number {
    const { now, monotonic } = this.#options;
    return this.#offset === null ? now() : Math.floor(this.#offset + monotonic());
  }

  get name(): string | null {
    const own = NAMES.findIndex((name) => this.#locks.held.has(name));
    return own < 0 ? null : replicaId(own + 1);
  }

  get upkeep(): boolean {
    return this.#locks.held.has(UPKEEP);
  }

  has(node: string): boolean {
    return this.#locks.held.has(partitionOf(node));
  }

  problem(): string | null {
    const now = this.#options.monotonic();
    if (now - this.#looked > UNHELD_MS)
      return 'The database has not answered for 10 s: which nodes this replica hears is not known.';
    const ahead = Math.round(this.#ahead / 1000);
    if (Math.abs(this.#ahead) > CLOCK_MS)
      return `The clock of this machine is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the database's. Set it right.`;
    const unheld = [...this.#unheld.values()].filter((since) => now - since > UNHELD_MS);
    if (unheld.length > 0)
      return `Nobody has heard ${unheld.length} of ${PARTITIONS} parts of the nodes for 10 s.`;
    return this.name === null ? 'Nine replicas run already: this one hears nobody.' : null;
  }

  async check(on: Queries, nodes: Iterable<string>): Promise<void> {
    const parts = new Set([...nodes].map(partitionOf));
    if (parts.size > 0) await this.#locks.check(on, parts);
  }

  async start(): Promise<void> {
    await this.#turn();
    await this.#telling;
    this.#timer = every(TURN_MS, 'replicas', async () => {
      this.#raise();
      // Never two at once; one that lasts is ended by the time-outs of its session.
      this.#turning ??= this.#turn().finally(() => {
        this.#turning = null;
      });
      await this.#turning;
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turning?.catch(() => undefined);
    await this.#locks.close();
  }

  /** Takes what is free, and gives up what others should have. @throws the database's error: what is held ends by itself */
  async #turn(): Promise<void> {
    const locks = this.#locks;
    const { now, monotonic } = this.#options;
    try {
      const { taken, ahead } = await locks.look(now);
      this.#looked = monotonic();
      this.#ahead = ahead;
      this.#offset = now() - ahead - this.#looked;
      this.#notice(taken);
      const free = (names: readonly string[]): readonly string[] => names.filter((name) => !taken.has(name));
      if (this.name === null) await locks.take(free(NAMES).slice(0, 1));
      if (this.name !== null) {
        if (!taken.has(UPKEEP)) await locks.take([UPKEEP]);
        // Its own name may be new.
        const others = NAMES.filter((name) => taken.has(name) && !locks.held.has(name));
        const share = Math.ceil(PARTITIONS / (others.length + 1));
        const parts = PARTS.filter((name) => locks.held.has(name));
        if (parts.length > share) await locks.release(parts.slice(share));
        // Also without a free one: what it has without a number yet gets one.
        else await locks.take(free(PARTS).slice(0, share - parts.length));
      }
    } finally {
      this.#tell();
    }
  }

  #notice(taken: ReadonlySet<string>): void {
    const now = this.#options.monotonic();
    for (const part of PARTS)
      if (taken.has(part)) this.#unheld.delete(part);
      else if (!this.#unheld.has(part)) this.#unheld.set(part, now);
  }

  /** Once for each problem. */
  #raise(): void {
    const problem = this.problem();
    if (problem !== null && problem !== this.#alarm) this.#options.onAlarm(problem);
    this.#alarm = problem;
  }

  /** Beside the turns, which must not wait for a broker; the next turn tells what this one did not. */
  #tell(): void {
    this.#telling ??= this.#tellNow()
      .catch((error: unknown) => {
        this.#options.log.warn(`replicas: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#telling = null;
      });
  }

  async #tellNow(): Promise<void> {
    const { held } = this.#locks;
    const now = new Set([...held].map(([name, fence]) => `${name} ${fence}`));
    if (now.symmetricDifference(this.#told).size === 0) return;
    const before = this.#told;
    const { name } = this;
    const isRenamed = name !== this.#toldName;
    const parts = PARTS.filter((each) => held.has(each)).length;
    this.#options.log.info(
      `${name ?? 'no name'}: ${parts} of ${PARTITIONS} parts${this.upkeep ? ', upkeep' : ''}`,
    );
    const isGained = (node: string): boolean => {
      const part = partitionOf(node);
      const fence = held.get(part);
      return fence !== undefined && !before.has(`${part} ${fence}`);
    };
    await this.#options.onChange({ isGained, isRenamed });
    this.#told = now;
    this.#toldName = name;
  }
}

/** FNV-1a, 32 bits (RFC 9923): the same at each replica. */
export function partitionOf(node: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < node.length; at++) hash = Math.imul(hash ^ node.charCodeAt(at), 0x01000193) >>> 0;
  return `part-${String(hash % PARTITIONS).padStart(2, '0')}`;
}
