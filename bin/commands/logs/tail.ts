import { Flags } from '@oclif/core';
import { LineSplitter } from '../../../shared/rpc/lines.ts';
import { EXIT } from '../../exit-codes.ts';
import { queryOf, recordFlags } from '../../log-flags.ts';
import { NodeCommand } from '../../node-command.ts';

const MAX_LINE_CHARS = 1024 * 1024;

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
    const lines = new LineSplitter(MAX_LINE_CHARS);
    for await (const chunk of this.stream(`/api/logs/stream${query}`)) {
      lines.push(chunk, (line) => {
        if (line.startsWith('data: ')) this.show(line.slice('data: '.length));
      });
    }
    this.error('The node ended the stream.', { exit: EXIT.refused });
  }

  private show(text: string): void {
    if (this.jsonEnabled()) {
      process.stdout.write(`${text}\n`); // a line each, as they come
      return;
    }
    const entry = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (entry['kind'] === 'lagged') this.log(`… ${String(entry['dropped'])} entries were skipped`);
    else
      this.log(
        `${String(entry['timestamp'])} ${String(entry['level']).padEnd(5)} ${String(entry['logger']).padEnd(14)} ${String(entry['message'])}`,
      );
  }
}
