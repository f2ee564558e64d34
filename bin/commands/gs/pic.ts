import type { FromSchema } from 'json-schema-to-ts';
import type { pilotState } from '../../../shared/schemas/pilot.ts';
import { NodeCommand } from '../../node-command.ts';

type State = FromSchema<typeof pilotState>;

export default class GsPicCommand extends NodeCommand {
  static override summary = 'Show who is pilot in command.';
  static override examples = ['<%= config.bin %> gs pic'];

  async run(): Promise<State> {
    await this.parse(GsPicCommand);
    const state = (await this.api('GET', '/api/v1/ground-station/pic')) as State;
    this.log(
      state.claimed_by === null
        ? 'Nobody is pilot in command.'
        : `${state.claimed_by} is pilot in command, by ${state.by ?? 'unknown'} since ${state.claimed_at ?? 'unknown'}.`,
    );
    return state;
  }
}
