/**
 * svc-sim: composition root. Vehicles with ArduPilot or PX4 that exist only as peers on a link; nothing of the node
 * imports them, and they import nothing of the node's MAVLink code.
 */
import { messageOf } from '../../shared/errors.ts';
import { runService, type Service } from '../../shared/process/child.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { applyFaults, isFaultMessage } from './faults.ts';
import { Fleet } from './fleet.ts';
import { parseOptions, type SimOptions } from './options/options.ts';
import { USAGE } from './options/usage.ts';

const log = createLogger('svc-sim');
if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else await runService(log, async () => start(parseOptions(process.argv.slice(2))));

async function start(options: SimOptions): Promise<Service> {
  // A device that is pulled out is the end of the flight, and no failure: it exits as if it had been told to.
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
  process.on('message', onMessage);
  const addresses = await fleet.start();
  const [first] = addresses;
  if (first === undefined) throw new Error('a fleet has at least one vehicle');
  if (process.send === undefined) {
    for (const { text } of addresses) process.stdout.write(`svc-sim listening on ${text}\n`);
  }
  return {
    info: { port: first.port, host: first.host, ports: addresses.map(({ port }) => port) },
    stop: async () => {
      process.off('message', onMessage);
      await fleet.stop();
    },
  };
}
