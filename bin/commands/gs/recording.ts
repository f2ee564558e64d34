import { Args } from '@oclif/core';
import { NodeCommand } from '../../cli/node-command.ts';

export default class GsRecordingCommand extends NodeCommand {
  static override summary = 'List the recordings of the received video, or start or stop one.';
  static override examples = ['<%= config.bin %> gs recording', '<%= config.bin %> gs recording start'];
  static override args = { action: Args.string({ description: 'what to do', options: ['start', 'stop'] }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(GsRecordingCommand);
    if (args.action === 'start') {
      const started = await this.call('POST /api/v1/ground-station/recording/start', { body: {} });
      this.log(`Recording to ${started.name}`);
      return started;
    }
    if (args.action === 'stop') {
      const stopped = await this.call('POST /api/v1/ground-station/recording/stop');
      this.log(`${stopped.files.join(', ')}: ${stopped.duration_seconds} s, ${stopped.size_bytes} bytes`);
      return stopped;
    }
    const list = await this.call('GET /api/v1/ground-station/recording');
    this.log(
      list.current === null ? 'Nothing is recorded at the moment.' : `Recording to ${list.current.name}`,
    );
    for (const { name, size_bytes: size, modified_at: at } of list.items)
      this.log(`${name.padEnd(40)} ${String(size).padStart(12)} ${at}`);
    return list;
  }
}
