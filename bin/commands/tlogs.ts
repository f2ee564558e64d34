import { Args, Flags } from '@oclif/core';
import { reportLines } from '../../shared/reports/report-lines.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import { saveStream } from '../cli/save-stream.ts';
import { tableOf } from '../cli/table.ts';

const NAME = Args.string({ description: 'its name in the list', required: true });

class TlogsGetCommand extends NodeCommand {
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

export default {
  'tlogs:list': requestCommand('GET /api/tlogs', {
    summary: 'List the telemetry logs of the node.',
    examples: ['tlogs list'],
    *lines({ tlogs, writing, problem }) {
      yield* tableOf(
        ['NAME', 'BYTES', 'WRITTEN', ''],
        tlogs.map(({ name, size_bytes: size, modified_at: at }) => [
          name,
          size,
          at,
          name === writing ? 'goes on' : '',
        ]),
      );
      if (tlogs.length === 0) yield 'No telemetry logs.';
      if (problem !== null) yield problem;
    },
  }),
  'tlogs:get': TlogsGetCommand,
  'tlogs:report': requestCommand('GET /api/tlogs/{name}/report', {
    summary: 'What happened in a flight, from a telemetry log of the node.',
    examples: ['tlogs report 20261127T063000.000Z.tlog'],
    args: { name: NAME },
    ask: ({ args: { name } }) => ({ params: { name } }),
    isLong: true,
    lines: reportLines,
  }),
  'tlogs:delete': requestCommand('DELETE /api/tlogs/{name}', {
    summary: 'Delete one telemetry log of the node.',
    examples: ['tlogs delete 20261127T063000.000Z.tlog'],
    args: { name: NAME },
    ask: ({ args: { name } }) => ({ params: { name } }),
    lines: ({ name }) => [`${name} was deleted`],
  }),
};
