import { Args } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';

export default class VisionDeleteCommand extends NodeCommand {
  static override summary = 'Delete a model from the node.';
  static override examples = ['<%= config.bin %> vision delete yolov8n'];
  static override args = { id: Args.string({ required: true, description: 'of `svc vision models`' }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(VisionDeleteCommand);
    const answer = await this.api('DELETE', `/api/vision/models/${encodeURIComponent(args.id)}`);
    this.log(`${args.id} deleted.`);
    return answer;
  }
}
