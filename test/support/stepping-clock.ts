import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** Preloaded (`--import`) into a node's processes: SIGUSR2 sets the wall clock of that process a year ahead, as NTP does on a Pi. */
const real = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => real() + aheadMs;
const step = (): void => {
  aheadMs += 365 * 86_400_000;
};
// Signals come to the main thread, and the clock is that of all.
const channel = new BroadcastChannel('clock');
channel.unref();
channel.addEventListener('message', step);
if (isMainThread)
  process.on('SIGUSR2', () => {
    step();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to threads, no window
    channel.postMessage('step');
  });
