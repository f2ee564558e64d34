import { keysWith, valueAt } from './keys.ts';
import type { Config } from './schema.ts';

/** What stands in the place of a secret that is set. */
export const MASK = '***';

/** A copy of the config in which every secret that is set is masked. */
export function maskedConfig(config: Config): Config {
  const copy = structuredClone(config);
  for (const key of keysWith('x-secret')) {
    const dot = key.lastIndexOf('.');
    const section = valueAt(copy, key.slice(0, dot));
    const value = valueAt(copy, key);
    if (typeof section === 'object' && section !== null && value !== undefined && value !== '')
      Object.assign(section, { [key.slice(dot + 1)]: MASK });
  }
  return copy;
}

/** The values of the config's secrets that are set. */
export function configSecrets(config: Config): readonly string[] {
  return keysWith('x-secret')
    .map((key) => valueAt(config, key))
    .filter((value): value is string => typeof value === 'string' && value !== '');
}
