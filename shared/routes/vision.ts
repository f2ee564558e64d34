import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { LIMITS } from './row-parts.ts';

const { later } = domain({ lane: 'residual', feature: 'vision', profiles: 'D' });

export const visionRows = [
  later('vision.status.get', 'GET /api/vision/status', 'key read ok -', 'engine status'),
  later('vision.get', 'GET /api/vision', 'key read ok -', 'the same as /api/vision/status'),
  later(
    'vision.models.get',
    'GET /api/vision/models',
    'key read ok -',
    'models: registry, installed, active',
  ),
  later('vision.models.post', 'POST /api/vision/models', 'key admin ok - config', 'upload a model', {
    limits: LIMITS.upload,
    bodyKind: 'stream',
  }),
  later(
    'vision.models.id.delete',
    'DELETE /api/vision/models/{id}',
    'key destructive ok - config',
    'delete a model',
  ),
  later('vision.detector.put', 'PUT /api/vision/detector', 'key admin ok - config', 'choose the detector', {
    bodyKind: 'json',
  }),
  later(
    'vision.detector.delete',
    'DELETE /api/vision/detector',
    'key admin ok - config',
    'stop the detector',
  ),
  later(
    'vision.designate.post',
    'POST /api/vision/designate',
    'key safe_write ok - config',
    'designate a target',
    { bodyKind: 'json' },
  ),
  later(
    'vision.detections.latest.get',
    'GET /api/vision/detections/latest',
    'key read ok -',
    'latest detections',
  ),
  later('vision.detections.ws.ws', 'WS /api/vision/detections/ws', 'ws read ok -', 'detections', {
    ticket: 'vision',
  }),
] as const satisfies readonly Row[];
