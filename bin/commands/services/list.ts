import { NodeCommand } from '../../node-command.ts';

interface Service {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly pid: number | null;
  readonly restarts: number | null;
  readonly memory_mb: number | null;
}

export default class ServicesListCommand extends NodeCommand {
  static override summary = 'List the processes of the node, and the units of systemd that belong to it.';
  static override examples = ['<%= config.bin %> services list'];

  async run(): Promise<unknown> {
    await this.parse(ServicesListCommand);
    const answer = (await this.api('GET', '/api/services')) as { readonly services: readonly Service[] };
    for (const { name, kind, state, pid, restarts, memory_mb: memory } of answer.services) {
      const mb = memory === null ? '' : `${memory} MB`;
      this.log(
        `${name.padEnd(18)} ${kind.padEnd(8)} ${state.padEnd(9)} pid ${String(pid ?? '-').padEnd(8)} restarts ${String(restarts ?? '-').padEnd(4)} ${mb.padStart(9)}`,
      );
    }
    return answer;
  }
}
