import type { FromSchema } from 'json-schema-to-ts';
import type { radioPairs } from '../../../shared/schemas/radio-pairing.ts';
import { NodeCommand } from '../../node-command.ts';

type Pairs = FromSchema<typeof radioPairs>;

export default class RadioPairsCommand extends NodeCommand {
  static override summary = 'List the bound radios with their fingerprints.';
  static override examples = ['<%= config.bin %> radio pairs'];

  async run(): Promise<Pairs> {
    await this.parse(RadioPairsCommand);
    const answer = (await this.api('GET', '/api/wfb/pair')) as Pairs;
    for (const { slot, device_id: id, name, fingerprint, proved } of answer.pairs)
      this.log(
        `slot ${slot}  ${id} ${name}  ${fingerprint}  ${proved ? 'proved' : 'has carried no data yet'}`,
      );
    if (!answer.paired) this.log('No bound radios.');
    return answer;
  }
}
