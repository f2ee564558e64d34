/**
 * `check-model.ts FILE METADATA [MEMORY_MB]`: whether this node can use a model. METADATA: `ModelMetadata` as JSON. Prints one
 * line, `ModelCheck` as JSON, and exits with 0. A model may end or stop this process, so the caller has a time-out, and takes
 * everything else for a refusal.
 */
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../shared/errors.ts';
import { faultOf } from '../../shared/schemas/fault.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { type ModelCheck, type ModelMetadata, modelMetadata } from '../../shared/schemas/vision.ts';
import { ModelError } from './heads.ts';
import { inspectModel } from './inspect-model.ts';
import { MemoryGuard } from './memory-guard.ts';
import { Model } from './model.ts';
import { stepBack } from './step-back.ts';

const DEFAULT_MEMORY_MB = 1024;
/** A picture that takes longer would keep the detector from answering. */
const MAX_INFERENCE_MS = 5000;
const RUNS = 3;
const MIB = 1024 * 1024;

async function check(file: string, metadata: ModelMetadata, memoryMb: number): Promise<ModelCheck> {
  const bytes = await readFile(file);
  inspectModel(bytes);
  const guard = await MemoryGuard.set(memoryMb);
  const before = process.memoryUsage.rss();
  const model = await Model.open(bytes, metadata, 1);
  const times: number[] = [];
  for (let run = 0; run < RUNS && (times[0] ?? 0) < MAX_INFERENCE_MS; run++) {
    const began = performance.now();
    await model.infer();
    times.push(performance.now() - began);
  }
  guard.check();
  const best = Math.min(...times);
  if (best > MAX_INFERENCE_MS)
    throw new ModelError(`The model takes ${(best / 1000).toFixed(0)} s for a picture on this machine.`);
  return {
    ok: true,
    input: model.input,
    outputs: model.outputs,
    classes: model.classes ?? metadata.classes?.length ?? 0,
    inference_ms: Math.round(best * 10) / 10,
    memory_mb: Math.round((process.memoryUsage.rss() - before) / MIB),
  };
}

async function answer([file, text, memory]: readonly string[]): Promise<ModelCheck> {
  if (file === undefined || text === undefined)
    return { ok: false, reason: 'usage: check-model FILE METADATA [MEMORY_MB]' };
  try {
    const metadata: unknown = JSON.parse(text);
    const validate = validatorOf(modelMetadata);
    if (!validate.fits(metadata))
      return {
        ok: false,
        reason: (validate(metadata) ?? []).map((error) => faultOf(error, 'it')).join('; '),
      };
    return await check(file, metadata, Number(memory ?? DEFAULT_MEMORY_MB));
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

await stepBack((sentence) => process.stderr.write(`${sentence}\n`));
const line = `${JSON.stringify(await answer(process.argv.slice(2)))}\n`;
process.stdout.write(line, () => process.exit(0));
