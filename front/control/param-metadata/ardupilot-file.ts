import { bitsOf, choicesOf, type Described, numberOf, recordOf, textOf, valuesOf } from './description.ts';

/**
 * ArduPilot's `apm.pdef.json`, one file a vehicle type (https://autotest.ardupilot.org/Parameters/): groups by the prefix of
 * their names, all numbers as texts. It tells no defaults.
 * @returns null if it is no such file
 */
export function ardupilotParams(file: unknown): readonly Described[] | null {
  const found: Described[] = [];
  for (const [group, members] of Object.entries(recordOf(file))) {
    if (group === 'json') continue; // the version of the format
    for (const [key, value] of Object.entries(recordOf(members))) {
      const param = recordOf(value);
      if (textOf(param['DisplayName']) === null && textOf(param['Description']) === null) continue;
      const { low, high } = recordOf(param['Range']);
      const reboot = param['RebootRequired'];
      found.push({
        name: key.slice(key.indexOf(':') + 1), // some carry the vehicle's name in front
        default: null,
        description: {
          group: textOf(group.replace(/_$/, '')),
          user_level: textOf(param['User']),
          label: textOf(param['DisplayName']),
          description: textOf(param['Description']),
          units: textOf(param['Units']),
          min: numberOf(low),
          max: numberOf(high),
          increment: numberOf(param['Increment']),
          values: valuesOf(choicesOf(Object.entries(recordOf(param['Values'])))),
          bitmask: bitsOf(choicesOf(Object.entries(recordOf(param['Bitmask'])))),
          reboot_required: reboot === undefined ? false : reboot === true || reboot === 'True',
        },
      });
    }
  }
  return found.length === 0 ? null : found;
}
