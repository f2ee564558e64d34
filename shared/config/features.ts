import { FEATURES, type Feature, type Profile } from '../profile.ts';
import { GUARDED, section } from './leaf.ts';

const CLASS = {
  'x-class': 'keyonly',
  'x-reason': 'can switch off protections such as token revocation',
} as const;

/** The processes besides svc-control that depend on a feature. */
const PROCESSES: Readonly<Partial<Record<Feature, readonly string[]>>> = {
  video: ['svc-video'],
  vision: ['svc-vision'],
  fleet: ['svc-fleet'],
  network: ['svc-machine'],
  'ground-station': ['svc-machine'],
};

const TITLES: Readonly<Record<Feature, string>> = {
  core: 'Status and the way back',
  pairing: 'Pairing',
  mcp: 'AI clients',
  config: 'Configuration',
  flight: 'Flight',
  fleet: 'Fleet',
  radio: 'Radio link',
  network: 'Networks',
  video: 'Video',
  whep: 'Video in the browser',
  plugins: 'Extensions',
  peripherals: 'Peripherals',
  vision: 'Object detection',
  logs: 'Logs and events',
  setup: 'Set-up',
  dashboard: 'Web page',
  'ground-station': 'Ground station',
};

function toggle(title: string, restart: readonly string[]) {
  return {
    title,
    type: ['boolean', 'null'],
    enum: [null, true, false],
    'x-words': ['As the profile has it', 'On', 'Off'],
    default: null,
    description: 'on or off overrides what the profile has',
    ...CLASS,
    ...GUARDED,
    'x-restart': restart,
  } as const;
}

/** The section `features`: overrides of what the profile runs (docs/contract/node.md#profiles-and-features). */
export const featuresConfig = section('Features', 'advanced', {
  residual: {
    title: 'Everything besides control and link',
    type: 'boolean',
    default: true,
    description: 'off: the small headless build, without the residual process',
    ...CLASS,
    ...GUARDED,
    'x-restart': ['svc-supervisor'],
  },
  ...(Object.fromEntries(
    FEATURES.map((feature) => [
      feature,
      toggle(TITLES[feature], ['svc-control', ...(PROCESSES[feature] ?? [])]),
    ]),
  ) as Readonly<Record<Feature, ReturnType<typeof toggle>>>),
});

/** What a profile has no use for. */
export const OFF_BY_PROFILE: Readonly<Record<Profile, readonly Feature[]>> = {
  drone: ['ground-station'],
  'ground-station': ['vision'],
};

/** The features that this node runs: the profile's, changed by `features.<name>` in the config. */
export function enabledFeatures(config: {
  readonly agent: { readonly profile: Profile };
  readonly features: { readonly [K in Feature]?: boolean | null };
}): ReadonlySet<Feature> {
  const off = OFF_BY_PROFILE[config.agent.profile];
  return new Set(FEATURES.filter((feature) => config.features[feature] ?? !off.includes(feature)));
}
