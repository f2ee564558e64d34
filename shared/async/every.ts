import { messageOf } from '../errors.ts';

/**
 * Wraps a timer callback so that its errors become warnings: an uncaught error in a timer would end the process, for example
 * when no descriptor is left. The same error is reported once until the callback has succeeded again.
 * @param name what the callback does, for the warning
 */
export function contained(name: string, work: () => unknown): () => void {
  let told = '';
  const failed = (error: unknown): void => {
    const problem = messageOf(error);
    if (problem !== told) process.emitWarning(`${name}: ${problem}`);
    told = problem;
  };
  return () => {
    try {
      const result = work();
      if (result instanceof Promise) {
        result.then(() => {
          told = '';
        }, failed);
      } else told = '';
    } catch (error) {
      failed(error);
    }
  };
}

/** `setInterval` with a contained callback. @param ms between two runs */
export function every(ms: number, name: string, work: () => unknown): NodeJS.Timeout {
  return setInterval(contained(name, work), ms);
}
