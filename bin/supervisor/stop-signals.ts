/** npm passes on what the terminal has sent to its whole group: both come at once, and are one wish. */
const SAME_MS = 300;

/**
 * Calls for SIGTERM, SIGINT and SIGHUP.
 * @param stop gets the signal, and whether somebody has asked before: a second time means at once
 */
export function onStopSignals(stop: (signal: NodeJS.Signals, again: boolean) => void): void {
  let first: number | null = null;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (first !== null && now - first < SAME_MS) return;
      stop(signal, first !== null);
      first ??= now;
    });
  }
}
