import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Paths } from '../../shared/paths.ts';
import { ROOT } from './node.ts';

export interface CliAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TIMEOUT_MS = 60_000;
/** The OpenAPI document, for people, has more than a mebibyte. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Runs the `svc` command about the node with these files, as this user. */
export async function svc(paths: Paths, ...args: readonly string[]): Promise<CliAnswer> {
  const env = {
    ...process.env,
    SVC_ETC_DIR: paths.etc,
    SVC_RUN_DIR: paths.run,
    SVC_STATE_DIR: paths.state,
    NO_COLOR: '1',
  };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [join(ROOT, 'bin/svc.js'), ...args],
      { env, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ code, stdout, stderr });
        else reject(error ?? new Error('svc ended without an exit code'));
      },
    );
  });
}
