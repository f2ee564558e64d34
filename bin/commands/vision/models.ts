import type { Answer } from '../../../shared/routes/typed-row.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class VisionModelsCommand extends NodeCommand {
  static override summary = 'List the models that a detector can be made of.';
  static override examples = ['<%= config.bin %> vision models'];

  async run(): Promise<Answer<'vision.models.get'>> {
    await this.parse(VisionModelsCommand);
    const answer = await this.call('GET /api/vision/models');
    for (const { id, head, input_w: width, input_h: height, classes, size_bytes: size } of answer.installed) {
      const mark = id === answer.active ? '*' : ' ';
      this.log(
        `${mark} ${id.padEnd(32)} ${head.padEnd(7)} ${width}x${height}  ${classes.length} classes  ${size} bytes`,
      );
    }
    if (answer.installed.length === 0) this.log('No models installed.');
    const missing = answer.registry.filter((model) => answer.installed.every(({ id }) => id !== model.id));
    for (const { id, name } of missing) this.log(`- ${id.padEnd(32)} offered by the list: ${name ?? id}`);
    if (answer.registry_error !== null) this.warn(`The list of models: ${answer.registry_error}`);
    const { used_mb: used, max_mb: most } = answer.cache;
    this.log(`${used.toFixed(1)} of ${most.toFixed(0)} MB are used.`);
    return answer;
  }
}
