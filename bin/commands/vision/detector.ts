import { Args, Flags } from '@oclif/core';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class VisionDetectorCommand extends NodeCommand {
  static override summary = 'Choose the model that looks at the pictures, or none.';
  static override examples = [
    '<%= config.bin %> vision detector marker',
    '<%= config.bin %> vision detector --off',
  ];
  static override args = { id: Args.string({ description: 'of `svc vision models`' }) };
  static override flags = {
    off: Flags.boolean({ summary: 'nothing looks at the pictures any more', default: false }),
  };

  async run(): Promise<Answer<'vision.detector.put'>> {
    const { args, flags } = await this.parse(VisionDetectorCommand);
    if ((args.id === undefined) !== flags.off)
      this.error('Name a model of `svc vision models`, or --off.', { exit: EXIT.usage });
    const chosen =
      args.id === undefined
        ? await this.call('DELETE /api/vision/detector')
        : await this.call('PUT /api/vision/detector', { body: { model_id: args.id } });
    if (chosen.model_id === null) this.log('Detection is off.');
    else if (chosen.enabled) this.log(`${chosen.model_id} is now the detector.`);
    else this.log(`${chosen.model_id} is chosen, but does not run: there is no video.`);
    return chosen;
  }
}
