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

function toggle(restart: readonly string[]) {
  return {
    type: 'boolean',
    description: "true or false overrides the profile's default",
    ...CLASS,
    ...GUARDED,
    'x-restart': restart,
  } as const;
}

/** The section `features`: overrides of what the profile runs (docs/contract/node.md#profiles-and-features). */
export const featuresConfig = section({
  residual: {
    ...toggle(['svc-supervisor']),
    description: 'false: the small headless build, without the residual process',
  },
  ...(Object.fromEntries(
    FEATURES.map((feature) => [feature, toggle(['svc-control', ...(PROCESSES[feature] ?? [])])]),
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
  readonly features: { readonly [K in Feature]?: boolean };
}): ReadonlySet<Feature> {
  const off = OFF_BY_PROFILE[config.agent.profile];
  return new Set(FEATURES.filter((feature) => config.features[feature] ?? !off.includes(feature)));
}
