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

/** What says to `svc` which node it is about. */
export function svcEnv({ etc, run, state }: Pick<Paths, 'etc' | 'run' | 'state'>): NodeJS.ProcessEnv {
  return { ...process.env, SVC_ETC_DIR: etc, SVC_RUN_DIR: run, SVC_STATE_DIR: state, NO_COLOR: '1' };
}

/** Runs the `svc` command about the node with these files, as this user. */
export async function svc(paths: Paths, ...args: readonly string[]): Promise<CliAnswer> {
  return answerOf(paths, args, null);
}

/** As `svc`, with this on its stdin. */
export async function svcTold(paths: Paths, stdin: string, ...args: readonly string[]): Promise<CliAnswer> {
  return answerOf(paths, args, stdin);
}

async function answerOf(paths: Paths, args: readonly string[], stdin: string | null): Promise<CliAnswer> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [join(ROOT, 'bin/svc.js'), ...args],
      { env: svcEnv(paths), timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === 'number') resolve({ code, stdout, stderr });
        else reject(error ?? new Error('svc ended without an exit code'));
      },
    );
    if (stdin !== null) child.stdin?.end(stdin);
  });
}
