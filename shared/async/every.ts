import { messageOf } from '../errors.ts';

/**
 * A timer callback whose error is told and goes no further: nobody stands above a timer, so that one read that fails for want
 * of a descriptor would end the process. The same error is told once until the callback has worked again.
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
