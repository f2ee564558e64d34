/** The simulator of the demo, which here speaks as PX4 too, and fails as told: by options at its start, by messages while it runs. */
import { parseArgs } from 'node:util';
import { ardupilot } from '../../../bin/sim/firmware/ardupilot.ts';
import { oneOf } from '../../../bin/sim/options/option-values.ts';
import { parseOptions, type SimOptions } from '../../../bin/sim/options/options.ts';
import { USAGE } from '../../../bin/sim/options/usage.ts';
import { simulator } from '../../../bin/sim/simulator.ts';
import { messageOf } from '../../../shared/errors.ts';
import { type Program, runProcess } from '../../../shared/process/child.ts';
import { createLogger } from '../../../shared/process/logger.ts';
import { applyFaults, isFaultMessage } from './fault-message.ts';
import { FAULT_OPTIONS, readFaults } from './fault-options.ts';
import { px4 } from './px4/px4.ts';

const OPTIONS = { firmware: { type: 'string', default: 'ardupilot' }, ...FAULT_OPTIONS } as const;
const OWN_USAGE = `
  --firmware ardupilot|px4     whose protocol it speaks (ardupilot)
faults: --lose-acks N  --ack-delay MS  --in-progress  --double-ack  --ack-result CMD=RESULT (repeatable)
        --no-message-interval  --drop-frames RATIO  --drop-params RATIO  --silence  --garbage RATIO
        --param-readonly NAME  --param-clamp NAME=LOW..HIGH (both repeatable)
        --refuse-signing  --signing-deaf  --not-simulated  --arm-refuse TEXT  --unknown-ids  --clumsy
        --lose-lists N  --radio-lost  --late-params N`;

const log = createLogger('svc-sim');
if (process.argv.includes('--help')) process.stdout.write(`${USAGE}${OWN_USAGE}\n`);
else await runProcess(log, async () => build(optionsOf(process.argv.slice(2))));

function build(options: SimOptions): Program {
  const { fleet, program } = simulator(options, log);
  const onMessage = (message: unknown): void => {
    if (!isFaultMessage(message)) return;
    try {
      applyFaults(options.faults, message);
    } catch (error) {
      log.error(messageOf(error));
      return;
    }
    if (message.reboot === true) fleet.reboot();
    fleet.soon();
  };
  const faults = {
    name: 'faults',
    start: () => process.on('message', onMessage),
    stop: () => process.off('message', onMessage),
  };
  return { ...program, services: [faults, ...program.services] };
}

/** @throws Error that says which option is wrong */
function optionsOf(argv: readonly string[]): SimOptions {
  const { tokens } = parseArgs({ args: [...argv], options: OPTIONS, strict: false, tokens: true });
  const own = new Set(
    tokens.flatMap((token) =>
      token.kind === 'option' && Object.hasOwn(OPTIONS, token.name)
        ? [token.index, ...(token.value === undefined || token.inlineValue ? [] : [token.index + 1])]
        : [],
    ),
  );
  const { values } = parseArgs({ args: argv.filter((_, at) => own.has(at)), options: OPTIONS });
  const firmware = oneOf('firmware', values.firmware, ['ardupilot', 'px4'] as const);
  const rest = argv.filter((_, at) => !own.has(at));
  const options = parseOptions(rest, (family) => {
    if (firmware === 'ardupilot') return ardupilot(family);
    if (family !== 'copter') throw new Error('--vehicle: the simulated PX4 is a copter only');
    return px4();
  });
  return { ...options, faults: readFaults(values) };
}
