import { Args, Flags } from '@oclif/core';
import { followLog, type LogLine, lineOf } from '../../log-stream.ts';
import { PluginNodeCommand } from '../../plugin-node-command.ts';

export default class PluginLogs extends PluginNodeCommand {
  static override summary = 'What an extension has printed.';
  static override examples = [
    '<%= config.bin %> plugin logs org.example.thermal --lines 20',
    '<%= config.bin %> plugin logs org.example.thermal --follow',
  ];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };
  static override flags = {
    lines: Flags.integer({ summary: 'the newest so many', default: 100, min: 1, max: 1000 }),
    follow: Flags.boolean({ char: 'f', summary: 'and what comes, until Ctrl-C' }),
  };

  async run(): Promise<readonly LogLine[]> {
    const { args, flags } = await this.parse(PluginLogs);
    const id = encodeURIComponent(args.id);
    const answer = await this.api('GET', `/api/plugins/${id}/logs?limit=${flags.lines}`);
    const entries = (answer as { readonly entries: readonly LogLine[] }).entries.toReversed();
    if (!flags.follow || !this.jsonEnabled()) for (const entry of entries) this.log(lineOf(entry));
    if (!flags.follow) return entries;
    await followLog(this.stream(`/api/logs/stream?service=${id}&replay=0`), (entry, text) => {
      if (this.jsonEnabled()) process.stdout.write(`${text}\n`);
      else this.log(lineOf(entry));
    });
    return entries;
  }
}
