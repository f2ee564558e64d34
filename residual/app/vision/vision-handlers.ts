import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { ApiError } from '../../../shared/errors.ts';
import { readStreamedJson, typeOf } from '../../../shared/http/body.ts';
import { parseJson } from '../../../shared/member.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { visionRows } from '../../../shared/routes/vision.ts';
import { type Validator, validatorOf } from '../../../shared/schemas/validator.ts';
import {
  CAMERA_ID,
  type ModelMetadata,
  modelDownload,
  modelMetadata,
} from '../../../shared/schemas/vision.ts';
import type { ConfigStore } from '../config/store.ts';
import { BadForm, receiveForm } from '../form-upload.ts';
import type { DetectionFeed } from './detection-feed.ts';
import type { DetectorClient } from './detector-client.ts';
import type { ModelRegistry } from './model-registry.ts';
import type { Incoming, ModelStore } from './model-store.ts';

const DETECTOR_KEY = 'vision.detector';
/** A thousand names of classes. */
const MAX_METADATA_BYTES = 256 * 1024;

interface VisionDeps {
  readonly config: ConfigStore;
  readonly store: ModelStore;
  readonly registry: ModelRegistry;
  readonly detector: DetectorClient;
  readonly feed: DetectionFeed;
}

export function visionHandlers(deps: VisionDeps): HandlersOf<typeof visionRows, 'residual'> {
  const { config, store, registry, detector, feed } = deps;

  /** From the file: whoever writes the key takes effect here at once. */
  const chosen = async (): Promise<string> => (await config.read()).vision.detector;
  const status = async () => detector.status(await chosen());
  const restarted = async (model: string | null) => {
    const restart = await detector.restart();
    return { model_id: model, enabled: restart.pid_after !== null, restart };
  };

  return {
    'vision.get': status,
    'vision.status.get': status,

    'vision.models.get': async () => {
      const [listed, installed, { used, max }, active] = await Promise.all([
        registry.list(),
        store.list(),
        store.space(),
        chosen(),
      ]);
      return {
        registry: listed.models,
        registry_error: listed.problem,
        installed,
        custom: installed.filter(({ builtin }) => builtin !== true).map(({ id }) => id),
        active: active === '' ? null : active,
        cache: { used_bytes: used, max_bytes: max, used_mb: used / 1e6, max_mb: max / 1e6 },
      };
    },

    'vision.models.post': async ({ body, headers, progress }) => {
      if (typeOf({ headers }) !== 'application/json')
        return store.receive(async (incoming) => {
          progress({ done: 0, total: null, text: 'receiving' });
          const { sha256, metadata } = await formIn(body, headers, incoming);
          return store.add(incoming.path, sha256, metadata, progress);
        });
      const { value } = await readStreamedJson(body, headers, MAX_METADATA_BYTES);
      const { url, sha256, metadata } = checked(isDownload, value, '');
      const digest = sha256.toLowerCase();
      const there = await store.same(metadata.id, digest);
      if (there !== null) return there;
      return store.receive(async (incoming) => {
        await registry.fetch(url, digest, incoming, progress);
        return store.add(incoming.path, digest, metadata, progress);
      });
    },

    'vision.models.id.delete': async ({ params: { id } }) => {
      await store.remove(id, async () => (await chosen()) === id);
      return { id, deleted: true };
    },

    'vision.detector.put': async ({ body: { model_id: id } }) => {
      await store.choose(id, async () => config.write(DETECTOR_KEY, id));
      return restarted(id);
    },

    'vision.detector.delete': async () => {
      await config.write(DETECTOR_KEY, '');
      return restarted(null);
    },

    'vision.designate.post': async ({ body: { bbox, track_id, class_label } }) => {
      const target = bbox !== undefined ? { bbox } : track_id !== undefined ? { track_id } : null;
      if (target === null) {
        await detector.calls.release({});
        return { designated: false, track_id: null, camera_id: CAMERA_ID, lock_state: null };
      }
      const found = await detector.calls.designate({
        ...target,
        ...(class_label === undefined ? {} : { class_label }),
      });
      return { designated: true, camera_id: CAMERA_ID, ...found };
    },

    'vision.detections.latest.get': async () => {
      const { state } = await status();
      return { ...(feed.latest() ?? { detections: [] }), detector: state };
    },
  };
}

const isDownload = validatorOf(modelDownload);
const isMetadata = validatorOf(modelMetadata);

/** @throws ApiError E_BAD_REQUEST, E_INVALID_VALUE, and those of `Incoming` */
async function formIn(
  body: Readable,
  headers: IncomingHttpHeaders,
  { path, maxBytes, tooLarge }: Incoming,
): Promise<{ readonly sha256: string; readonly metadata: ModelMetadata }> {
  const limits = { maxBytes, fieldBytes: MAX_METADATA_BYTES, tooLarge };
  const { sha256, fields } = await receiveForm(body, headers, path, limits).catch((error: unknown) => {
    if (!(error instanceof BadForm)) throw error;
    throw new ApiError(
      'E_BAD_REQUEST',
      `Send multipart/form-data with "file" and "metadata", or JSON: ${error.message}.`,
    );
  });
  return {
    sha256,
    metadata: checked(isMetadata, jsonIn(fields.get('metadata')), '/metadata'),
  };
}

function jsonIn(text: string | undefined): unknown {
  try {
    return parseJson(text ?? '');
  } catch {
    const message = text === undefined ? 'is missing' : 'is not JSON';
    throw new ApiError('E_INVALID_VALUE', `The part "metadata" ${message}.`, {
      errors: [{ path: '/metadata', message }],
    });
  }
}

/** @param at where the value is in the body. @throws ApiError E_INVALID_VALUE */
function checked<T>(validate: Validator<T>, value: unknown, at: string): T {
  if (validate.fits(value)) return value;
  throw new ApiError('E_INVALID_VALUE', undefined, {
    errors: validate(value)?.map(({ path, message }) => ({ path: `${at}${path}`, message })),
  });
}
