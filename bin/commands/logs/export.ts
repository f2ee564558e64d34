import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Flags } from '@oclif/core';
import { NodeCommand } from '../../cli/node-command.ts';
import { saveStream } from '../../cli/save-stream.ts';
import { queryOf, recordFlags } from './log-flags.ts';

const CLEAR_LINE = '\r\u001b[K';

export default class LogsExportCommand extends NodeCommand {
  static override summary = 'Write records to a file, a JSON object a line, newest first.';
  static override examples = ['<%= config.bin %> logs export --since 1d --output today.jsonl'];
  static override flags = {
    ...recordFlags,
    kind: Flags.option({ options: ['logs', 'events', 'metrics'] as const })(),
    output: Flags.string({ char: 'o', summary: 'the file; without it, standard output' }),
  };

  async run(): Promise<{ readonly bytes: number; readonly output: string | null }> {
    const { flags } = await this.parse(LogsExportCommand);
    const { output, ...conditions } = flags;
    const source = this.stream('GET /api/logs/export', { query: queryOf(conditions) });
    let bytes = 0;
    const shows = typeof output === 'string' && process.stderr.isTTY;
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of source) {
        bytes += chunk.length;
        if (shows) process.stderr.write(`\r${(bytes / 1e6).toFixed(1)} MB`); // the total size is unknown
        yield chunk;
      }
    };
    if (typeof output !== 'string') {
      await pipeline(Readable.from(counted()), process.stdout, { end: false });
      return { bytes, output: null };
    }
    try {
      await saveStream(counted(), output);
    } finally {
      if (shows) process.stderr.write(CLEAR_LINE);
    }
    this.log(`${output}: ${bytes} bytes`);
    return { bytes, output };
  }
}
