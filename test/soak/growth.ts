import { readdirSync, readFileSync } from 'node:fs';
import { residentMiB } from '../../shared/process/memory.ts';
import { processesOf } from '../support/run-processes.ts';
import type { ProcessSlopes } from './report.ts';
import type { Rig } from './rig.ts';
import { type Sample, slopeOf } from './slopes.ts';

/** More than this an hour, beyond doubt, is a leak where processes are killed in between. RSS in MiB. */
const LIMITS = { rss: 16, files: 6, threads: 2 } as const;
/** A steady run: the whole interval of its slope is within this, up and down. */
const STEADY_LIMITS = { rss: 1, files: 1, threads: 1 } as const;
type Quantity = keyof typeof LIMITS;
const QUANTITIES = Object.keys(LIMITS) as readonly Quantity[];
/** A process grows while its code is compiled and its pools fill; then this long it is not looked at. */
const WARM_UP_S = 300;
const STEADY_WARM_UP_S = 3600;

/** Watches what each process holds. */
export class Growth {
  readonly #rig: Rig;
  readonly #samples = new Map<string, Record<Quantity, Sample[]>>();
  readonly #runs = new Map<string, Set<number>>();
  readonly #last = new Map<string, Record<Quantity, number>>();
  #zombies: ReadonlySet<number> = new Set();
  readonly #steady: boolean;
  /** Since when no process is killed, seconds of the run; null while some are. */
  measuredFrom: number | null = null;

  /** @param steady no process is ever killed */
  constructor(rig: Rig, steady: boolean) {
    this.#rig = rig;
    this.#steady = steady;
  }

  /** @param everyMs between two looks */
  async run(everyMs: number): Promise<void> {
    await this.#rig.repeat(everyMs, async () => this.#look());
  }

  #look(): void {
    const { node, elapsed } = this.#rig;
    const supervisor = node.supervisor.pid ?? 0;
    const sim = { name: 'svc-sim', pid: this.#rig.options.vehicle.pid };
    const all = [{ name: 'svc-supervisor', pid: supervisor }, sim, ...node.services];
    const warmUp = this.#steady ? STEADY_WARM_UP_S : WARM_UP_S;
    const measured = this.measuredFrom !== null && elapsed > this.measuredFrom + warmUp;
    for (const { name, pid } of all) {
      const found = pid === null ? null : look(pid);
      if (found === null || pid === null) continue;
      this.#last.set(name, found);
      const runs = this.#runs.get(name) ?? new Set();
      this.#runs.set(name, runs.add(pid));
      if (!measured) continue;
      const samples = this.#samples.get(name) ?? { rss: [], files: [], threads: [] };
      this.#samples.set(name, samples);
      for (const quantity of QUANTITIES)
        samples[quantity].push({ run: pid, at: elapsed, value: found[quantity] });
    }
    this.#lookForZombies(new Set(all.flatMap(({ pid }) => (pid === null ? [] : [pid]))));
  }

  #lookForZombies(parents: ReadonlySet<number>): void {
    const { zombies } = this.#rig.invariants;
    const found = new Set<number>();
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const stat = read(`/proc/${pid}/stat`);
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' && parents.has(Number(parent))) found.add(Number(pid));
    }
    // One that has only just ended is a zombie for a moment.
    const stay = [...found].filter((pid) => this.#zombies.has(pid));
    zombies.check(stay.length === 0, () => `processes ${stay.join(', ')} are not reaped`);
    this.#zombies = found;
  }

  /** Judges each process, and lists them. */
  judge(): readonly ProcessSlopes[] {
    const { growth } = this.#rig.invariants;
    return [...this.#last]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([process, last]) => {
        const samples = this.#samples.get(process);
        const slope = (quantity: Quantity) => (samples === undefined ? null : slopeOf(samples[quantity]));
        const slopes = { rss: slope('rss'), files: slope('files'), threads: slope('threads') };
        for (const quantity of QUANTITIES) {
          const found = slopes[quantity];
          if (found === null) continue;
          const { low, high, per_hour } = found;
          const limit = (this.#steady ? STEADY_LIMITS : LIMITS)[quantity];
          const holds = this.#steady ? low >= -limit && high <= limit : low <= limit;
          growth.check(
            holds,
            () =>
              `${process} grows by ${per_hour.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}) ${quantity} an hour, at most ${limit}`,
          );
          growth.worst(`steepest ${quantity} an hour`, per_hour);
        }
        return { process, runs: this.#runs.get(process)?.size ?? 0, ...slopes, last };
      });
  }

  /** What of the node with that run directory is alive. */
  static alive(run: string): readonly string[] {
    return processesOf(run).map(({ entry, pid }) => `${entry} (${pid})`);
  }
}

/** @returns null for a process that has ended */
function look(pid: number): Record<Quantity, number> | null {
  const status = read(`/proc/${pid}/status`);
  const rss = residentMiB(status);
  const threads = Number(/^Threads:\s+(\d+)/m.exec(status)?.[1]);
  if (rss === null || Number.isNaN(threads)) return null;
  try {
    return { rss, files: readdirSync(`/proc/${pid}/fd`).length, threads };
  } catch {
    return null; // it has ended meanwhile
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}
