import { extname, join } from 'node:path';
import { detectBoard } from '../../../shared/board.ts';
import { openApiDocument } from '../../../shared/routes/openapi.ts';
import { ROWS } from '../../../shared/routes/table.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Base } from '../node/base.ts';
import { StateFolder } from '../node/state-folder.ts';
import { SupportBundle } from '../node/support-bundle.ts';
import { configHandlers } from './config.ts';
import { type CoreDeps, coreHandlers, statusOf } from './core.ts';

/** As this file, so it lies at the same place in a compiled node. */
const BUNDLE_PROGRAM = join(
  import.meta.dirname,
  '../../../bin/support-bundle',
  `main${extname(import.meta.filename)}`,
);

type CoreParts = Pick<
  CoreDeps,
  | 'nodeStartedAt'
  | 'radio'
  | 'stateProblems'
  | 'hung'
  | 'residualSocket'
  | 'audit'
  | 'verifyAudit'
  | 'served'
  | 'video'
  | 'role'
>;

/** What every node tells of itself. */
export async function openCore(base: Base, parts: CoreParts) {
  const { paths, inForce, profile, identity, env, monitor, vehicle, supervisor, helper, log } = base;
  let openApi: string | null = null;
  const stateFolder = new StateFolder(paths.state, base.monotonic);
  void stateFolder.problems; // the first look
  const core: CoreDeps = {
    ...parts,
    version: VERSION,
    profile,
    board: await detectBoard(),
    monitor,
    vehicle,
    supervisor,
    helper,
    upload: paths.updateUpload,
    configProblem: inForce.problem,
    deviceId: identity.device_id,
    stateFolder,
    supportBundle: new SupportBundle({
      command: [process.execPath, '--max-old-space-size=128', BUNDLE_PROGRAM],
      env: { ...env, SVC_ETC_DIR: paths.etc, SVC_RUN_DIR: paths.run, SVC_STATE_DIR: paths.state },
      log,
    }),
    log,
    openApi: () => (openApi ??= JSON.stringify(openApiDocument(ROWS, VERSION))),
  };
  return {
    handlers: { ...coreHandlers(core), ...configHandlers() },
    /** The body of GET /api/status. */
    status: () => statusOf(core),
  };
}
