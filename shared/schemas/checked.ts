import { faultOf } from './fault.ts';
import type { Validator } from './validator.ts';

/**
 * The value, which now has the type of its schema.
 * @param failed what is thrown; told the first thing that is wrong, without a full stop
 */
export function checked<T>(
  validate: Validator<T>,
  value: unknown,
  failed: (fault: string) => Error = (fault) => new Error(fault),
): T {
  if (validate.fits(value)) return value;
  const [first] = validate(value) ?? [];
  throw failed(first === undefined ? 'it is not valid' : faultOf(first, 'it'));
}
