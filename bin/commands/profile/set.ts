import { Args, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import { setConfigKey } from '../../../shared/config/write.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { profileChosen } from '../../../shared/schemas/setup.ts';
import { NodeCommand } from '../../node-command.ts';
import { runningProfile } from '../../running-profile.ts';

type Chosen = FromSchema<typeof profileChosen>;

const ROLES = ['direct', 'relay', 'receiver'] as const;

export default class ProfileSetCommand extends NodeCommand {
  static override summary = 'Make the node a drone or a ground station.';
  static override description =
    'Where the node runs it is asked, and refuses while the vehicle is armed; else its config file is changed.';
  static override examples = ['sudo <%= config.bin %> profile set ground-station --restart'];
  static override args = {
    profile: Args.string({ options: ['drone', 'ground-station'], required: true }),
  };
  static override flags = {
    role: Flags.option({ options: ROLES })({ summary: 'of a ground station' }),
    restart: Flags.boolean({ summary: 'restart what must be restarted', default: false }),
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<Chosen & { readonly restarting: boolean }> {
    const { args, flags } = await this.parse(ProfileSetCommand);
    const force = flags.force ? { force: true } : {};
    const role = flags.role === undefined ? {} : { role: flags.role };
    const running = await runningProfile(async () => this.api('GET', '/api/pairing/info'));
    if (running === null && !this.isElsewhere)
      return this.inFile(args.profile as Chosen['profile'], flags.role ?? null);
    const chosen = (await this.api('POST', '/api/setup/profile', {
      profile: args.profile,
      ...role,
      ...force,
    })) as Chosen;
    this.log(`It is a ${chosen.profile} from its next start on.`);
    const restart = chosen.restart_required.length > 0;
    if (restart && flags.restart) {
      await this.api('POST', '/api/v1/system/restart-supervisor', force);
      this.log('The node restarts.');
    } else if (restart) this.log(`in force after: svc services restart ${toRestart(chosen)}`);
    return { ...chosen, restarting: restart && flags.restart };
  }

  private async inFile(
    profile: Chosen['profile'],
    role: Chosen['role'],
  ): Promise<Chosen & { restarting: false }> {
    if (profile === 'drone' && role !== null) throw new ApiError('E_INVALID_VALUE', 'A drone has no role.');
    if (role !== null) await setConfigKey(this.paths, 'agent.role', role);
    await setConfigKey(this.paths, 'agent.profile', profile);
    this.log(`No node runs here. It is a ${profile} once it is started (${this.paths.config}).`);
    return { profile, role, restart_required: [], restarting: false };
  }
}

/** With the supervisor all others start again too. */
function toRestart({ restart_required: names }: Chosen): string {
  return names.includes('svc-supervisor') ? 'svc-supervisor' : names.join(' and ');
}
