import { ApiError } from '../../../shared/errors.ts';
import { offline } from '../../../shared/process/offline.ts';
import { runProgram } from '../../../shared/process/run-program.ts';
import type { ModelCheck, ModelMetadata } from '../../../shared/schemas/vision.ts';

const CHECK_MS = 60_000;
/** One line of JSON: at most 16 outputs. */
const MAX_ANSWER_BYTES = 64 * 1024;
const STOPPED = 'the model stopped the program that checks it';

type Passed = Extract<ModelCheck, { readonly ok: true }>;
/** @throws ApiError E_MODEL with the reason */
export type CheckModel = (file: string, metadata: ModelMetadata, signal: AbortSignal) => Promise<Passed>;

/**
 * Loads and runs a model once in a process of its own, since a model may end the process that loads it, or take all memory;
 * and without network, as svc-vision.
 * @param program its file; it takes the model's file and the metadata as JSON, and prints a `ModelCheck`
 * @param memoryMb what the model may take
 */
export function modelCheck(program: string, memoryMb: number): CheckModel {
  return async (file, metadata, signal) => {
    const check = offline(process.execPath, [program, file, JSON.stringify(metadata), String(memoryMb)]);
    const told = await runProgram(check.program, check.args, CHECK_MS, {
      maxBytes: MAX_ANSWER_BYTES,
      signal,
    }).catch((error: unknown) => {
      if (signal.aborted) throw new ApiError('E_DRAINING');
      const late = error instanceof ApiError && error.code === 'E_TIMEOUT';
      throw refused(late ? `it did not run once in ${CHECK_MS / 1000} s` : STOPPED);
    });
    const answer = parsed(told);
    if (answer === null) throw refused(STOPPED);
    if (!answer.ok) throw refused(answer.reason);
    return answer;
  };
}

function parsed(told: string): ModelCheck | null {
  try {
    return JSON.parse(told.trim().split('\n').at(-1) ?? '') as ModelCheck;
  } catch {
    return null; // it was ended before, or while, it told
  }
}

function refused(reason: string): ApiError {
  return new ApiError('E_MODEL', `This model cannot be used: ${reason.replace(/\.$/, '')}.`, { reason });
}
