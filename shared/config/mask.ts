import { MASK } from '../mask.ts';
import { memberOf, recordOf } from '../member.ts';
import { type ConfigNode, configLeaves, valueAt } from './keys.ts';
import type { Config } from './schema.ts';

/** A copy of the config in which every secret that is set is masked. */
export function maskedConfig(config: Config): Config {
  const copy = structuredClone(config);
  for (const place of secretsIn(copy)) Object.assign(place.object, { [place.member]: MASK });
  return copy;
}

/** The values of the config's secrets that are set. */
export function configSecrets(config: Config): readonly string[] {
  return secretsIn(config).map(({ value }) => value);
}

/** A value of the key with the secrets that it has masked. */
export function maskedValue(leaf: ConfigNode, value: unknown): unknown {
  if (leaf['x-secret'] === true) return value === '' ? '' : MASK;
  const copy = structuredClone(value);
  for (const place of secretEntries(leaf, copy)) Object.assign(place.object, { [place.member]: MASK });
  return copy;
}

/** Whether a value that is to be written holds the mask where a secret belongs. */
export function holdsMask(leaf: ConfigNode, value: unknown): boolean {
  if (leaf['x-secret'] === true) return value === MASK;
  return secretEntries(leaf, value).some((place) => place.value === MASK);
}

interface SecretPlace {
  readonly object: object;
  readonly member: string;
  readonly value: string;
}

/** Where secrets stand that are set: keys that are secret, and secret members of the entries of lists. */
function secretsIn(config: Config): readonly SecretPlace[] {
  return configLeaves().flatMap(([key, leaf]) => {
    if (leaf['x-secret'] !== true) return secretEntries(leaf, valueAt(config, key));
    const dot = key.lastIndexOf('.');
    return placeIn(valueAt(config, key.slice(0, dot)), key.slice(dot + 1));
  });
}

function secretEntries(leaf: ConfigNode, value: unknown): readonly SecretPlace[] {
  const members = Object.entries(recordOf(memberOf(leaf['items'], 'properties')))
    .filter(([, schema]) => memberOf(schema, 'x-secret') === true)
    .map(([member]) => member);
  if (members.length === 0 || !Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => members.flatMap((member) => placeIn(entry, member)));
}

function placeIn(object: unknown, member: string): readonly SecretPlace[] {
  const value = memberOf(object, member);
  return typeof object === 'object' && object !== null && typeof value === 'string' && value !== ''
    ? [{ object, member, value }]
    : [];
}
