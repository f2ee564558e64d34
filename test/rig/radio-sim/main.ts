/**
 * Composition root of one end of a simulated radio, which a node with `radio.mode: external` takes for wfb-ng:
 * the same JSON API, ports and key file. The other end is another such process; UDP on 127.0.0.1 is between them.
 */
import { loadConfig } from '../../../shared/config/load.ts';
import { pathsFrom } from '../../../shared/paths.ts';
import { runProcess } from '../../../shared/process/child.ts';
import { createLogger } from '../../../shared/process/logger.ts';
import { radioSimOptions } from './options.ts';
import { radioSim } from './radio-sim.ts';

const log = createLogger('svc-radio-sim', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async () => {
  const paths = pathsFrom(process.env);
  const { config } = await loadConfig(paths);
  const options = radioSimOptions(process.env['SVC_RADIO_SIM'] ?? '', config, paths);
  return { services: radioSim(options, log), info: () => ({ port: options.api }) };
});
