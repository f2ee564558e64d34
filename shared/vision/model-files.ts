import { join } from 'node:path';
import { isOneOf } from '../member.ts';

/** The models that come with the program: they cannot be replaced or deleted, and need no download. */
export const BUILTIN_MODELS = ['marker'] as const;

/** In the program's own folder, so in the compiled node as in the checkout. */
const BUILTIN = join(import.meta.dirname, 'builtin');

export interface ModelFiles {
  /** The network, ONNX. */
  readonly model: string;
  /** `ModelMeta` as JSON. */
  readonly meta: string;
  /** Present while a detector starts with this model: it says how often that has ended with the process. */
  readonly trouble: string;
  readonly builtin: boolean;
}

/** Where the files of a model are. @param models `Paths.models` @param id as `modelId` allows: never with a slash */
export function modelFiles(models: string, id: string): ModelFiles {
  const builtin = isOneOf(BUILTIN_MODELS, id);
  const folder = builtin ? BUILTIN : models;
  return {
    model: join(folder, `${id}.onnx`),
    meta: join(folder, `${id}.json`),
    trouble: join(models, `${id}.trouble`),
    builtin,
  };
}
