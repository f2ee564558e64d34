/** Preloaded (`--import`) into a node's processes: SIGUSR2 sets the wall clock of that process a year ahead, as NTP does on a Pi. */
const real = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => real() + aheadMs;
process.on('SIGUSR2', () => {
  aheadMs += 365 * 86_400_000;
});
