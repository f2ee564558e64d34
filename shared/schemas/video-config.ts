/** The section `video` of the config file. Keywords: see config.ts. */

const encoded = (width: number, height: number, fps: number, kbps: number, what: string) =>
  ({
    type: 'object',
    description: what,
    properties: {
      width: {
        type: 'integer',
        minimum: 64,
        maximum: 3840,
        multipleOf: 2,
        default: width,
        description: 'width of the picture, pixels',
        'x-restart': ['svc-residual'],
      },
      height: {
        type: 'integer',
        minimum: 64,
        maximum: 2160,
        multipleOf: 2,
        default: height,
        description: 'height of the picture, pixels',
        'x-restart': ['svc-residual'],
      },
      fps: {
        type: 'integer',
        minimum: 1,
        maximum: 120,
        default: fps,
        description: 'frames a second',
        'x-restart': ['svc-residual'],
      },
      bitrate_kbps: {
        type: 'integer',
        minimum: 50,
        maximum: 50_000,
        default: kbps,
        description: 'bit rate, kbit/s',
        'x-restart': ['svc-residual'],
      },
    },
    additionalProperties: false,
    default: {},
  }) as const;

export const videoConfig = {
  type: 'object',
  properties: {
    source: {
      type: 'string',
      pattern:
        '^(?:auto|none|test|v4l2:/dev/[A-Za-z0-9._/:-]+|rtsps?://[^\\s@]+|rtp:[A-Za-z0-9.:\\[\\]-]+:[0-9]{1,5})$',
      maxLength: 256,
      default: 'auto',
      description:
        'auto (a drone: the first V4L2 camera; a ground station: rtp:0.0.0.0:5600), none, test, v4l2:/dev/video0, rtsp://host/path or rtp:address:port',
      'x-restart': ['svc-video'],
    },
    username: {
      type: 'string',
      maxLength: 128,
      default: '',
      description: 'user name for an RTSP camera',
      'x-restart': ['svc-video'],
    },
    password: {
      type: 'string',
      maxLength: 128,
      default: '',
      description: 'password for an RTSP camera',
      'x-secret': true,
      'x-restart': ['svc-video'],
    },
    encoder: {
      enum: ['auto', 'libx264', 'h264_v4l2m2m', 'h264_nvenc', 'h264_qsv'],
      default: 'auto',
      description: 'H.264 encoder; auto: the hardware one where there is one that opens, libx264 where not',
      'x-restart': ['svc-video'],
    },
    hero: encoded(1280, 720, 30, 4000, 'the full picture'),
    thumbnail: encoded(320, 180, 5, 150, 'the small picture'),
    radio: {
      type: 'string',
      pattern: '^(?:[A-Za-z0-9.-]+:[0-9]{1,5})?$',
      maxLength: 128,
      default: '127.0.0.1:5602',
      description: 'where a drone sends RTP for the radio, host:port; empty: nowhere',
      'x-restart': ['svc-video'],
    },
    whep: {
      type: 'object',
      properties: {
        max_viewers: {
          type: 'integer',
          minimum: 1,
          maximum: 64,
          default: 16,
          description: 'WebRTC viewers at the same time',
          'x-restart': ['svc-residual'],
        },
      },
      additionalProperties: false,
      default: {},
    },
    recording: {
      type: 'object',
      properties: {
        directory: {
          type: 'string',
          pattern: '^(?:/[^\\u0000-\\u001f]{1,200})?$',
          default: '',
          description: 'absolute folder for recordings and stored pictures; empty: in the state directory',
          'x-restart': ['svc-residual', 'svc-video'],
        },
        reserve_mb: {
          type: 'integer',
          minimum: 1,
          maximum: 65_536,
          default: 64,
          description: 'free space that recording leaves alone, MB; it stops there',
          'x-restart': ['svc-video'],
        },
      },
      additionalProperties: false,
      default: {},
    },
  },
  additionalProperties: false,
  default: {},
} as const;
