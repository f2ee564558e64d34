import { plainText } from '../../shared/plain-text.ts';
import { asRecord } from '../rows.ts';
import { reading, writing } from './parts.ts';
import type { Tool } from './tool.ts';

const MAX_LABEL = 64;
const pixels = { type: 'number' } as const; // its bounds are the node's

export const visionTools: readonly Tool[] = [
  reading(
    {
      name: 'vision_detections',
      title: 'Detections',
      description:
        'What the camera sees now: label, confidence, box in pixels, track_id. detector says whether anybody looks.',
    },
    'vision.detections.latest.get',
    {
      openWorld: true,
      run: async ({ ask }) => {
        const { detections = [], ...batch } = await ask('vision.detections.latest.get');
        return { value: { ...batch, detections: detections.map(labelled) } };
      },
    },
  ),
  writing(
    {
      name: 'vision_designate',
      title: 'Follow a target',
      description: 'Follows one detection, by track_id or a box in the newest picture.',
    },
    ['vision.designate.post'],
    {
      input: {
        properties: {
          track_id: { type: 'integer', minimum: 1, description: 'of vision_detections' },
          bbox: {
            type: 'object',
            required: ['x', 'y', 'width', 'height'],
            description: 'pixels',
            properties: { x: pixels, y: pixels, width: pixels, height: pixels },
          },
          release: { type: 'boolean', description: 'follow nothing' },
        },
      },
      body: ({ track_id: track, bbox, release }) => ({
        ...(track === undefined ? {} : { track_id: track }),
        ...(bbox === undefined ? {} : { bbox }),
        ...(release === true ? { release } : {}),
      }),
    },
    { idempotent: true, openWorld: true },
  ),
];

/** Models and extensions write labels: whatever a node sends, they are one short line. */
function labelled(detection: unknown): unknown {
  const record = asRecord(detection);
  return { ...record, class_label: plainText(String(record['class_label'])).slice(0, MAX_LABEL) };
}
