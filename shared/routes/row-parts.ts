import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Limits, PathParam, ResponseSpec } from './row.ts';

/** Building blocks of rows: limits, path parameters, responses. */

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
/** Time for a document; a slower sender is not really sending. */
const BODY_MS = 60_000;
/** 64 MiB at 1 Mbit/s take nine minutes. */
const UPLOAD_MS = 900_000;

export const LIMITS = {
  /** A read: no body. */
  read: { bodyBytes: 0, bodyMs: BODY_MS, timeoutMs: 10_000 },
  /** A small JSON document. */
  json: { bodyBytes: 64 * KIB, bodyMs: BODY_MS, timeoutMs: 10_000 },
  /** A JSON document whose effect takes a while: a restart, a radio hop, a command with its acknowledgement. */
  slow: { bodyBytes: 64 * KIB, bodyMs: BODY_MS, timeoutMs: 30_000 },
  /** A read that looks around first: a scan. */
  search: { bodyBytes: 0, bodyMs: BODY_MS, timeoutMs: 40_000 },
  /** A log that is read for at most 60 s. */
  report: { bodyBytes: 0, bodyMs: BODY_MS, timeoutMs: 75_000 },
  /** A change of the network: 30 s for it to come up, and as long to go back. */
  network: { bodyBytes: 64 * KIB, bodyMs: BODY_MS, timeoutMs: 150_000 },
  /** A flight command that is waited for (at most 600 s). */
  flight: { bodyBytes: 64 * KIB, bodyMs: BODY_MS, timeoutMs: 640_000 },
  /** A file of descriptions; ArduPilot's has 4 MB. */
  descriptions: { bodyBytes: 8 * MIB, bodyMs: UPLOAD_MS, timeoutMs: 30_000 },
  /** An archive. */
  upload: { bodyBytes: 64 * MIB, bodyMs: UPLOAD_MS, timeoutMs: 120_000 },
  /** Something that the node fetches itself, for at most 300 s. */
  download: { bodyBytes: 64 * KIB, bodyMs: BODY_MS, timeoutMs: 330_000 },
  /** A model, with its form; or its address: fetched for at most 300 s. Then it is tried, for at most 60 s. */
  model: { bodyBytes: 201 * MIB, bodyMs: 2 * UPLOAD_MS, timeoutMs: 390_000 },
  /** A whole version of the node. */
  bundle: { bodyBytes: 200 * MIB, bodyMs: 2 * UPLOAD_MS, timeoutMs: 120_000 },
  /** The map of a country; over Wi-Fi of 10 Mbit/s it takes two hours. */
  map: { bodyBytes: 8 * GIB, bodyMs: 10 * UPLOAD_MS, timeoutMs: 120_000 },
  /** A tile that may be fetched elsewhere, after others. */
  tile: { bodyBytes: 0, bodyMs: BODY_MS, timeoutMs: 30_000 },
  /** The tiles of an area, at 20 a second at most. */
  area: { bodyBytes: 64 * KIB, bodyMs: BODY_MS, timeoutMs: 12 * 3_600_000 },
  /** A list of the vehicle, read: two transfers, of 4 minutes at most. */
  missionRead: { bodyBytes: 0, bodyMs: BODY_MS, timeoutMs: 500_000 },
  /** A plan file, written and read back. A survey of 700 items has 400 KiB. */
  mission: { bodyBytes: 4 * MIB, bodyMs: BODY_MS, timeoutMs: 500_000 },
  /** A stream that ends when the client goes. */
  stream: { bodyBytes: 0, bodyMs: BODY_MS, timeoutMs: 30_000 },
} as const satisfies Record<string, Limits>;

const RAW_SEGMENT = '(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+';

// Unreserved characters of RFC 3986; other characters of a value arrive percent-encoded.
const ID = '[A-Za-z0-9][A-Za-z0-9._~-]{0,127}';

/** Any bytes, in the words that makers of clients know. */
export const BYTES = { type: 'string', format: 'binary' } as const satisfies JsonSchema;

/** One file, as a form of a browser sends it (RFC 7578). */
export function form(what: string): Readonly<Record<string, JsonSchema>> {
  return {
    'multipart/form-data': {
      type: 'object',
      required: ['file'],
      properties: { file: { ...BYTES, description: what } },
    },
  };
}

export const PARAM = {
  fcParam: {
    pattern: '[A-Za-z0-9_]{1,16}',
    description: "the flight controller's parameter name, 1 to 16 characters",
    example: 'RTL_ALT',
  },
  unit: { pattern: '[a-z0-9][a-z0-9@._-]{0,63}', description: 'the name of a service', example: 'svc-video' },
  configKey: {
    pattern: '[a-z][a-z0-9_-]*(?:\\.[a-z0-9][a-z0-9_-]*){0,7}',
    description: 'a dotted config path',
    example: 'mavlink.source',
  },
  id: { pattern: ID, description: 'an identifier', example: 'a1b2c3' },
  iface: { pattern: '[A-Za-z0-9][A-Za-z0-9._-]{0,14}', description: 'a network interface', example: 'wlan0' },
  wifiName: {
    pattern: '[^\\u0000-\\u001f\\u007f-\\u009f/\\\\]{1,64}',
    description: 'the name of a saved Wi-Fi profile',
    example: 'field',
  },
  file: {
    pattern: '[A-Za-z0-9][A-Za-z0-9._-]{0,127}',
    description: 'a file name',
    example: 'inspection.mp4',
  },
  lang: { pattern: '[A-Za-z0-9_-]{1,35}', description: 'a language tag', example: 'en' },
  perm: {
    pattern: '[A-Za-z0-9][A-Za-z0-9._:-]{0,127}',
    description: 'a permission',
    example: 'telemetry.read',
  },
  rest: {
    pattern: '[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+){0,31}',
    description: 'the rest of the path',
    example: 'index.html',
  },
  inner: {
    pattern: `${RAW_SEGMENT}(?:/${RAW_SEGMENT}){0,31}/?`,
    raw: true,
    description: 'a path on the drone, without the leading slash',
    example: 'api/status',
  },
  passed: {
    pattern: `(?:${RAW_SEGMENT}(?:/${RAW_SEGMENT}){0,31}/?)?`,
    raw: true,
    description: 'a path of the extension, without the leading slash; empty for its root',
    example: 'items/1',
  },
} as const satisfies Record<string, PathParam>;

/** A JSON answer with status 200. */
export function json<const S extends JsonSchema>(
  description: string,
  schema: S,
): { readonly 200: Omit<ResponseSpec, 'schema'> & { readonly schema: S } } {
  return { 200: { description, mediaType: 'application/json', schema } };
}

/** An answer whose shape this build does not describe yet. */
export const LATER = {
  200: { description: 'not in this build', mediaType: 'application/json', schema: null },
} as const;

/** An answer that is not JSON. */
export function media(description: string, mediaType: string): { readonly 200: ResponseSpec } {
  return { 200: { description, mediaType, schema: null } };
}
