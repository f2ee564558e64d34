/**
 * svc-camera-sim: composition root. The simulator's camera, a process of its own: a node takes its RTP as it takes a network camera's,
 * and nothing of the node imports it.
 */
import { runProcess } from '../../../shared/process/child.ts';
import { createLogger } from '../../../shared/process/logger.ts';
import { named } from '../../../shared/process/services.ts';
import { SimCamera } from './camera.ts';
import { parseOptions, USAGE } from './options.ts';

const log = createLogger('svc-camera-sim', process.env['SVC_LOG_LEVEL']);
if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else
  await runProcess(log, async () => {
    const camera = new SimCamera(parseOptions(process.argv.slice(2)), log);
    return { services: [named('camera', camera)], info: () => ({ port: camera.port }) };
  });
