import type { TelemetryGroup } from '../flight/telemetry-groups.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Described, Whole } from '../schemas/made.ts';
import { telemetry } from '../schemas/telemetry.ts';

type Body = Whole<Described<typeof telemetry>>;

/** Members of the snapshot that are not the vehicle's own values (telemetry-body.ts). */
const OF_THE_NODE = [
  'mavlink_alive',
  'heartbeat_age_s',
  'link_age_s',
  'system_id',
  'extensions',
  'statustext',
  'param_cached_count',
  'param_expected_count',
  'param_generation',
  'param_priming',
] as const satisfies readonly (keyof Body)[];

/**
 * What the vehicle says, as the schema of the snapshot describes it (names and units: docs/contract/flight.md#telemetry). A value that was
 * never received is null.
 */
export type Telemetry = Omit<Body, (typeof OF_THE_NODE)[number] | 'ages'> & {
  /** Seconds since each part was last received, null for never. */
  ages: Record<TelemetryGroup, number | null>;
};

export type Battery = NonNullable<Telemetry['batteries']>[number];
export type Esc = NonNullable<Telemetry['esc']>[number];
export type PrearmReport = Telemetry['prearm'];
export type PrearmReason = PrearmReport['reasons'][number];
export type TrafficVehicle = NonNullable<Telemetry['traffic']>['vehicles'][number];
export type CollisionThreat = NonNullable<Telemetry['collision']>;

const NODES_OWN: ReadonlySet<string> = new Set(OF_THE_NODE);

/** Before anything was received. */
export function emptyTelemetry(): Telemetry {
  const values = Object.entries(telemetry.properties).filter(([name]) => !NODES_OWN.has(name));
  // Each as its schema has it, which is what the type is made of.
  return Object.fromEntries(values.map(([name, schema]) => [name, emptyOf(schema)])) as Telemetry;
}

/** Null where the schema allows it, else a list or an object of what is empty. */
function emptyOf({ type, enum: words, properties = {} }: JsonSchema): unknown {
  if ((Array.isArray(words) && words.includes(null)) || [type].flat().includes('null')) return null;
  if (type === 'array') return [];
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      typeof schema === 'boolean' ? null : emptyOf(schema),
    ]),
  );
}
