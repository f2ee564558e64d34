import { NodeCommand } from '../../node-command.ts';

interface LogList {
  readonly logs: readonly {
    readonly id: number;
    readonly size: number;
    readonly time: string | null;
    readonly held: number;
  }[];
  readonly note: string | null;
}

export default class FlightLogsListCommand extends NodeCommand {
  static override summary = 'List the logs on the vehicle.';
  static override examples = ['<%= config.bin %> flightlogs list'];

  async run(): Promise<unknown> {
    await this.parse(FlightLogsListCommand);
    const answer = (await this.api('GET', '/api/flight-logs')) as LogList;
    for (const { id, size, time, held } of answer.logs) {
      const here =
        held >= size ? 'on this node' : held > 0 ? `${((100 * held) / size).toFixed(0)} % on this node` : '';
      this.log(
        `${String(id).padStart(5)} ${(time ?? 'time not known').padEnd(25)} ${String(size).padStart(12)} bytes ${here}`.trimEnd(),
      );
    }
    if (answer.logs.length === 0) this.log('No logs.');
    if (answer.note !== null) this.log(answer.note);
    return answer;
  }
}
