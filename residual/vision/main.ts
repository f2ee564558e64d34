/** svc-vision: the composition root of the detector. The only file of it that reads env and argv. */
import { loadConfig } from '../../shared/config/load.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';

async function build(log: Logger): Promise<Program> {
  const { config, problem } = await loadConfig(pathsFrom(process.env));
  if (problem !== null) log.error(`config: ${problem}`);
  log.info(`detector ${config.vision.detector}`);
  return { services: [] };
}

const log = createLogger('svc-vision', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async () => build(log));
