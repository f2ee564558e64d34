import { execFile } from 'node:child_process';
import { ApiError } from '../../../shared/errors.ts';

const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Runs a program with an argument vector, without a shell, and gives its standard output.
 * @param ms how long it may take
 * @throws ApiError E_NOT_IMPLEMENTED (extra `missing`) where there is no such program, E_TIMEOUT, E_UPSTREAM with its last words
 */
export async function runProgram(program: string, args: readonly string[], ms: number): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: ms, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        const extras = { missing: program };
        reject(new ApiError('E_NOT_IMPLEMENTED', `This machine has no ${program}.`, extras));
      } else if (error.killed === true)
        reject(new ApiError('E_TIMEOUT', `${program} took longer than ${ms} ms.`));
      else {
        const words = stderr.trim().split('\n').at(-1) ?? '';
        reject(new ApiError('E_UPSTREAM', `${program}: ${words === '' ? error.message : words}`));
      }
    });
  });
}
