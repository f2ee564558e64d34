import type { Base } from '../base.ts';
import { type FactSources, lookAround } from './node-facts.ts';
import { setupHandlers } from './setup.ts';
import { SetupMarks } from './setup-marks.ts';

/** The steps of the set-up, by what the node sees of itself. */
export async function openSetup({ config, paths, log }: Base, parts: Pick<FactSources, 'config' | 'video'>) {
  const running = config.agent.profile;
  return setupHandlers({
    marks: await SetupMarks.open(paths.setup, log),
    config: parts.config,
    lookAround: async () => lookAround({ ...parts, paths, running }),
    now: Date.now,
  });
}
