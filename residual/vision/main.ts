/** svc-vision: the composition root of the detector. The only file of it that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { configInForce } from '../../shared/config/in-force.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { modelFiles } from '../../shared/vision/model-files.ts';
import { Detector } from './detector.ts';
import { stepBack } from './step-back.ts';
import { Trouble } from './trouble.ts';

async function build(log: Logger): Promise<Program> {
  const paths = pathsFrom(process.env);
  const inForce = await configInForce(paths, 'svc-vision', log);
  const { config } = inForce;
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  await stepBack((sentence) => log.warn(sentence));
  const id = config.vision.detector;
  const files = modelFiles(paths.models, id);
  const detector = new Detector({
    id,
    files,
    trouble: new Trouble(files.trouble),
    config: config.vision,
    cores: availableParallelism(),
    framesSocket: paths.framesSocket,
    socketPath: paths.visionSocket,
    log,
  });
  return { services: [named('detector', detector)], config: inForce };
}

const log = createLogger('svc-vision', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async () => build(log));
