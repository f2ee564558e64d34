import { shownName } from '../schemas/shown-name.ts';
import { RESIDUAL, section, VIDEO } from './leaf.ts';

interface Readers {
  readonly 'x-restart': readonly string[];
}
const BOTH = { 'x-restart': ['svc-video', 'svc-residual'] } as const;

/** @param kept who reads it, @param full who reads its bit rate */
const encoded = (
  title: string,
  [width, height, fps, kbps]: readonly [number, number, number, number],
  kept: Readers,
  full: Readers = kept,
) =>
  section(title, null, {
    width: {
      title: 'Width',
      'x-unit': 'pixels',
      type: 'integer',
      minimum: 64,
      maximum: 3840,
      multipleOf: 2,
      default: width,
      description: 'width of the picture',
      ...kept,
    },
    height: {
      title: 'Height',
      'x-unit': 'pixels',
      type: 'integer',
      minimum: 64,
      maximum: 2160,
      multipleOf: 2,
      default: height,
      description: 'height of the picture',
      ...kept,
    },
    fps: {
      title: 'Frames',
      'x-unit': '1/s',
      type: 'integer',
      minimum: 1,
      maximum: 120,
      default: fps,
      description: 'frames a second',
      ...kept,
    },
    bitrate_kbps: {
      title: 'Bit rate',
      'x-unit': 'kbit/s',
      type: 'integer',
      minimum: 50,
      maximum: 50_000,
      default: kbps,
      description: 'bit rate of the picture',
      ...full,
    },
  });

/** They travel in a header. */
const VISIBLE = { pattern: '^[!-~]+$', 'x-says': 'must be visible ASCII characters' } as const;
/** Each costs every viewer an allocation. */
const MAX_ICE_SERVERS = 4;

/** Who receives the picture is the business of whoever holds the pairing key. */
const RECEIVERS = {
  'x-class': 'keyonly',
  'x-reason': 'decides who receives the picture without a credential',
  ...VIDEO,
} as const;

/** The section `video`: camera, encoder, where the picture goes. */
export const videoConfig = section('Camera and outputs', 'video', {
  source: {
    title: 'Camera',
    type: 'string',
    format: 'video-source',
    maxLength: 256,
    default: 'auto',
    description:
      'the camera: auto (a drone: the first V4L2 camera, else the first CSI camera; a ground station: rtp:0.0.0.0:5600), none, landscape (a simulated camera: a made-up landscape as the vehicle would see it), bars or test (colour bars with a clock), v4l2:/dev/video0, libcamera or libcamera:1 (a CSI camera by its number; needs rpicam-vid or libcamera-vid), rtsp://host/path, rtp:address:port, or extension:ID (the camera of that extension)',
    'x-sends': ['video.username', 'video.password'],
    ...BOTH,
  },
  cameras: {
    title: 'Other cameras',
    type: 'array',
    maxItems: 8,
    'x-unique': 'id',
    items: {
      type: 'object',
      required: ['id', 'name', 'source'],
      properties: {
        id: {
          type: 'string',
          pattern: '^(?!main$)[a-z0-9][a-z0-9_-]{0,31}$',
          'x-says': 'must be 1 to 32 of a-z, 0-9, _ and -, and not main, which is video.source',
          description: 'what it is called here; main is video.source',
        },
        name: { ...shownName, minLength: 1, maxLength: 64, description: 'what people read' },
        source: {
          type: 'string',
          format: 'video-source',
          maxLength: 256,
          not: { const: 'none' },
          description: 'as video.source, but not none',
        },
      },
      additionalProperties: false,
    },
    default: [],
    description:
      'other cameras that can be shown instead of video.source, each with id, name, source; the login of video.username goes only to the host of video.source',
    ...BOTH,
  },
  username: {
    title: 'User name at the camera',
    type: 'string',
    maxLength: 128,
    default: '',
    description: 'user name for an RTSP camera',
    ...VIDEO,
  },
  password: {
    title: 'Password at the camera',
    type: 'string',
    maxLength: 128,
    default: '',
    description: 'password for an RTSP camera',
    'x-secret': true,
    ...VIDEO,
  },
  codec: {
    title: 'H.265 of a camera',
    enum: ['auto', 'h264'],
    'x-words': ['As it comes', 'H.264 always'],
    default: 'auto',
    description:
      'auto: H.265 from a camera goes to the radio, the outputs and recordings as it comes; h264: it is decoded and encoded as all others, within the profile and what the radio carries',
    ...VIDEO,
  },
  encoder: {
    title: 'Video encoder',
    'x-words': ['Automatic', 'libx264', 'h264_v4l2m2m', 'h264_nvenc', 'h264_qsv'],
    enum: ['auto', 'libx264', 'h264_v4l2m2m', 'h264_nvenc', 'h264_qsv'],
    default: 'auto',
    description: 'H.264 encoder; auto: the first hardware encoder that works; libx264 where none does',
    ...VIDEO,
  },
  hero: encoded('Full picture', [1280, 720, 30, 4000], BOTH, {
    'x-restart': ['svc-video', 'svc-residual', 'svc-control'],
  }),
  thumbnail: encoded('Small picture', [320, 180, 5, 150], RESIDUAL),
  radio: {
    title: 'Picture to the radio',
    type: 'string',
    format: 'host-port-or-empty',
    maxLength: 128,
    default: '127.0.0.1:5602',
    description: 'where a drone sends RTP for the radio, host:port; empty: nowhere',
    ...RECEIVERS,
  },
  outputs: {
    title: 'Further outputs',
    type: 'array',
    maxItems: 8,
    uniqueItems: true,
    items: { type: 'string', format: 'video-output', maxLength: 128 },
    default: [],
    description: 'where else to send the picture: rtp://host:port, mpegts://host:port (MPEG-TS over UDP)',
    ...RECEIVERS,
  },
  follow_gcs: {
    title: 'Picture to each ground station',
    type: 'boolean',
    default: false,
    description: 'whether each ground station heard over UDP gets the picture as RTP',
    ...RECEIVERS,
  },
  follow_port: {
    title: 'Port on ground stations',
    type: 'integer',
    minimum: 1,
    maximum: 65_535,
    default: 5600,
    description: 'the port on those ground stations; QGroundControl listens on 5600',
    ...RECEIVERS,
  },
  whep: section('Viewers', null, {
    max_viewers: {
      title: 'Viewers at once',
      type: 'integer',
      minimum: 1,
      maximum: 64,
      default: 16,
      description: 'simultaneous viewers, of WebRTC and live streams',
      ...RESIDUAL,
    },
  }),
  ice: section('Ways through NAT', null, {
    servers: {
      title: 'STUN and TURN servers',
      type: 'array',
      maxItems: MAX_ICE_SERVERS,
      items: {
        type: 'object',
        required: ['urls'],
        properties: {
          urls: {
            type: 'array',
            minItems: 1,
            maxItems: 4,
            uniqueItems: true,
            items: { type: 'string', format: 'ice-url', maxLength: 256 },
            description: 'the ways to one server, the best first',
          },
          username: {
            type: 'string',
            ...VISIBLE,
            maxLength: 128,
            description: 'for TURN; it does not end',
          },
          credential: {
            type: 'string',
            ...VISIBLE,
            maxLength: 256,
            description: 'password of username',
            'x-secret': true,
          },
          secret: {
            type: 'string',
            minLength: 16,
            maxLength: 256,
            description: 'static-auth-secret of the server, from which credentials are made that end',
            'x-secret': true,
          },
        },
        anyOf: [
          {
            properties: {
              urls: { type: 'array', items: { type: 'string', pattern: '^stun:' } },
              username: false,
              credential: false,
              secret: false,
            },
          },
          { required: ['username', 'credential'], properties: { secret: false } },
          { required: ['secret'], properties: { username: false, credential: false } },
        ],
        'x-says': 'needs "secret", or "username" and "credential", where it has TURN',
        additionalProperties: false,
      },
      default: [],
      description:
        'STUN and TURN servers by which node and viewers find a way to each other through NAT, each with urls, and username and credential or secret; a member of a fleet without any uses those of its hub',
      'x-class': 'keyonly',
      'x-reason': 'decides through whose servers the picture goes',
      ...VIDEO,
    },
  }),
  recording: section('Recording', 'storage', {
    directory: {
      title: 'Folder for recordings',
      type: 'string',
      pattern: '^(?:/[^\\u0000-\\u001f]{1,200})?$',
      default: '',
      description: 'absolute folder for recordings and stored pictures; empty: in the state directory',
      'x-class': 'keyonly',
      'x-reason': 'decides where on this machine files are written, listed and deleted',
      'x-restart': ['svc-residual', 'svc-video'],
    },
    reserve_mb: {
      title: 'Space left free',
      type: 'integer',
      minimum: 1,
      maximum: 65_536,
      default: 64,
      'x-unit': 'MB',
      description: 'free space at which recording stops',
      ...BOTH,
    },
  }),
});
