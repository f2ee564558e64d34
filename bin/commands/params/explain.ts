import { Args } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { NodeCommand } from '../../node-command.ts';

interface Explained {
  readonly name: string;
  readonly value: number;
  readonly default: number | null;
  readonly metadata: {
    readonly group: string | null;
    readonly label: string | null;
    readonly description: string | null;
    readonly units: string | null;
    readonly min: number | null;
    readonly max: number | null;
    readonly increment: number | null;
    readonly values: readonly { readonly value: number; readonly text: string }[] | null;
    readonly bitmask: readonly { readonly bit: number; readonly text: string }[] | null;
    readonly reboot_required: boolean | null;
  } | null;
}

export default class ParamsExplainCommand extends NodeCommand {
  static override summary = 'Say what one parameter is for, its range and its default.';
  static override examples = ['<%= config.bin %> params explain RTL_ALT'];
  static override args = { name: Args.string({ description: 'as the vehicle spells it', required: true }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(ParamsExplainCommand);
    const answer = (await this.api('GET', `/api/params/${encodeURIComponent(args.name)}`)) as Explained;
    const { name, value, default: initial, metadata } = answer;
    const units = metadata?.units == null ? '' : ` ${metadata.units}`;
    this.log(
      `${name} is ${shownFloat(value)}${units}, the default is ${initial === null ? 'not known' : `${shownFloat(initial)}${units}`}`,
    );
    if (metadata === null) {
      this.log(
        'Nothing describes it. Put apm.pdef.json (ArduPilot) or parameters.json (PX4) below param-metadata/.',
      );
      return answer;
    }
    const { label, description, min, max, values, bitmask } = metadata;
    if (label !== null) this.log(label);
    if (description !== null) this.log(description);
    if (min !== null || max !== null) this.log(`Range: ${min ?? 'any'} to ${max ?? 'any'}${units}`);
    for (const each of values ?? [])
      this.log(`${each.value === value ? '*' : ' '} ${each.value} ${each.text}`);
    for (const each of bitmask ?? []) {
      // Division and not a shift: bit 31 of an unsigned value is above what a shift can tell.
      const set = Math.floor(value / 2 ** each.bit) % 2 !== 0;
      this.log(`${set ? '*' : ' '} bit ${each.bit} ${each.text}`);
    }
    if (metadata.reboot_required === true) this.log('A new value is used after a reboot.');
    return answer;
  }
}
