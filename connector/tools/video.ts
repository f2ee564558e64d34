import { queryText } from '../../shared/routes/target.ts';
import { pathOf } from '../rows.ts';
import { writing } from './parts.ts';
import { addressOf, type Tool } from './tool.ts';

export const videoTools: readonly Tool[] = [
  {
    name: 'video_snapshot',
    title: 'Picture',
    description: 'One picture of this moment from the camera.',
    routes: ['video.snapshot.get'],
    input: { properties: { boxes: { type: 'boolean', description: 'with what is detected in it, drawn' } } },
    openWorld: true,
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
      description: 'Switches the size of the picture.',
    },
    ['video.profile.post'],
    {
      input: {
        properties: {
          profile: { type: 'string', enum: ['hero', 'thumbnail'], description: 'full or small' },
          holder: {
            type: 'string',
            pattern: '^[A-Za-z0-9._:-]{1,64}$',
            description: 'who needs it: a lease that lapses',
          },
          lease_s: { type: 'integer', minimum: 5, maximum: 120, description: 's' },
        },
        required: ['profile'],
      },
      body: ({ profile, holder, lease_s: lease }) => ({
        profile,
        ...(holder === undefined ? {} : { holder }),
        ...(lease === undefined ? {} : { lease_s: lease }),
      }),
    },
    { toolset: 'payload', idempotent: true },
  ),
  writing(
    {
      name: 'video_record',
      title: 'Recording',
      description: 'Records the video until it is stopped.',
    },
    ['video.record.start.post', 'video.record.stop.post'],
    {
      input: {
        properties: { on: { type: 'boolean', description: 'false: close the recording' } },
        required: ['on'],
      },
      route: ({ on }) => (on === false ? 'video.record.stop.post' : 'video.record.start.post'),
      body: ({ on }) => (on === false ? undefined : {}),
    },
  ),
];
