import type { Feature, Profile } from '../../shared/profile.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { type Running, unserved } from '../../shared/routes/served.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { NotRun } from './report.ts';

/** The rows as the kit asks for them. The route table of this version is what a node is held against. */

export const ALL: readonly Row[] = ROWS;

/** What is not asked, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'wfb.survey.get': 'it may take a radio card off its channel',
  'network.client.scan.get': 'it may interrupt the Wi-Fi that the request comes over',
};

/** What never ends, or is large: only its head is looked at. */
const HEAD_ONLY: ReadonlySet<string> = new Set([
  'logs.stream.get',
  'logs.export.get',
  'video.live.mp4.get',
  'support-bundle.get',
]);

/** A target of the row, which names what no node has. */
export function targetOf(row: Row): string {
  const rest = row.scope === 'inner' ? 'api/telemetry' : 'x1';
  return row.path
    .replace(/\{\*[a-z_]+\}/, rest)
    .replace(/\{[zxy]\}/g, '1') // a map tile's place is of numbers
    .replace(/\{[a-z_]+\}/g, 'x1');
}

export function isWrite({ method }: Row): boolean {
  return method !== 'GET' && method !== 'WS';
}

export function isHeadOnly({ id }: Row): boolean {
  return HEAD_ONLY.has(id);
}

/** @throws NotRun */
export function mayAsk({ id }: Row): void {
  const why = LEFT_OUT[id];
  if (why !== undefined) throw new NotRun(why);
}

/** What the node says that it runs. */
export interface NodeFacts extends Running {
  readonly version: string;
}

/** @param capabilities as in GET /api/version */
export function factsOf(
  version: string,
  profile: Profile,
  capabilities: readonly string[],
  residual: boolean,
): NodeFacts {
  const features = new Set<Feature>(
    FEATURES.filter((feature) => capabilities.includes(`feature.${feature}`)),
  );
  return { version, profile, features, residual };
}

export function isServed(row: Row, facts: NodeFacts): boolean {
  return unserved(row, facts) === null;
}
