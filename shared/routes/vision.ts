import * as vision from '../schemas/vision.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { BYTES, json, LIMITS } from './row-parts.ts';

const { row } = domain({ lane: 'residual', feature: 'vision', profiles: 'D' });

const status = { responses: json('measured values; null where nothing was measured', vision.visionStatus) };

export const visionRows = [
  row('vision.status.get', 'GET /api/vision/status', 'key read ok -', 'state of the detector', status),
  row('vision.get', 'GET /api/vision', 'key read ok -', 'the same as /api/vision/status', status),
  row('vision.models.get', 'GET /api/vision/models', 'key read ok -', 'models: listed, installed, active', {
    responses: json('models, and their disk space', vision.models),
  }),
  row('vision.models.post', 'POST /api/vision/models', 'key admin ok - config', 'upload a model', {
    limits: LIMITS.model,
    bodyKind: 'stream',
    streamed: {
      'multipart/form-data': {
        type: 'object',
        required: ['file', 'metadata'],
        properties: { file: { ...BYTES, description: 'the model, ONNX' }, metadata: vision.modelMetadata },
      },
      'application/json': vision.modelDownload,
    },
    long: true,
    fails: [
      'E_BAD_REQUEST',
      'E_INVALID_VALUE',
      'E_MODEL',
      'E_MODEL_EXISTS',
      'E_BUSY',
      'E_DISK_FULL',
      'E_UPSTREAM',
    ],
    responses: json(
      'stored and tested; multipart, the file as `file` and its metadata as `metadata`, or JSON `{url, sha256, metadata}`',
      vision.modelMeta,
    ),
  }),
  row(
    'vision.models.id.delete',
    'DELETE /api/vision/models/{id}',
    'key destructive ok - config',
    'delete a model',
    { fails: ['E_MODEL_IN_USE'], responses: json('deleted', vision.modelDeleted) },
  ),
  row('vision.detector.put', 'PUT /api/vision/detector', 'key admin ok - config', 'choose the detector', {
    limits: LIMITS.slow,
    body: vision.detectorChoice,
    fails: ['E_NOT_FOUND'],
    responses: json('stored, and svc-vision restarted', vision.detectorChosen),
  }),
  row('vision.detector.delete', 'DELETE /api/vision/detector', 'key admin ok - config', 'stop the detector', {
    limits: LIMITS.slow,
    responses: json('stored, and svc-vision stopped', vision.detectorChosen),
  }),
  row(
    'vision.designate.post',
    'POST /api/vision/designate',
    'key safe_write ok - config',
    'designate a target',
    {
      body: vision.designateRequest,
      fails: ['E_NOT_FOUND', 'E_UPSTREAM_DOWN'],
      responses: json('the followed target', vision.designated),
    },
  ),
  row(
    'vision.detections.latest.get',
    'GET /api/vision/detections/latest',
    'key read ok -',
    'latest detections',
    { responses: json('the newest batch of the last 2 s', vision.latestDetections) },
  ),
  row('vision.detections.ws.ws', 'WS /api/vision/detections/ws', 'ws read ok -', 'stream of detections', {
    ticket: 'vision',
    responses: json('a batch a message', vision.batch),
  }),
] as const satisfies readonly Row[];
