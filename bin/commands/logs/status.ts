import { Flags } from '@oclif/core';
import { NodeCommand } from '../../cli/node-command.ts';

export default class LogsStatusCommand extends NodeCommand {
  static override summary = 'Show the log store; with --openapi, the OpenAPI document of its query API.';
  static override aliases = ['logs:stats'];
  static override examples = ['<%= config.bin %> logs status', '<%= config.bin %> logs status --openapi'];
  static override flags = { openapi: Flags.boolean({ summary: 'print the OpenAPI document' }) };

  async run(): Promise<unknown> {
    const { flags } = await this.parse(LogsStatusCommand);
    if (flags.openapi) {
      const document = await this.call('GET /api/logs/openapi.json');
      this.logPretty(document);
      return document;
    }
    const stats = await this.call('GET /api/logs/stats');
    const time = (us: number | null): string => (us === null ? 'none' : new Date(us / 1000).toISOString());
    const mb = (bytes: number): string => `${(bytes / 1048576).toFixed(1)} MB`;
    this.log(`size     ${mb(stats.db_size_bytes)}, write-ahead log ${mb(stats.wal_size_bytes)}`);
    for (const [name, count] of Object.entries(stats.rows)) this.log(`${name.padEnd(8)} ${count}`);
    this.log(`oldest   ${time(stats.oldest_ts_us)}`);
    this.log(`newest   ${time(stats.newest_ts_us)}`);
    return stats;
  }
}
