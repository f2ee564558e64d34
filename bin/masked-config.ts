import { keysWith } from '../shared/config/keys.ts';
import type { Config } from '../shared/config/schema.ts';

const MASK = '***';

/** A copy of the config with `***` for every secret that is set, as in `GET /api/config`. */
export function maskedConfig(config: Config): unknown {
  const copy: unknown = structuredClone(config);
  for (const key of keysWith('x-secret')) {
    const names = key.split('.');
    const last = names.pop() ?? '';
    const section = names.reduce(memberOf, copy);
    const value = memberOf(section, last);
    if (typeof section === 'object' && section !== null && value !== undefined && value !== '')
      Object.assign(section, { [last]: MASK });
  }
  return copy;
}

/** The values of the config's secrets that are set. */
export function configSecrets(config: Config): readonly string[] {
  return keysWith('x-secret')
    .map((key) => key.split('.').reduce<unknown>(memberOf, config))
    .filter((value): value is string => typeof value === 'string' && value !== '');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
