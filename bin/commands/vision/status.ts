import type { FromSchema } from 'json-schema-to-ts';
import type { visionStatus } from '../../../shared/schemas/vision.ts';
import { NodeCommand } from '../../node-command.ts';

type VisionStatus = FromSchema<typeof visionStatus>;

export default class VisionStatusCommand extends NodeCommand {
  static override summary = 'Show what the detector does.';
  static override examples = ['<%= config.bin %> vision status'];

  async run(): Promise<VisionStatus> {
    await this.parse(VisionStatusCommand);
    const status = (await this.api('GET', '/api/vision/status')) as VisionStatus;
    const known = (value: number | null, unit: string): string =>
      value === null ? 'not known' : `${Math.round(value * 10) / 10}${unit}`;
    this.log(`${status.model_id ?? 'no detector'}: ${status.state}`);
    if (status.state !== 'off') {
      this.log(`pictures a second  ${known(status.fps, '')}`);
      this.log(`latency            ${known(status.latency_ms, ' ms')}`);
      this.log(`skipped pictures   ${known(status.dropped, '')}`);
      this.log(`memory             ${known(status.memory_mb, ' MB')}`);
    }
    if (status.designated !== null)
      this.log(`follows            #${status.designated.track_id}, ${status.designated.lock_state}`);
    if (status.last_error !== null) this.log(`last error         ${status.last_error}`);
    return status;
  }
}
