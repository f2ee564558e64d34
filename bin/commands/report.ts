import { Args, Command, Flags } from '@oclif/core';
import { ApiError } from '../../shared/errors.ts';
import { reportOfFile } from '../../shared/reports/report-file.ts';
import { type Compared, compared, comparedLines, reportLines } from '../../shared/reports/report-lines.ts';
import type { FlightReport } from '../../shared/schemas/flight-report.ts';
import { EXIT } from '../cli/exit-codes.ts';

/** Minutes of reading; a card of 32 GB has no log that is longer. */
const MOST_BYTES = 8e9;

interface ReportAnswer extends FlightReport {
  readonly compared?: Compared;
}

class ReportCommand extends Command {
  static override summary = 'What happened in a flight, from a log on this machine; no node is needed.';
  static override description =
    'Takes .BIN of ArduPilot (also turned into text), .ulg of PX4, .tlog of ground stations, whatever they are called. Findings stand in the order in which they began.';
  static override enableJsonFlag = true;
  static override examples = [
    '<%= config.bin %> report 00000042.BIN',
    '<%= config.bin %> report today.ulg --compare yesterday.ulg',
  ];
  static override args = { file: Args.string({ description: 'the log', required: true, ignoreStdin: true }) };
  static override flags = {
    compare: Flags.string({ summary: 'another log, to see what is different', helpValue: 'OTHER' }),
  };

  async run(): Promise<ReportAnswer> {
    const { args, flags } = await this.parse(ReportCommand);
    const report = this.#read(args.file);
    for (const line of reportLines(report)) this.log(line);
    if (flags.compare === undefined) return report;
    const beside = compared(report, this.#read(flags.compare));
    this.log(`Beside ${flags.compare}:`);
    for (const line of comparedLines(beside)) this.log(line);
    return { ...report, compared: beside };
  }

  #read(path: string): FlightReport {
    try {
      return reportOfFile(path, MOST_BYTES);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.error(error.message, { exit: error.code === 'E_NOT_FOUND' ? EXIT.usage : EXIT.refused });
    }
  }
}

export default { report: ReportCommand };
