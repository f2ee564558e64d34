import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { ApiError, codeOf } from '../errors.ts';

const MAX_OUTPUT_BYTES = 1024 * 1024;

interface RunOptions {
  /** Its environment; this process's own unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How much it may write, 1 MiB unless given; beyond that it is killed. */
  readonly maxBytes?: number;
  /** Kills it; the error is E_UPSTREAM then. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a program with an argument list, without a shell, and returns its standard output.
 * @param ms how long it may take; then it is killed
 * @throws ApiError E_NOT_IMPLEMENTED (extra `missing`) if there is no such program, E_TIMEOUT, E_UPSTREAM with its last output
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  ms: number,
  { env, maxBytes = MAX_OUTPUT_BYTES, signal }: RunOptions = {},
): Promise<string> {
  const name = basename(program);
  // SIGKILL: a program that ignores SIGTERM would keep the caller waiting.
  const options = { timeout: ms, maxBuffer: maxBytes, killSignal: 'SIGKILL', env, signal } as const;
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if (codeOf(error) === 'ENOENT') reject(missing(name));
      else if (error.killed === true) reject(new ApiError('E_TIMEOUT', `${name} took longer than ${ms} ms.`));
      else {
        // After its error, nmcli has a hint on where to read more.
        const lines = stderr.trim().split('\n');
        const words = lines.filter((line) => !line.startsWith('Hint: ')).at(-1) ?? '';
        reject(new ApiError('E_UPSTREAM', `${name}: ${words === '' ? error.message : words}`));
      }
    });
  });
}

/** The error for a program that is not installed. */
export function missing(program: string): ApiError {
  return new ApiError('E_NOT_IMPLEMENTED', `This machine has no ${program}.`, { missing: program });
}
