import type { Program } from '../../shared/process/child.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Fleet } from './fleet.ts';
import type { SimOptions } from './options/options.ts';

/**
 * The vehicles, and how a process runs them; without a supervisor it says on stdout where they listen.
 * @returns `fleet` for what else happens to them while they run
 */
export function simulator(
  options: SimOptions,
  log: Logger,
): { readonly fleet: Fleet; readonly program: Program } {
  // An unplugged device ends the flight and is not a failure: exits as on SIGTERM.
  const fleet = new Fleet(options, log, () => process.kill(process.pid, 'SIGTERM'));
  let addresses: Awaited<ReturnType<Fleet['start']>> = [];
  const vehicles = {
    name: 'vehicles',
    async start() {
      addresses = await fleet.start();
      if (process.send !== undefined) return;
      for (const { text } of addresses) process.stdout.write(`svc-sim listening on ${text}\n`);
    },
    stop: () => fleet.stop(),
  };
  const info = (): Record<string, unknown> => {
    const [first] = addresses;
    return { port: first?.port, host: first?.host, ports: addresses.map(({ port }) => port) };
  };
  return { fleet, program: { services: [vehicles], info } };
}
