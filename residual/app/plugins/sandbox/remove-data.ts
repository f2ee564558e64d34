import { rm } from 'node:fs/promises';
import { runProgram } from '../../../../shared/process/run-program.ts';

const CHMOD_MS = 30_000;

/** Removes a folder with what an extension has put there, also what it has closed to us. Links are not followed. */
export async function removeData(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await runProgram('chmod', ['-R', 'u+rwX', '--', folder], CHMOD_MS);
    await rm(folder, { recursive: true, force: true });
  }
}
