import { Args, Flags } from '@oclif/core';
import { NodeCommand } from '../../cli/node-command.ts';
import { saveStream } from '../../cli/save-stream.ts';

export default class TlogsGetCommand extends NodeCommand {
  static override summary = 'Fetch one telemetry log, for MAVProxy, Mission Planner or mavlogdump.';
  static override examples = ['<%= config.bin %> tlogs get 20261127T063000.000Z.tlog'];
  static override args = { name: Args.string({ description: 'its name in the list', required: true }) };
  static override flags = { output: Flags.string({ char: 'o', summary: 'the file; without it, its name' }) };

  async run(): Promise<{ readonly output: string; readonly bytes: number }> {
    const { args, flags } = await this.parse(TlogsGetCommand);
    const { name } = args;
    const output = flags.output ?? name;
    const bytes = await saveStream(this.stream('GET /api/tlogs/{name}', { params: { name } }), output);
    this.log(`${output}: ${bytes} bytes`);
    return { output, bytes };
  }
}
