import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/services', {
  summary: 'List the processes of the node, and the units of systemd that belong to it.',
  examples: ['services list'],
  *lines({ services }) {
    for (const { name, kind, state, pid, restarts, memory_mb: memory } of services) {
      const mb = memory === null ? '' : `${memory} MB`;
      yield `${name.padEnd(18)} ${kind.padEnd(8)} ${state.padEnd(9)} pid ${String(pid ?? '-').padEnd(8)} restarts ${String(restarts ?? '-').padEnd(4)} ${mb.padStart(9)}`;
    }
  },
});
