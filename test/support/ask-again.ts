import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../shared/errors.ts';

/** Between two questions at first, and at most: each may start a program. */
const FIRST_MS = 25;
const LONGEST_MS = 250;
const WITHIN_MS = 60_000;

/**
 * Asks until the answer fits: only for what tells nobody when it changes, so that nothing but the question is left. That is a
 * foreign program that becomes ready, a port on which nobody listens yet, and what the API of one process makes of what it heard
 * from another. All else has an event, see `events.ts`.
 * @param what is awaited
 * @throws Error that names it, with the last answer
 */
export async function askAgain<T>(
  what: string,
  ask: () => Promise<T>,
  fits: (answer: T) => boolean,
  withinMs = WITHIN_MS,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (let pause = FIRST_MS; ; pause = Math.min(pause * 1.2, LONGEST_MS)) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (performance.now() > end)
      throw new Error(`${what}: ${answer instanceof Error ? messageOf(answer) : JSON.stringify(answer)}`);
    await delay(pause);
  }
}

/** As `askAgain`, until it throws nothing. */
export async function worksAtLast<T>(
  what: string,
  attempt: () => Promise<T>,
  withinMs = WITHIN_MS,
): Promise<T> {
  type Outcome = { readonly value: T } | Error;
  const outcome = await askAgain<Outcome>(
    what,
    async () =>
      attempt().then(
        (value) => ({ value }),
        (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
      ),
    (each) => !(each instanceof Error),
    withinMs,
  );
  if (outcome instanceof Error) throw outcome;
  return outcome.value;
}
