import { Args } from '@oclif/core';
import { ApiError } from '../../shared/errors.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { forceFlag, NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

/** So long the process that answers may take to be back. */
const BACK_MS = 60_000;
const LOOK_MS = 250;

/** The process that answers, and the supervisor with it, can only say that it will restart: here it is asked until it answers again. */
class RestartCommand extends NodeCommand {
  static override summary = 'Restart one process; it is over when the node answers again.';
  static override examples = ['<%= config.bin %> services restart svc-residual'];
  static override args = { name: Args.string({ description: 'see services list', required: true }) };
  static override flags = forceFlag;

  async run(): Promise<Answer<'services.name.restart.post'>> {
    const { args, flags } = await this.parse(RestartCommand);
    const began = performance.now();
    const asked = FRONT_OF.get(args.name) ?? null;
    // svc-control tells its own number.
    const ahead = asked === null || asked === args.name ? null : await this.pidOf(asked);
    const answer = await this.call('POST /api/services/{name}/restart', {
      params: { name: args.name },
      body: { force: flags.force },
    });
    const { status, name } = answer;
    const before = answer.pid_before ?? ahead;
    if (status === 'ok' || asked === null) {
      this.log(`${name}: ${proofOf(answer.pid_before, answer.pid_after)}`);
      return answer;
    }
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const now = await this.pidOf(asked).catch((error: unknown) => {
        if (error instanceof ApiError && !REFUSES.has(error.code)) return null;
        throw error;
      });
      if (now !== null && now !== before) {
        this.log(`${name}: ${proofOf(before, now)}`);
        return { ...answer, pid_before: before, pid_after: now };
      }
      if (performance.now() - began > BACK_MS)
        throw new ApiError(
          'E_TIMEOUT',
          `${name} restarts, and the node does not answer within ${BACK_MS / 1000} s.`,
        );
    }
  }

  /** Null: it does not run. */
  private async pidOf(name: string): Promise<number | null> {
    const { services } = await this.call('GET /api/services');
    return services.find((each) => each.name === name && each.state === 'running')?.pid ?? null;
  }
}

/** The process that is a new one after the restart of these. */
const FRONT_OF: ReadonlyMap<string, string> = new Map([
  ['svc-control', 'svc-control'],
  ['svc-supervisor', 'svc-control'],
]);
/** It is there, and says no; everything else is a node on its way, a connection that breaks off among it. */
const REFUSES: ReadonlySet<string> = new Set(['E_UNAUTHENTICATED', 'E_SCOPE', 'E_REMOTE', 'E_UNPAIRED']);

export default {
  'services:list': requestCommand('GET /api/services', {
    summary: 'List the processes of the node, and the units of systemd that belong to it.',
    examples: ['services list'],
    *lines({ services }) {
      yield* tableOf(
        ['NAME', 'KIND', 'STATE', 'PID', 'RESTARTS', 'MB'],
        services.map(({ name, kind, state, pid, restarts, memory_mb: memory }) => [
          name,
          kind,
          state,
          pid,
          restarts,
          memory,
        ]),
      );
    },
  }),
  'services:restart': RestartCommand,
};

/** A process that has nothing to do, as svc-video without a source, is not started. */
function proofOf(before: number | null, after: number | null): string {
  const ended = before === null ? 'did not run' : `pid ${before} ended`;
  return after === null
    ? `${ended}, and it is not needed now: see svc services list`
    : `${ended}, pid ${after} runs`;
}
