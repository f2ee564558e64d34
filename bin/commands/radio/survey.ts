import type { FromSchema } from 'json-schema-to-ts';
import type { surveyAnswer } from '../../../shared/schemas/radio.ts';
import { NodeCommand } from '../../node-command.ts';

export default class RadioSurveyCommand extends NodeCommand {
  static override summary = 'Listen on every channel with a spare card, and show where it is quiet.';
  static override examples = ['<%= config.bin %> radio survey'];

  async run(): Promise<unknown> {
    await this.parse(RadioSurveyCommand);
    const answer = (await this.api('GET', '/api/wfb/survey')) as FromSchema<typeof surveyAnswer>;
    this.log(`with ${answer.card}`);
    for (const { channel, frequency_mhz: mhz, allowed, frames, noise_dbm: noise, best } of answer.channels) {
      const heard = frames === null ? 'not listened to' : `${frames} frames`;
      const noisy = noise === null ? '' : `, noise ${noise} dBm`;
      const mark = best ? ', best' : allowed ? '' : ', not allowed to send';
      this.log(`${String(channel).padStart(3)}  ${mhz} MHz  ${heard}${noisy}${mark}`);
    }
    return answer;
  }
}
