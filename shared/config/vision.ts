import { section } from './leaf.ts';

const VISION = { 'x-restart': ['svc-vision'] } as const;

/** The section `vision`: the detector on the pictures of the camera. */
export const visionConfig = section({
  detector: {
    type: 'string',
    pattern: '^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?)?$',
    maxLength: 64,
    default: '',
    description:
      'the model that looks at the pictures; empty: none. PUT /api/vision/detector sets it and starts it',
    ...VISION,
  },
  rate_hz: {
    type: 'number',
    minimum: 0.2,
    maximum: 30,
    default: 5,
    description: 'pictures a second that are looked at, at most; fewer where the machine is too slow',
    ...VISION,
  },
  confidence: {
    type: 'number',
    minimum: 0.05,
    maximum: 0.95,
    default: 0.4,
    description: 'what a detection must reach to be told, 0 to 1',
    ...VISION,
  },
  threads: {
    type: 'integer',
    minimum: 0,
    maximum: 16,
    default: 0,
    description: 'threads of the inference; 0: as measured when it starts',
    ...VISION,
  },
  memory_mb: {
    type: 'integer',
    minimum: 128,
    maximum: 16_384,
    default: 1024,
    description: 'memory that a model may take, MB; one that takes more is refused',
    'x-restart': ['svc-vision', 'svc-residual'],
  },
  models_max_mb: {
    type: 'integer',
    minimum: 1,
    maximum: 65_536,
    default: 500,
    description: 'space for models, MB',
    'x-restart': ['svc-residual'],
  },
  registry: {
    type: 'string',
    pattern: '^(?:https?://[^\\s]{1,500})?$',
    maxLength: 512,
    default: '',
    description: 'address of a list of models, JSON; models are downloaded from its host only. Empty: none',
    'x-class': 'keyonly',
    'x-reason': 'decides which host this node downloads from',
    'x-restart': ['svc-residual'],
  },
});
