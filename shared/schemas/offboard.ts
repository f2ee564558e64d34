import { heldError, heldStatus } from './held-stream.ts';
import type { JsonSchema } from './json-schema.ts';

/** m/s; faster than anything that this node flies. */
const speed = { type: 'number', minimum: -100, maximum: 100 } as const satisfies JsonSchema;

/** A set-point of `WS /api/offboard/ws`: m/s, degrees, m above home. */
export const setPoint = {
  title: 'SetPoint',
  oneOf: [
    {
      type: 'object',
      required: ['type', 'frame', 'vx', 'vy', 'vz'],
      properties: {
        type: { const: 'velocity' },
        frame: { enum: ['ned', 'body'] },
        vx: speed,
        vy: speed,
        vz: speed,
        yaw_rate: { type: 'number', minimum: -360, maximum: 360 },
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      required: ['type', 'lat', 'lon', 'alt'],
      properties: {
        type: { const: 'position' },
        lat: { type: 'number', minimum: -90, maximum: 90 },
        lon: { type: 'number', minimum: -180, maximum: 180 },
        alt: { type: 'number', minimum: -500, maximum: 10_000 },
        yaw: { type: 'number', minimum: -360, maximum: 360 },
        allow_far: { type: 'boolean' },
      },
      additionalProperties: false,
    },
  ],
} as const satisfies JsonSchema;

/** What the node sends on this socket. */
export const offboardMessage = {
  title: 'OffboardMessage',
  oneOf: [
    {
      type: 'object',
      required: ['type', 'holder', 'following', 'mode', 'armed'],
      properties: {
        ...heldStatus,
        following: { type: 'boolean', description: 'its mode follows set-points' },
      },
      additionalProperties: false,
    },
    heldError,
  ],
} as const satisfies JsonSchema;
