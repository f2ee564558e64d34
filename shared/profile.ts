/** The parts of the API that a node may lack; `features.<name>` in the config turns one on or off. */
export const FEATURES = [
  'core',
  'pairing',
  'mcp',
  'config',
  'flight',
  'fleet',
  'radio',
  'network',
  'video',
  'whep',
  'plugins',
  'peripherals',
  'vision',
  'logs',
  'setup',
  'dashboard',
  'ground-station',
] as const;
export type Feature = (typeof FEATURES)[number];

/** The profile of a node. */
export type Profile = 'drone' | 'ground-station';
