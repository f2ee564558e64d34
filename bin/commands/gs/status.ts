import type { FromSchema } from 'json-schema-to-ts';
import type { groundStatus } from '../../../shared/schemas/ground-station.ts';
import { NodeCommand } from '../../node-command.ts';

type Status = FromSchema<typeof groundStatus>;

export default class GsStatusCommand extends NodeCommand {
  static override summary = 'Show the ground station: its drones, its clients, its pilot, its video.';
  static override examples = ['<%= config.bin %> gs status'];

  async run(): Promise<Status> {
    await this.parse(GsStatusCommand);
    const status = (await this.api('GET', '/api/v1/ground-station/status')) as Status;
    const { active, link, gcs, recording, role, system } = status;
    for (const { slot, device_id: id, name, key_fingerprint: fingerprint, proved } of status.paired_drones)
      this.log(
        `drone      ${id} ${name}, slot ${slot}${id === active ? ', active' : ''}, ${fingerprint}${proved ? '' : ', not proved yet'}`,
      );
    if (status.paired_drones.length === 0) this.log('drone      none; bind one with: svc radio pair HOST');
    for (const { device_id: id, silent_ms: silent, latency_ms: latency } of status.relay)
      this.log(
        `relay      ${id}: ${silent === null ? 'no answer yet' : `last answer ${(silent / 1000).toFixed(1)} s ago`}${latency === null ? '' : `, ${latency} ms`}`,
      );
    this.log(`link       ${typeof link?.['state'] === 'string' ? link['state'] : 'not known'}`);
    this.log(`clients    ${gcs.clients?.length ?? 'not known'}`);
    this.log(`pilot      ${gcs.pic.claimed_by ?? 'nobody'}`);
    this.log(`recording  ${recording === null ? 'not known' : recording ? 'yes' : 'no'}`);
    this.log(
      `role       ${role.role}${role.configured === role.role ? '' : `, configured ${role.configured}`}`,
    );
    this.log(`version    ${system.agent_version}, up ${system.uptime_seconds} s`);
    return status;
  }
}
