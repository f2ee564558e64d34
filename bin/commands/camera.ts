import { Args } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';

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
    for (const { id, name, source } of list.configured)
      this.log(`${id === list.camera_id ? '*' : ' '} ${id.padEnd(16)} ${name.padEnd(24)} ${source}`);
    return list;
  }
}

export default { camera: CameraCommand };
