import { Flags } from '@oclif/core';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { NodeCommand } from '../../cli/node-command.ts';

export default class GsDronesCommand extends NodeCommand {
  static override summary = 'List the drones of the ground station, or choose the active one.';
  static override description =
    'The ground station flies and shows the active drone; the others are reached with --via. A change restarts svc-link and svc-video.';
  static override examples = ['<%= config.bin %> gs drones', '<%= config.bin %> gs drones --use 3fa2b1'];
  static override flags = {
    use: Flags.string({ summary: 'the drone that is the active one from now on', helpValue: 'DEVICE' }),
    force: Flags.boolean({ summary: 'also while the active drone is armed, or its state unknown' }),
  };

  async run(): Promise<Answer<'ground-station.drones.get'>> {
    const {
      flags: { use, force },
    } = await this.parse(GsDronesCommand);
    const answer =
      use === undefined
        ? await this.call('GET /api/v1/ground-station/drones')
        : await this.call('PUT /api/v1/ground-station/drones/active', { body: { device_id: use, force } });
    for (const { slot, device_id: id, name, link, last_seen: seen } of answer.drones) {
      const mark = id === answer.active ? '*' : ' ';
      this.log(
        `${mark} slot ${slot}  ${id} ${name}  link ${link ?? 'not known'}  last seen ${seen ?? 'never'}`,
      );
    }
    if (answer.drones.length === 0) this.log('No drone is bound. Bind one with: svc radio pair HOST');
    return answer;
  }
}
