import { Args, Flags } from '@oclif/core';
import { followLog, type LogLine, lineOf } from '../logs/log-stream.ts';
import { PluginNodeCommand } from './plugin-node-command.ts';

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
    const { id } = args;
    const answer = await this.call('GET /api/plugins/{id}/logs', {
      params: { id },
      query: { limit: flags.lines },
    });
    const entries = answer.entries.toReversed();
    if (!flags.follow || !this.jsonEnabled()) for (const entry of entries) this.log(lineOf(entry));
    if (entries.length === 0) this.logToStderr('No records.');
    if (!flags.follow) return entries;
    await followLog(
      this.stream('GET /api/logs/stream', { query: { service: id, replay: 0 } }),
      (entry, text) => {
        if (this.jsonEnabled()) process.stdout.write(`${text}\n`);
        else this.log(lineOf(entry));
      },
    );
    return entries;
  }
}
