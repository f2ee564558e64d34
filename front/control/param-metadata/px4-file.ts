import { listOf } from '../../../shared/member.ts';
import { bitsOf, choicesOf, type Described, numberOf, recordOf, textOf, valuesOf } from './description.ts';

/**
 * PX4's `parameters.json` (version 1), which it also serves as component metadata:
 * https://github.com/mavlink/mavlink/blob/master/component_metadata/parameter.schema.json
 * @returns null if it is no such file
 */
export function px4Params(file: unknown): readonly Described[] | null {
  const { parameters } = recordOf(file);
  if (!Array.isArray(parameters)) return null;
  return listOf(parameters).flatMap((each) => {
    const param = recordOf(each);
    const name = textOf(param['name']);
    if (name === null) return [];
    const { rebootRequired, min, max } = param;
    return [
      {
        name,
        default: numberOf(param['default']),
        description: {
          group: textOf(param['group']),
          user_level: textOf(param['category']),
          label: textOf(param['shortDesc']),
          description: textOf(param['longDesc']),
          units: textOf(param['units']),
          min: numberOf(min),
          max: numberOf(max),
          increment: numberOf(param['increment']),
          values: valuesOf(pairs(param['values'], 'value')),
          bitmask: bitsOf(pairs(param['bitmask'], 'index')),
          // The schema's default.
          reboot_required: typeof rebootRequired === 'boolean' ? rebootRequired : false,
        },
      },
    ];
  });
}

function pairs(list: unknown, key: string): ReturnType<typeof choicesOf> {
  if (!Array.isArray(list)) return null;
  return choicesOf(
    listOf(list).map((each) => {
      const entry = recordOf(each);
      return [entry[key], entry['description']];
    }),
  );
}
