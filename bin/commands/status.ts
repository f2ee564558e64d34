import { networkInterfaces } from 'node:os';
import { setupPages } from '../../shared/first-boot/setup-pages.ts';
import { failsafeText } from '../../shared/flight/failsafe-text.ts';
import { flightPhase, PHASE_TEXT } from '../../shared/flight/phase.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { tableOf } from '../cli/table.ts';

type Status = Answer<'status.get'>;
type Services = Answer<'services.get'>;

class StatusCommand extends NodeCommand {
  static override summary = 'Show what the node on this machine is doing.';
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --json'];

  async run(): Promise<Status & Services> {
    await this.parse(StatusCommand);
    const [node, processes] = await Promise.all([
      this.call('GET /api/status'),
      this.call('GET /api/services'),
    ]);
    if (!this.jsonEnabled()) {
      this.print(node, processes);
      for (const page of await this.setupPages()) this.log(`not paired: its set-up is at ${page}`);
    }
    return { ...node, ...processes };
  }

  /** None once the node is paired. */
  private async setupPages(): Promise<readonly string[]> {
    const info = await this.call('GET /api/pairing/info');
    if (info.paired || this.isElsewhere) return [];
    const { capabilities } = await this.call('GET /api/version');
    if (!capabilities.includes('feature.setup')) return [];
    // Asked for, not read: to check the whole file against its schema takes longer than all the rest.
    const { api } = await this.call('GET /api/config');
    return setupPages(networkInterfaces(), info.mdns_host, api.port);
  }

  private print(node: Status, { services: processes }: Services): void {
    const { health, armed = null } = node;
    // A node of 1.0 does not say it.
    const phase = node.flight_phase ?? flightPhase({ armed, landed: null, height: null });
    this.log(`svc ${node.version}, ${node.profile ?? ''}, up ${node.uptime_seconds} s`);
    this.log(
      `board      ${node.board.name ?? node.board.soc ?? 'unknown'}, ${node.board.cpu_cores} cores, ${node.board.ram_mb} MB`,
    );
    this.log(
      `health     cpu ${percent(health.cpu_percent)}, memory ${percent(health.memory_percent)}, ` +
        `disk ${percent(health.disk_percent)}, ${health.temperature === null ? 'temperature unknown' : `${health.temperature} C`}`,
    );
    const vehicle = [
      node.fc_link_hint ?? '',
      ...(node.fc_simulated === true ? ['SIMULATED'] : []),
      // Of a vehicle that was never heard there is nothing to say.
      ...(node.system_id == null ? [] : [PHASE_TEXT[phase]]),
      ...(node.failsafe?.active === true
        ? [`FAILSAFE (${failsafeText(node.failsafe.reasons) || 'it does not say why'})`]
        : []),
      node.fc_port ?? 'no port',
    ];
    this.log(`vehicle    ${vehicle.join(', ')}`);
    for (const { detail } of node.link_problems ?? []) this.log(`problem    ${detail}`);
    if (node.config?.problem) this.log(`config     BROKEN: ${node.config.problem}`);
    this.log('');
    const [head = '', ...lines] = tableOf(
      ['PROCESS', 'STATE', 'PID', 'RESTARTS'],
      processes.map(({ name, state, pid, restarts }) => [name, state, pid, restarts]),
    );
    this.log(head);
    for (const [index, each] of processes.entries()) {
      const { state, last_exit: exit, last_words: words } = each;
      this.log(lines[index] ?? '');
      if (state !== 'running' && exit !== null)
        this.log(`    ended with ${exit}: ${words.at(-1) ?? 'no last words'}`);
      if (each.restart_required.length > 0)
        this.log(`    restart it once disarmed, for ${each.restart_required.join(', ')}`);
    }
  }
}

function percent(value: number | null): string {
  return value === null ? 'unknown' : `${value} %`;
}

export default { status: StatusCommand };
