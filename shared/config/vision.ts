import { section } from './leaf.ts';

const VISION = { 'x-restart': ['svc-vision'] } as const;

/** The section `vision`: the detector on the pictures of the camera. */
export const visionConfig = section('Object detection', 'video', {
  detector: {
    title: 'Model',
    type: 'string',
    pattern: '^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?)?$',
    maxLength: 64,
    default: '',
    description:
      'the model that analyses the pictures; empty: none. PUT /api/vision/detector sets and starts it',
    ...VISION,
  },
  rate_hz: {
    title: 'Pictures analysed',
    type: 'number',
    minimum: 0.2,
    maximum: 30,
    default: 5,
    'x-unit': '1/s',
    description: 'most pictures a second to analyse; fewer if the machine is too slow',
    ...VISION,
  },
  confidence: {
    title: 'Least confidence',
    type: 'number',
    minimum: 0.05,
    maximum: 0.95,
    default: 0.4,
    description: 'least confidence of a reported detection, 0 to 1',
    ...VISION,
  },
  threads: {
    title: 'Threads',
    type: 'integer',
    minimum: 0,
    maximum: 16,
    default: 0,
    description: 'inference threads; 0: as measured at start',
    ...VISION,
  },
  memory_mb: {
    title: 'Memory for a model',
    type: 'integer',
    minimum: 128,
    maximum: 16_384,
    default: 1024,
    'x-unit': 'MB',
    description: 'memory for a model; one that needs more is refused',
    'x-restart': ['svc-vision', 'svc-residual'],
  },
  models_max_mb: {
    title: 'Space for models',
    type: 'integer',
    minimum: 1,
    maximum: 65_536,
    default: 500,
    'x-unit': 'MB',
    description: 'disk space for all models',
    'x-restart': ['svc-residual'],
  },
  registry: {
    title: 'List of models',
    type: 'string',
    pattern: '^(?:https?://[^\\s]{1,500})?$',
    maxLength: 512,
    default: '',
    description: 'address of a JSON list of models; models are downloaded only from its host. Empty: none',
    'x-class': 'keyonly',
    'x-reason': 'decides which host this node downloads from',
    'x-restart': ['svc-residual'],
  },
});
