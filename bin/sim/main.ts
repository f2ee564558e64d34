/**
 * svc-sim: composition root. Vehicles with ArduPilot or PX4 that exist only as peers on a link; nothing of the node
 * imports them, and they import nothing of the node's MAVLink code.
 */
import { messageOf } from '../../shared/errors.ts';
import { type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { applyFaults, isFaultMessage } from './faults.ts';
import { Fleet } from './fleet.ts';
import { parseOptions, type SimOptions } from './options/options.ts';
import { USAGE } from './options/usage.ts';

const log = createLogger('svc-sim');
if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else await runProcess(log, async () => build(parseOptions(process.argv.slice(2))));

async function build(options: SimOptions): Promise<Program> {
  // An unplugged device ends the flight and is not a failure: exits as on SIGTERM.
  const fleet = new Fleet(options, log, () => process.kill(process.pid, 'SIGTERM'));
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
  let addresses: Awaited<ReturnType<Fleet['start']>> = [];
  const services = [
    {
      name: 'faults',
      start: () => process.on('message', onMessage),
      stop: () => process.off('message', onMessage),
    },
    {
      name: 'vehicles',
      async start() {
        addresses = await fleet.start();
        if (process.send !== undefined) return;
        for (const { text } of addresses) process.stdout.write(`svc-sim listening on ${text}\n`);
      },
      stop: () => fleet.stop(),
    },
  ];
  const info = (): Record<string, unknown> => {
    const [first] = addresses;
    return { port: first?.port, host: first?.host, ports: addresses.map(({ port }) => port) };
  };
  return { services, info };
}
