import { Args } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { tableOf } from '../cli/table.ts';

class CameraCommand extends NodeCommand {
  static override summary = 'List the cameras that can be shown, or show another one.';
  static override description =
    'Viewers and a recording go on. More cameras: video.cameras in the configuration. What is connected: svc peripherals.';
  static override examples = ['<%= config.bin %> camera', '<%= config.bin %> camera tail'];
  static override args = { id: Args.string({ description: 'the one to show; main is video.source' }) };

  async run(): Promise<Answer<'video.cameras.get'> | Answer<'video.camera.put'>> {
    const { args } = await this.parse(CameraCommand);
    if (args.id !== undefined) {
      const shown = await this.call('PUT /api/video/camera', { body: { camera_id: args.id } });
      this.log(`${shown.camera_id} is shown${shown.source === null ? '' : ` (${shown.source})`}.`);
      return shown;
    }
    const list = await this.call('GET /api/video/cameras');
    const rows = list.configured.map(({ id, name, source }) => [
      id,
      name,
      source,
      id === list.camera_id ? 'shown' : '',
    ]);
    for (const line of tableOf(['ID', 'NAME', 'SOURCE', ''], rows)) this.log(line);
    return list;
  }
}

export default { camera: CameraCommand };
