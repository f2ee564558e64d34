import { every } from '../../../shared/async/every.ts';
import { replicaId } from '../../../shared/fleet/topics.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Queries } from '../database/tables.ts';
import { Leases } from './leases.ts';
import type { Share } from './share.ts';

/** The nodes are divided into so many parts, by their ids (as in the migration that made the leases). */
const PARTITIONS = 64;
const TURN_MS = 2000;

interface Change {
  /** Whether it hears this node, and did not before, or somebody else did in between. */
  readonly isGained: (node: string) => boolean;
  readonly isRenamed: boolean;
}

interface ReplicaOptions {
  readonly db: Queries;
  /** ms */
  readonly monotonic: () => number;
  /** It hears other nodes than before, or has another name. */
  readonly onChange: (change: Change) => Promise<void>;
  readonly log: Logger;
}

/** One of several hubs with one database: it hears its share of the nodes, as many as each of the others. */
export class Replica implements Share {
  readonly alone = false;
  readonly #leases: Leases;
  readonly #onChange: ReplicaOptions['onChange'];
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  /** What it held when it last said so: the names with their fencing numbers. */
  #told: ReadonlySet<string> = new Set();
  #toldName: string | null = null;
  #turning: Promise<void> = Promise.resolve();

  constructor({ db, monotonic, onChange, log }: ReplicaOptions) {
    this.#leases = new Leases(db, monotonic);
    this.#onChange = onChange;
    this.#log = log;
  }

  get name(): string | null {
    const [first] = this.#mine('replica-').toSorted();
    return first === undefined ? null : replicaId(Number(first.slice('replica-'.length)));
  }

  get upkeep(): boolean {
    return this.#leases.held.has('upkeep');
  }

  has(node: string): boolean {
    return this.#leases.held.has(partitionOf(node));
  }

  async check(on: Queries, nodes: Iterable<string>): Promise<void> {
    const parts = new Set([...nodes].map(partitionOf));
    if (parts.size > 0) await this.#leases.check(on, parts);
  }

  async start(): Promise<void> {
    await this.#turn();
    this.#timer = every(TURN_MS, 'leases', async () => {
      this.#turning = this.#turn();
      await this.#turning;
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#turning.catch(() => undefined);
    await this.#leases.releaseAll();
  }

  /** Takes what is free, and gives up what others should have. @throws the database's error: what is held ends by itself */
  async #turn(): Promise<void> {
    const leases = this.#leases;
    await leases.renew();
    if (this.name === null) await leases.take('replica-%', 1);
    if (this.name === null) this.#log.error('nine replicas run already: this one does nothing but answer');
    else {
      if (!this.upkeep) await leases.take('upkeep', 1);
      const share = Math.ceil(PARTITIONS / Math.max(1, await leases.count('replica-%')));
      const parts = this.#mine('part-');
      if (parts.length > share) await leases.release(parts.slice(share));
      else if (parts.length < share) await leases.take('part-%', share - parts.length);
    }
    await this.#tell();
  }

  async #tell(): Promise<void> {
    const { held } = this.#leases;
    const now = new Set([...held].map(([name, fence]) => `${name} ${fence}`));
    if (now.symmetricDifference(this.#told).size === 0) return;
    const before = this.#told;
    const isRenamed = this.name !== this.#toldName;
    const parts = this.#mine('part-').length;
    this.#log.info(
      `${this.name ?? 'no name'}: ${parts} of ${PARTITIONS} parts${this.upkeep ? ', upkeep' : ''}`,
    );
    const isGained = (node: string): boolean => {
      const part = partitionOf(node);
      const fence = held.get(part);
      return fence !== undefined && !before.has(`${part} ${fence}`);
    };
    await this.#onChange({ isGained, isRenamed });
    this.#told = now;
    this.#toldName = this.name;
  }

  #mine(prefix: string): readonly string[] {
    return [...this.#leases.held.keys()].filter((name) => name.startsWith(prefix));
  }
}

/** FNV-1a, 32 bits (RFC 9923): the same at each replica. */
export function partitionOf(node: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < node.length; at++) hash = Math.imul(hash ^ node.charCodeAt(at), 0x01000193) >>> 0;
  return `part-${String(hash % PARTITIONS).padStart(2, '0')}`;
}
