import { readFileSync } from 'node:fs';
import { readdir, readFile, statfs } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import { codeOf } from '../../../shared/errors.ts';
import { RecentHealth } from './recent-health.ts';

/** Measured by this machine's kernel. Null: the machine does not say, or there is no second sample yet. */
export interface SystemFacts {
  readonly cpu_percent: number | null;
  readonly cpu_count: number;
  readonly load_avg: readonly number[];
  readonly memory_total_mb: number | null;
  readonly memory_available_mb: number | null;
  readonly memory_percent: number | null;
  readonly swap_total_mb: number | null;
  readonly swap_used_mb: number | null;
  readonly disk_total_gb: number | null;
  readonly disk_used_gb: number | null;
  readonly disk_percent: number | null;
  /** Thermal zone -> degrees Celsius. */
  readonly temperatures: Readonly<Record<string, number>>;
}

const GB = 1e9;
const SAMPLE_MS = 1000;
/** Disk and temperatures change slowly, and each of their files is a trip through the thread pool: samples from one to the next. */
const SLOW = 10;
const THERMAL = '/sys/class/thermal';
const UNKNOWN: Omit<SystemFacts, 'cpu_count'> = {
  cpu_percent: null,
  load_avg: [],
  memory_total_mb: null,
  memory_available_mb: null,
  memory_percent: null,
  swap_total_mb: null,
  swap_used_mb: null,
  disk_total_gb: null,
  disk_used_gb: null,
  disk_percent: null,
  temperatures: {},
};

interface CpuTimes {
  readonly busy: number;
  readonly total: number;
}

/** Samples this machine once a second for all clients: they poll the status, and each sample costs system calls. */
export class SystemMonitor {
  readonly #diskPath: string;
  readonly #cpuCount = availableParallelism();
  /** The last ten minutes. */
  readonly recent = new RecentHealth();
  #times: CpuTimes | null = null;
  #facts: SystemFacts;
  #samples = 0;
  #sampling = false;
  #timer: NodeJS.Timeout | null = null;

  /** @param diskPath a path on the disk to measure: the one with the node's state */
  constructor(diskPath: string) {
    this.#diskPath = diskPath;
    this.#facts = { ...UNKNOWN, cpu_count: this.#cpuCount };
  }

  /** Resolves with the first sample taken. */
  async start(): Promise<void> {
    await this.#sample();
    this.#timer = every(SAMPLE_MS, 'system facts', async () => this.#sample());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** At most a second old; disk and temperatures ten. */
  get facts(): SystemFacts {
    return this.#facts;
  }

  async #sample(): Promise<void> {
    if (this.#sampling) return; // the disk hangs: keeps the old values and starts no second sample
    this.#sampling = true;
    try {
      const slow =
        this.#samples++ % SLOW === 0
          ? await Promise.all([readDisk(this.#diskPath), readTemperatures()])
          : null;
      const [times, memory] = [readCpuTimes(), readMemory()];
      const total = times.total - (this.#times?.total ?? times.total);
      const busy = times.busy - (this.#times?.busy ?? times.busy);
      this.#times = times;
      const cpu = total > 0 ? round((busy / total) * 100) : this.#facts.cpu_percent;
      const load_avg = loadavg();
      this.#facts = {
        ...this.#facts,
        cpu_percent: cpu,
        load_avg,
        ...memory,
        ...(slow === null ? {} : { ...slow[0], temperatures: slow[1] }),
      };
      this.recent.add({
        cpu_percent: cpu,
        memory_percent: memory.memory_percent,
        temperature: hottest(this.#facts),
      });
    } finally {
      this.#sampling = false;
    }
  }
}

/** Of the hottest zone, degrees Celsius; null: the machine has none. */
export function hottest({ temperatures }: Pick<SystemFacts, 'temperatures'>): number | null {
  const all = Object.values(temperatures);
  return all.length === 0 ? null : Math.max(...all);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The first line of /proc/stat: ticks since boot as user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)). */
function readCpuTimes(): CpuTimes {
  const line = /^cpu +([0-9 ]+)$/m.exec(kernelText('/proc/stat'))?.[1] ?? '';
  const ticks = line.split(' ').slice(0, 8).map(Number);
  const total = ticks.reduce((sum, each) => sum + each, 0);
  return { total, busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0) };
}

type Memory = Pick<
  SystemFacts,
  'memory_total_mb' | 'memory_available_mb' | 'memory_percent' | 'swap_total_mb' | 'swap_used_mb'
>;

function readMemory(): Memory {
  const text = kernelText('/proc/meminfo');
  const kib = (name: string): number | null => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text);
    return match?.[1] === undefined ? null : Number(match[1]);
  };
  const mb = (value: number | null): number | null => (value === null ? null : Math.round(value / 1024));
  const total = kib('MemTotal');
  const available = kib('MemAvailable');
  const swapTotal = kib('SwapTotal');
  const swapFree = kib('SwapFree');
  return {
    memory_total_mb: mb(total),
    memory_available_mb: mb(available),
    memory_percent: total === null || available === null ? null : round((1 - available / total) * 100),
    swap_total_mb: mb(swapTotal),
    swap_used_mb: swapTotal === null || swapFree === null ? null : mb(swapTotal - swapFree),
  };
}

type Disk = Pick<SystemFacts, 'disk_total_gb' | 'disk_used_gb' | 'disk_percent'>;

async function readDisk(path: string): Promise<Disk> {
  const { bsize, blocks, bfree, bavail } = await statfs(path);
  const used = blocks - bfree;
  // As in `df`: of the space that an ordinary user can use.
  const usable = used + bavail;
  return {
    disk_total_gb: round((blocks * bsize) / GB),
    disk_used_gb: round((used * bsize) / GB),
    disk_percent: usable === 0 ? null : round((used / usable) * 100),
  };
}

async function readTemperatures(): Promise<Readonly<Record<string, number>>> {
  const zones = (await readdir(THERMAL).catch(ifAbsent([]))).filter((name) =>
    name.startsWith('thermal_zone'),
  );
  const out: Record<string, number> = {};
  for (const zone of zones) {
    const milli = Number.parseInt(await textOrEmpty(join(THERMAL, zone, 'temp')), 10);
    if (Number.isFinite(milli))
      out[`${zone}:${(await textOrEmpty(join(THERMAL, zone, 'type'))).trim()}`] = round(milli / 1000);
  }
  return out;
}

/** Of the kernel's memory: read at once, it takes less than a trip through the thread pool. Empty where there is none. */
function kernelText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return ifAbsent('')(error);
  }
}

async function textOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(ifAbsent(''));
}

/** Returns `value` if this machine does not have the file; a thermal zone may also exist but be unreadable. */
function ifAbsent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (['ENOENT', 'EACCES', 'EINVAL', 'EIO', 'ENODATA', 'EAGAIN'].includes(codeOf(error) ?? ''))
      return value;
    throw error;
  };
}
