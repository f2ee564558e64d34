import { Args, Flags } from '@oclif/core';
import type { Answer } from '../../../shared/routes/typed-row.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand, shownWork } from '../../cli/node-command.ts';
import { hiddenInput } from '../../terminal/hidden-input.ts';

type Modem = Answer<'PUT /api/v1/network/modem'>;

/** What a SIM that is not ready wants. */
const SIM_WORDS = {
  pin: 'SIM locked: wants its PIN',
  puk: 'SIM blocked: wants its PUK',
  absent: 'no SIM',
  ready: '',
} as const;

export default class NetworkModemCommand extends NodeCommand {
  static override summary = 'Show the cellular modems, or connect one.';
  static override description =
    'A PIN or password is typed at a prompt that does not show it, or is the first line of stdin. What is not given stays as it was.';
  static override examples = [
    '<%= config.bin %> network modem',
    '<%= config.bin %> network modem 0 --on --apn internet --pin',
    '<%= config.bin %> network modem 0 --off',
  ];
  static override args = {
    id: Args.string({ description: 'number of the modem, as this command shows it' }),
  };
  static override flags = {
    on: Flags.boolean({ summary: 'connect it, now and whenever the machine starts', exclusive: ['off'] }),
    off: Flags.boolean({ summary: 'do not connect it' }),
    apn: Flags.string({ summary: 'access point name' }),
    username: Flags.string({ summary: 'of the access point' }),
    password: Flags.boolean({ summary: 'ask for the password of the access point', exclusive: ['pin'] }),
    pin: Flags.boolean({ summary: 'ask for the PIN of the SIM; it is tried once', exclusive: ['off'] }),
    'last-try': Flags.boolean({ summary: 'even if it is the last try', dependsOn: ['pin'] }),
    roaming: Flags.boolean({ summary: 'also in foreign networks', allowNo: true }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(NetworkModemCommand);
    if (args.id === undefined) {
      if (
        Object.keys(flags).some(
          (name) => !['json', 'node', 'key'].includes(name) && name in NetworkModemCommand.flags,
        )
      )
        this.error('Name the modem.', { exit: EXIT.usage });
      const answer = await this.call('GET /api/v1/network/modem');
      if (answer.modems.length === 0) this.log('No modem.');
      for (const modem of answer.modems) for (const line of linesOf(modem)) this.log(line);
      return answer;
    }
    if (!flags.on && !flags.off) this.error('Say --on or --off.', { exit: EXIT.usage });
    const answer = await shownWork(this.address, 'PUT /api/v1/network/modem', {
      body: {
        id: args.id,
        enabled: flags.on ?? false,
        apn: flags.apn,
        username: flags.username,
        password: flags.password ? await hiddenInput('Password of the access point: ') : undefined,
        pin: flags.pin ? await hiddenInput('PIN of the SIM: ') : undefined,
        last_try: flags['last-try'] ? true : undefined,
        allow_roaming: flags.roaming,
      },
    });
    for (const line of linesOf(answer)) this.log(line);
    return answer;
  }
}

function* linesOf(modem: Modem): Iterable<string> {
  const { id, model, state, operator, technology, signal_percent: percent, rsrp_dbm: rsrp, roaming } = modem;
  const where = [operator, technology, roaming === true ? 'roaming' : null].filter((word) => word !== null);
  const signal = [percent === null ? null : `${percent} %`, rsrp === null ? null : `${rsrp} dBm`];
  yield `${id.padEnd(3)} ${state.padEnd(13)} ${[model ?? '', ...where, ...signal.filter((word) => word !== null)].join('  ')}`;
  if (modem.ip !== null)
    yield `    address ${modem.ip}${modem.apn === null ? '' : `, access point ${modem.apn}`}`;
  const sim = modem.sim === null ? '' : SIM_WORDS[modem.sim];
  const left = modem.pin_tries_left;
  if (sim !== '') yield `    ${sim}${left === null ? '' : `, tries left: ${left}`}`;
}
