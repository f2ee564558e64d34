/**
 * svc-sim: composition root. Vehicles with ArduPilot that exist only as peers on a link; nothing of the node imports them, and they
 * import nothing of the node's MAVLink code. `test/rig/sim` adds PX4 and faults.
 */
import { runProcess } from '../../shared/process/child.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { parseOptions } from './options/options.ts';
import { USAGE } from './options/usage.ts';
import { simulator } from './simulator.ts';

const log = createLogger('svc-sim');
if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else await runProcess(log, async () => simulator(parseOptions(process.argv.slice(2)), log).program);
