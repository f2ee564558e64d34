import { FEATURES, type Feature, type Profile } from '../profile.ts';
import type { Row } from './row.ts';

/** What a node runs, as far as it decides which routes it has. */
export interface Running {
  readonly profile: Profile;
  readonly features: ReadonlySet<Feature>;
  /** Whether the residual is part of this build. */
  readonly residual: boolean;
}

/** Why a node answers 501 to a route, whoever asks; null if it serves it (docs/contract/node.md#profiles-and-features). */
export function unserved(
  { profiles, feature, lane, built }: Pick<Row, 'profiles' | 'feature' | 'lane' | 'built'>,
  { profile, features, residual }: Running,
): 'feature' | 'residual' | 'built' | null {
  const inProfile = profiles === 'DG' || profiles === (profile === 'drone' ? 'D' : 'G');
  if (!inProfile || !features.has(feature)) return 'feature';
  if (lane === 'residual' && !residual) return 'residual';
  return built ? null : 'built';
}

/** Of flying the residual has the files afterwards: without it a node flies all the same. */
const WITHOUT_RESIDUAL: ReadonlySet<Feature> = new Set(['flight']);

/** The features of which a node serves every route of its profile; of flying those that fly. */
export function servedFeatures(rows: readonly Row[], running: Running): readonly Feature[] {
  return FEATURES.filter((feature) => {
    const why = rows.filter((row) => row.feature === feature).map((row) => unserved(row, running));
    const lacks = why.includes('built') || (why.includes('residual') && !WITHOUT_RESIDUAL.has(feature));
    return why.includes(null) && !lacks;
  });
}
