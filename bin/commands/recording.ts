import { Args } from '@oclif/core';
import { NodeCommand } from '../cli/node-command.ts';
import { tableOf } from '../cli/table.ts';

const ACTIONS = ['list', 'start', 'stop'] as const;

class RecordingCommand extends NodeCommand {
  static override summary = "List the recordings of the node's camera, or start or stop one.";
  static override description = 'What a ground station records of the received video: svc gs recording.';
  static override examples = ['<%= config.bin %> recording list', '<%= config.bin %> recording start'];
  static override args = {
    action: Args.string({ description: 'what to do', options: ACTIONS, default: 'list' }),
  };

  async run(): Promise<unknown> {
    const { args } = await this.parse(RecordingCommand);
    if (args.action === 'start') {
      const started = await this.call('POST /api/video/record/start', { body: {} });
      this.log(`Recording to ${started.name}`);
      return started;
    }
    if (args.action === 'stop') {
      const stopped = await this.call('POST /api/video/record/stop');
      this.log(`${stopped.files.join(', ')}: ${stopped.duration_seconds} s, ${stopped.size_bytes} bytes`);
      return stopped;
    }
    const list = await this.call('GET /api/video/recordings');
    const now =
      list.recording === null ? 'Nothing is recorded at the moment.' : `Recording to ${list.recording.name}`;
    this.log(now);
    const rows = list.recordings.map(({ name, size_bytes: size, modified_at: at }) => [name, size, at]);
    for (const line of tableOf(['NAME', 'BYTES', 'WRITTEN'], rows)) this.log(line);
    return list;
  }
}

export default { recording: RecordingCommand };
