import { Flags } from '@oclif/core';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { queryOf, recordFlags } from './log-flags.ts';
import { followLog, lineOf } from './log-stream.ts';

export default class LogsTailCommand extends NodeCommand {
  static override summary = 'Follow the log until Ctrl-C.';
  static override examples = [
    '<%= config.bin %> logs tail',
    '<%= config.bin %> logs tail --source svc-link --level warn --replay 20',
  ];
  static override flags = {
    level: recordFlags.level,
    source: recordFlags.source,
    replay: Flags.integer({ summary: 'entries to begin with, up to 1000', default: 20 }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(LogsTailCommand);
    const query = queryOf({ level: flags.level, service: flags.source, replay: flags.replay });
    await followLog(this.stream('GET /api/logs/stream', { query }), (entry, text) => {
      if (this.jsonEnabled())
        process.stdout.write(`${text}\n`); // a line each, as they come
      else this.log(lineOf(entry));
    });
    this.error('The node ended the stream.', { exit: EXIT.refused });
  }
}
