import { Args, Flags } from '@oclif/core';
import { ApiError } from '../../../shared/errors.ts';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { forceFlag, NodeCommand } from '../../cli/node-command.ts';

type Chosen = Answer<'setup.profile.post'>;

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
    ...forceFlag,
  };

  async run(): Promise<Chosen & { readonly restarting: boolean }> {
    const { args, flags } = await this.parse(ProfileSetCommand);
    const profile = args.profile === 'drone' ? 'drone' : 'ground-station';
    const running = await runningProfile(async () => this.call('GET /api/pairing/info'));
    if (running === null && !this.isElsewhere) return this.inFile(profile, flags.role ?? null);
    const chosen = await this.call('POST /api/setup/profile', {
      body: { profile, role: flags.role, force: flags.force },
    });
    this.log(`It is a ${chosen.profile} from its next start on.`);
    const restart = chosen.restart_required.length > 0;
    if (restart && flags.restart) {
      await this.call('POST /api/v1/system/restart-supervisor', { body: { force: flags.force } });
      this.log('The node restarts.');
    } else if (restart) this.log(`in force after: svc services restart ${toRestart(chosen)}`);
    return { ...chosen, restarting: restart && flags.restart };
  }

  private async inFile(
    profile: Chosen['profile'],
    role: Chosen['role'],
  ): Promise<Chosen & { restarting: false }> {
    if (profile === 'drone' && role !== null) throw new ApiError('E_INVALID_VALUE', 'A drone has no role.');
    const { setConfigKey } = await import('../../../shared/config/write.ts');
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

/** The profile of the node that runs, null where none answers. @param info GET /api/pairing/info, which svc-control answers itself */
export async function runningProfile(
  info: () => Promise<Answer<'pairing.info.get'>>,
): Promise<string | null> {
  try {
    return (await info()).profile;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'E_UPSTREAM_DOWN') return null;
    throw error;
  }
}
