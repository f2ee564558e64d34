import { Args, Flags } from '@oclif/core';
import { commandNamed } from '../../shared/flight/command-catalogue.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { terminalLine } from '../terminal/terminal-line.ts';
import { argumentWords, commandLines, missingArgument, usageOf } from './cmd/flight-arguments.ts';

/** s */
const WAIT_S = 600;

class CmdCommand extends NodeCommand {
  static override summary = 'Send a flight command; exit code 0 only when the vehicle accepted it.';
  static override description = `The commands and their arguments:\n${commandLines().join('\n')}`;
  static override examples = [
    '<%= config.bin %> cmd arm',
    '<%= config.bin %> cmd takeoff 10 --wait',
    '<%= config.bin %> cmd goto 48.1 11.5 30',
    '<%= config.bin %> cmd mode LOITER',
    '<%= config.bin %> cmd motorTest 1 --confirm "PROPS OFF"',
  ];
  static override usage = 'cmd NAME [ARGUMENT...]';
  static override strict = false;
  static override args = {
    name: Args.string({ description: 'command and arguments (listed below)', required: true }),
  };

  static override flags = {
    wait: Flags.boolean({
      summary: 'takeoff, goto, land, rtl: end when it is done, or will not be',
      default: false,
    }),
    'allow-far': Flags.boolean({
      summary:
        "goto, orbit, missionStart: also further than flight.max_goto_m, or outside of the vehicle's fence",
      default: false,
    }),
    'dry-run': Flags.boolean({ summary: 'only say whether the node would send it', default: false }),
    manual: Flags.boolean({
      summary: 'mode: also one that needs sticks, in the air, where a pilot holds a radio that is not heard',
      default: false,
    }),
    confirm: Flags.string({ summary: 'motorTest: "PROPS OFF", once the propellers are off' }),
  };

  async run(): Promise<Answer<'command.post'>> {
    const parsed = await this.parse(CmdCommand);
    const { args, flags } = parsed;
    const given = (await this.given(args.name, this.typed(parsed).slice(1))).map((text) =>
      /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text,
    );
    const body = {
      cmd: args.name,
      args: given,
      ...(flags['allow-far'] ? { allow_far: true } : {}),
      ...(flags.manual ? { manual: true } : {}),
      ...(flags['dry-run'] ? { dry_run: true } : {}),
      ...(flags.confirm === undefined ? {} : { confirm: flags.confirm }),
    };
    const verdict = flags.wait
      ? await this.work('POST /api/command', { body: { ...body, wait: true, wait_s: WAIT_S } })
      : commandNamed(args.name) === 'rebootAutopilot'
        ? await this.work('POST /api/command', { body })
        : await this.call('POST /api/command', { body });
    const { status, ack } = verdict;
    const words = ack.statustext === undefined ? '' : `: ${ack.statustext}`;
    const into = verdict.mode === undefined ? '' : `, in ${verdict.mode}`;
    if (verdict.done === false) {
      process.exitCode = EXIT.refused;
      this.log(`accepted, but ${verdict.ended ?? 'not done'}: ${verdict.state ?? ''}`);
    } else if (verdict.done === true) this.log(`done: ${verdict.state ?? ''}`);
    else if (status === 'checked') this.log('The node would send it; nothing was sent.');
    else if (status === 'accepted') this.log(`accepted${into}${words}`);
    else {
      process.exitCode = EXIT.refused;
      this.log(`${notAccepted(status, ack.result_name)}${into}${words}`);
      if (ack.hint !== undefined) this.log(ack.hint);
    }
    return verdict;
  }

  /** The arguments, those too that a person is asked for. A command that only the node knows passes as it is. */
  private async given(name: string, typed: readonly string[]): Promise<readonly string[]> {
    const cmd = commandNamed(name);
    const missing = cmd === null ? null : missingArgument(cmd, typed.length);
    if (cmd === null || missing === null) return typed;
    const words = argumentWords(missing);
    if (!process.stdin.isTTY || this.jsonEnabled())
      this.error(`svc cmd ${usageOf(cmd)} needs ${missing.name.toUpperCase()}${words}.`, {
        exit: EXIT.usage,
      });
    const answer = (await terminalLine(`${missing.name}${words}: `, true)).trim();
    if (answer === '') this.error('Nothing was sent.', { exit: EXIT.usage });
    return this.given(name, [...typed, answer]);
  }
}

/** @param result null: no ack */
function notAccepted(status: Answer<'command.post'>['status'], result: string | null): string {
  if (status === 'unconfirmed') return 'not confirmed';
  if (status !== 'rejected') return 'no acknowledgement';
  // PX4 acknowledges, and then says why not.
  return result === null || result === 'ACCEPTED' ? 'rejected' : `rejected (${result})`;
}

export default { cmd: CmdCommand };
