/** All benches of `npm run bench`. */
export const BENCH_NAMES = [
  'connector',
  'extensions',
  'fleet',
  'flight-data',
  'footprint',
  'framing',
  'front',
  'hub-command',
  'link',
  'log-viewer',
  'logs',
  'missions',
  'nat-video',
  'page',
  'relay',
  'startup',
  'thin-video',
  'tls',
  'video',
  'vision',
] as const;
export type BenchName = (typeof BENCH_NAMES)[number];
