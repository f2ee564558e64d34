import { Args, Flags } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';

export default class ServicesRestartCommand extends NodeCommand {
  static override summary = 'Restart one process of the node, and show the proof.';
  static override examples = ['<%= config.bin %> services restart svc-residual'];
  static override args = { name: Args.string({ description: 'see services list', required: true }) };
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ServicesRestartCommand);
    const path = `/api/services/${encodeURIComponent(args.name)}/restart`;
    const answer = (await this.api('POST', path, flags.force ? { force: true } : {})) as {
      readonly status: string;
      readonly name: string;
      readonly pid_before: number | null;
      readonly pid_after: number | null;
    };
    this.log(answer.status === 'ok' ? `${answer.name}: ${proofOf(answer)}` : `${answer.name} restarts`);
    return answer;
  }
}

/** A process that has nothing to do, as svc-video without a source, is not started. */
function proofOf({
  pid_before: before,
  pid_after: after,
}: Record<'pid_before' | 'pid_after', number | null>): string {
  const ended = before === null ? 'did not run' : `pid ${before} ended`;
  return after === null
    ? `${ended}, and it is not needed now: see svc services list`
    : `${ended}, pid ${after} runs`;
}
