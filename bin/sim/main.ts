/**
 * svc-sim: composition root. A quadcopter with ArduCopter 4.5 that exists only as a peer on a TCP socket; nothing of
 * the node imports it, and it imports nothing of the node's MAVLink code.
 */
import { messageOf } from '../../shared/errors.ts';
import { runService, type Service } from '../../shared/ipc/child.ts';
import { createLogger } from '../../shared/logger.ts';
import { Autopilot } from './autopilot.ts';
import { applyFaults, isFaultMessage } from './faults.ts';
import { Loop } from './loop.ts';
import { parseOptions, type SimOptions, USAGE } from './options.ts';
import { seededRandom } from './random.ts';
import { SimServer } from './server.ts';
import { Timers } from './timers.ts';

const log = createLogger('svc-sim');
if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else await runService(log, async () => start(parseOptions(process.argv.slice(2))));

async function start(options: SimOptions): Promise<Service> {
  const { faults } = options;
  const timers = new Timers();
  const autopilot: Autopilot = new Autopilot(options.autopilot, {
    now: () => performance.now(),
    random: seededRandom(options.seed),
    faults,
    timers,
    hangUp: () => server.hangUp(),
  });
  const loop = new Loop(() => autopilot.tick());
  const server = new SimServer(log, {
    connected: (sink) => {
      autopilot.connect(sink);
      loop.soon();
    },
    received: (frame) => {
      autopilot.receive(frame);
      loop.soon();
    },
  });
  const onMessage = (message: unknown): void => {
    if (!isFaultMessage(message)) return;
    try {
      applyFaults(faults, message);
    } catch (error) {
      log.error(messageOf(error));
      return;
    }
    if (message.reboot === true) autopilot.reboot();
    loop.soon();
  };
  process.on('message', onMessage);
  const { address, port } = await server.listen(options.host, options.port);
  loop.start();
  if (process.send === undefined) process.stdout.write(`svc-sim listening on tcp:${address}:${port}\n`);
  return {
    info: { port, host: address },
    stop: async () => {
      process.off('message', onMessage);
      loop.stop();
      timers.clear();
      await server.stop();
    },
  };
}
