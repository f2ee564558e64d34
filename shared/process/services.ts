import { within } from '../async/within.ts';
import { messageOf } from '../errors.ts';

/** The owner of a resource: a socket, a timer, a file, a process. The results of both functions are awaited. */
export interface Part {
  /** @param signal aborted when the process must stop: a long start ends early then, and may throw any error */
  start?(signal: AbortSignal): unknown;
  /** Also called if the start failed or was aborted. */
  stop?(): unknown;
}

export interface Limits {
  /** How long its start and its stop may take, ms. */
  readonly startMs?: number;
  readonly stopMs?: number;
}

export interface Service extends Part, Limits {
  /** For the log. */
  readonly name: string;
}

/** Only for a start that hangs: the normal time depends on the machine, and the supervisor watches the whole process. */
const START_MS = 60_000;
const STOP_MS = 5000;

/** `part` with a name, for a list of services. */
export function named(name: string, part: Part, limits: Limits = {}): Service {
  return { ...limits, name, start: async (signal) => part.start?.(signal), stop: async () => part.stop?.() };
}

/**
 * Starts the services in their order, waits until `signal` is aborted, and stops them in reverse order. If it is aborted in the
 * middle of a start, it stops the services started so far. A service that fails to stop, or hangs, does not prevent the others
 * from stopping.
 * @param onReady called once all run
 * @param onProblem called with a sentence for each service that did not stop
 * @returns whether all stopped
 * @throws the error of a service's start, after the services before it have stopped
 */
export async function runServices(
  services: readonly Service[],
  signal: AbortSignal,
  onReady: () => void,
  onProblem: (sentence: string) => void,
): Promise<boolean> {
  const begun: Service[] = [];
  const asked = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  try {
    for (const service of services) {
      if (signal.aborted) break;
      begun.push(service);
      await startOne(service, signal);
    }
    if (!signal.aborted) {
      onReady();
      await asked;
    }
  } catch (error) {
    if (!signal.aborted) {
      await stopAll(begun, onProblem);
      throw error;
    }
    // A start that was aborted on request has not failed.
  }
  return stopAll(begun, onProblem);
}

/**
 * A start that is under way when `signal` is aborted may finish, within the time of a stop: only then is it known what to stop.
 */
async function startOne(service: Service, signal: AbortSignal): Promise<void> {
  const { name, startMs = START_MS, stopMs = STOP_MS } = service;
  let expire: (error: Error) => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    expire = reject;
  });
  const limit = (ms: number): NodeJS.Timeout =>
    setTimeout(() => expire(new Error(`${name} did not start within ${ms} ms`)), ms);
  let timer = limit(startMs);
  const hurry = (): void => {
    clearTimeout(timer);
    timer = limit(stopMs);
  };
  signal.addEventListener('abort', hurry, { once: true });
  try {
    await Promise.race([service.start?.(signal), late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', hurry);
  }
}

async function stopAll(
  services: readonly Service[],
  onProblem: (sentence: string) => void,
): Promise<boolean> {
  let ok = true;
  for (const service of services.toReversed()) {
    const { name, stopMs = STOP_MS } = service;
    try {
      await within(Promise.resolve(service.stop?.()), stopMs, () => new Error(`not within ${stopMs} ms`));
    } catch (error) {
      ok = false;
      onProblem(`${name} did not stop: ${messageOf(error)}`);
    }
  }
  return ok;
}
