import { queryText } from '../../shared/routes/target.ts';
import { pathOf } from '../rows.ts';
import { reading, writing } from './parts.ts';
import { addressOf, type Tool } from './tool.ts';

export const videoTools: readonly Tool[] = [
  reading(
    {
      name: 'video_status',
      title: 'Video',
      description: 'Video: source, encoder, measured rates, viewers, recording.',
    },
    'video.get',
  ),
  {
    name: 'video_snapshot',
    title: 'Picture',
    description: 'One picture of this moment from the camera.',
    routes: ['video.snapshot.get'],
    input: { properties: { boxes: { type: 'boolean', description: 'with what is detected in it, drawn' } } },
    openWorld: true,
    output: {
      type: 'object',
      required: ['captured_at', 'mime_type', 'bytes'],
      properties: {
        captured_at: { type: ['string', 'null'] },
        mime_type: { type: 'string' },
        bytes: { type: 'integer' },
      },
    },
    idempotent: true,
    run: async ({ node, principal, signal, args }) => {
      const { bytes, mediaType, headers } = await node.bytes(
        { method: 'GET', path: pathOf('video.snapshot.get') + queryText({ boxes: args['boxes'] === true }) },
        principal,
        signal,
      );
      return {
        value: { captured_at: headers['x-captured-at'] ?? null, mime_type: mediaType, bytes: bytes.length },
        image: { data: bytes, mimeType: mediaType },
      };
    },
  },
  {
    name: 'video_live_url',
    title: 'Live picture',
    description: 'Where a person watches: page, and WHEP endpoint.',
    routes: ['video.get'],
    input: { properties: {} },
    output: {
      type: 'object',
      required: ['page', 'whep', 'live'],
      properties: { page: { type: 'string' }, whep: { type: 'string' }, live: { type: 'boolean' } },
    },
    idempotent: true,
    run: async ({ ask, node }) => {
      const baseUrl = addressOf(node);
      const { state } = await ask('video.get');
      return { value: { page: `${baseUrl}/`, whep: `${baseUrl}/whep`, live: state === 'running' } };
    },
  },
  writing(
    {
      name: 'video_set_profile',
      title: 'Picture size',
      description:
        'hero is the full picture, thumbnail the small one; with a holder it is a lease that lapses.',
    },
    'video.profile.post',
    {
      input: {
        properties: {
          profile: { type: 'string', enum: ['hero', 'thumbnail'] },
          holder: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,64}$' },
          lease_s: { type: 'integer', minimum: 5, maximum: 120 },
        },
        required: ['profile'],
      },
      body: ({ profile, holder, lease_s: lease }) => ({
        profile,
        ...(holder === undefined ? {} : { holder }),
        ...(lease === undefined ? {} : { lease_s: lease }),
      }),
    },
    { idempotent: true },
  ),
  writing(
    { name: 'video_record_start', title: 'Start recording', description: 'Records until it is stopped.' },
    'video.record.start.post',
    { body: () => ({}) },
  ),
  writing(
    { name: 'video_record_stop', title: 'Stop recording', description: 'Closes the recording.' },
    'video.record.stop.post',
    {},
  ),
];
