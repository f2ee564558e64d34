import { runProgram } from '../../shared/process/run-program.ts';

const GIT_MS = 10_000;

/** The time of every file in what is built, seconds: that of the checkout's commit, unless SOURCE_DATE_EPOCH says another. */
export async function commitTime(checkout: string): Promise<number> {
  const told = process.env['SOURCE_DATE_EPOCH'];
  if (told !== undefined && /^\d{1,11}$/.test(told)) return Number(told);
  return Number(await runProgram('git', ['-C', checkout, 'log', '-1', '--format=%ct'], GIT_MS));
}
