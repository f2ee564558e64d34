import { Args } from '@oclif/core';
import { COMMANDS } from '../../shared/flight/command-catalogue.ts';
import { EXIT } from '../exit-codes.ts';
import { NodeCommand } from '../node-command.ts';

interface Verdict {
  readonly status: 'accepted' | 'rejected' | 'no_ack';
  readonly ack: { readonly result_name: string | null; readonly statustext?: string };
}

export default class CmdCommand extends NodeCommand {
  static override summary = 'Send a flight command; exit code 0 only when the vehicle accepted it.';
  static override description = `Commands: ${Object.keys(COMMANDS).join(', ')}.`;
  static override examples = [
    '<%= config.bin %> cmd arm',
    '<%= config.bin %> cmd takeoff 10',
    '<%= config.bin %> cmd goto 48.1 11.5 30',
    '<%= config.bin %> cmd mode LOITER',
  ];
  static override strict = false;
  static override args = { name: Args.string({ description: 'see GET /api/commands', required: true }) };

  async run(): Promise<Verdict> {
    const { args, argv } = await this.parse(CmdCommand);
    const given = (argv as readonly string[])
      .slice(1)
      .map((text) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text));
    const verdict = (await this.api('POST', '/api/command', { cmd: args.name, args: given })) as Verdict;
    const { status, ack } = verdict;
    const words = ack.statustext === undefined ? '' : `: ${ack.statustext}`;
    if (status === 'accepted') this.log(`accepted${words}`);
    else {
      process.exitCode = EXIT.refused;
      this.log(
        `${status === 'rejected' ? `rejected (${ack.result_name ?? ''})` : 'no acknowledgement'}${words}`,
      );
    }
    return verdict;
  }
}
