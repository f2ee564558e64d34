import { Args } from '@oclif/core';
import { forceFlag } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

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
  'services:restart': requestCommand('POST /api/services/{name}/restart', {
    summary: 'Restart one process of the node, and show the proof.',
    examples: ['services restart svc-residual'],
    args: { name: Args.string({ description: 'see services list', required: true }) },
    flags: forceFlag,
    ask: ({ args: { name }, flags: { force } }) => ({ params: { name }, body: { force } }),
    *lines({ status, name, pid_before: before, pid_after: after }) {
      yield status === 'ok' ? `${name}: ${proofOf(before, after)}` : `${name} restarts`;
    },
  }),
};

/** A process that has nothing to do, as svc-video without a source, is not started. */
function proofOf(before: number | null, after: number | null): string {
  const ended = before === null ? 'did not run' : `pid ${before} ended`;
  return after === null
    ? `${ended}, and it is not needed now: see svc services list`
    : `${ended}, pid ${after} runs`;
}
