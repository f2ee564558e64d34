import { loadConfig } from '../../shared/config/load.ts';
import { ApiError } from '../../shared/errors.ts';
import { NodeCommand } from '../cli/node-command.ts';
import ProfileSetCommand, { runningProfile } from './profile/set.ts';

interface ShownProfile {
  /** Null: no node runs. */
  readonly running: string | null;
  /** Null: of another machine. */
  readonly configured: string | null;
}

class ProfileCommand extends NodeCommand {
  static override summary = 'Show what the node is: drone or ground-station.';
  static override examples = [
    '<%= config.bin %> profile',
    '<%= config.bin %> profile set ground-station --restart',
  ];

  async run(): Promise<ShownProfile> {
    await this.parse(ProfileCommand);
    const running = await this.running();
    if (running === null && this.isElsewhere) throw new ApiError('E_UPSTREAM_DOWN', 'No node answers there.');
    const configured = this.isElsewhere ? null : (await loadConfig(this.paths)).config.agent.profile;
    if (running === null) this.log(`${configured ?? ''}, once it is started`);
    else if (configured === null || configured === running) this.log(running);
    else this.log(`${running}; ${configured} after a restart: sudo svc services restart svc-supervisor`);
    return { running, configured };
  }

  private async running(): Promise<string | null> {
    return runningProfile(async () => this.call('GET /api/pairing/info'));
  }
}

export default { profile: ProfileCommand, 'profile:set': ProfileSetCommand };
