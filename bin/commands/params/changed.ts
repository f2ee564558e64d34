import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { ParamsCommand } from './params-command.ts';

/**
 * What the firmware itself writes: ArduPilot's statistics (AP_Stats) and how many items its lists have; PX4's flight time and the
 * number of its flights. Nobody has chosen these values, and they differ from their defaults after the first flight.
 */
const COUNTER = /^(?:STAT_\w+|(?:MIS|FENCE|RALLY)_TOTAL|LND_FLIGHT_T_(?:HI|LO)|COM_FLIGHT_UUID)$/;

export default class ParamsChangedCommand extends ParamsCommand {
  static override summary = 'List the parameters that differ from their defaults.';
  static override examples = ['<%= config.bin %> params changed'];

  async run(): Promise<unknown> {
    await this.parse(ParamsChangedCommand);
    await this.allParams();
    const answer = await this.call('GET /api/params/changed');
    const chosen = answer.changed.filter(({ name }) => !COUNTER.test(name));
    for (const { name, value, default: initial } of chosen)
      this.log(`${name.padEnd(16)} ${shownFloat(value).padEnd(14)} default ${shownFloat(initial)}`);
    if (chosen.length === 0) this.log('Nothing differs from its default.');
    const counters = answer.changed.length - chosen.length;
    if (counters > 0) this.log(`Left out: what the vehicle counts by itself (${counters}); --json has it.`);
    if (answer.unknown > 0) this.log(`The defaults of ${answer.unknown} others are not known.`);
    return answer;
  }
}
