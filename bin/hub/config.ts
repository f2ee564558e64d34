import type { FromSchema } from 'json-schema-to-ts';
import { parse } from 'yaml';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { mapsConfig } from '../../shared/config/maps.ts';
import { messageOf } from '../../shared/errors.ts';
import { readOwn } from '../../shared/files/private-file.ts';
import { credentialRequest, grantTags, STORED_TEXT, turnUrls } from '../../shared/fleet/hub-api.ts';
import { FLEET_ID } from '../../shared/fleet/topics.ts';
import { addressList } from '../../shared/http/edge/proxy-header.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { TURN_LIFE_S } from '../../shared/video/turn-credentials.ts';

const host = { type: 'string', minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:_-]+$' } as const;
const port = { type: 'integer', minimum: 1, maximum: 65_535 } as const;
const listen = (defaultHost: string, defaultPort: number) =>
  ({
    type: 'object',
    required: ['host', 'port', 'balancers'],
    default: {},
    properties: {
      host: { ...host, default: defaultHost },
      port: { ...port, default: defaultPort },
      // Who alone is believed when it says who has connected (PROXY protocol).
      balancers: {
        type: 'array',
        maxItems: 64,
        default: [],
        items: { type: 'string', maxLength: 64, pattern: '^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$' },
      },
    },
    additionalProperties: false,
  }) as const;

/** Where there is none, nothing listens. */
const listenOrNot = {
  type: ['object', 'null'],
  required: ['host', 'port'],
  default: null,
  properties: { host, port },
  additionalProperties: false,
} as const;

/** `sqlite`, or the address of a PostgreSQL without a password. */
export const DATABASE =
  /^(sqlite|postgres(ql)?:\/\/([A-Za-z0-9._~%-]+@)?[A-Za-z0-9.:_[\]%-]*(:[0-9]{1,5})?\/[A-Za-z0-9._~-]+(\?[A-Za-z0-9._~%=&/-]*)?)$/;

/** By TLS, or on this machine. */
const safeUrl = (path: string) =>
  ({
    type: 'string',
    maxLength: 500,
    pattern: `^(https://[A-Za-z0-9.:_\\[\\]-]+|http://(127\\.0\\.0\\.1|localhost|\\[::1\\])(:[0-9]{1,5})?)${path}$`,
  }) as const;
const { scopes, nodes } = credentialRequest.properties;
const shortText = { type: 'string', minLength: 1, maxLength: 256, pattern: STORED_TEXT } as const;

/** Single sign-on by a provider of OpenID Connect. */
const OIDC = {
  type: 'object',
  required: [
    'issuer',
    'name',
    'page_url',
    'client_id',
    'client_secret_file',
    'client_auth',
    'scopes',
    'groups_claim',
    'groups',
    'hours',
    'resources',
  ],
  properties: {
    issuer: safeUrl('(/[^\\s?#]*)?'),
    name: { ...shortText, maxLength: 64 },
    page_url: safeUrl('/?'),
    client_id: shortText,
    client_secret_file: { type: ['string', 'null'], default: null, maxLength: 500 },
    client_auth: { enum: ['client_secret_basic', 'client_secret_post'], default: 'client_secret_basic' },
    scopes: {
      type: 'array',
      default: ['openid', 'profile'],
      minItems: 1,
      maxItems: 16,
      // RFC 6749 3.3
      items: { type: 'string', pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,128}$' },
      contains: { const: 'openid' },
    },
    groups_claim: { ...shortText, default: 'groups' },
    groups: {
      type: 'array',
      minItems: 1,
      maxItems: 200,
      items: {
        type: 'object',
        required: ['group', 'scopes'],
        properties: {
          group: shortText,
          scopes: { ...scopes, items: { enum: SCOPES } },
          nodes,
          tags: grantTags,
        },
        minProperties: 3, // on which nodes is never left open: nodes: null is all of them
        additionalProperties: false,
      },
    },
    hours: { type: 'number', exclusiveMinimum: 0, maximum: 24, default: 8 },
    // Connectors for hosted AI clients, as the provider's tokens name them (RFC 8707); none: no token of its is taken.
    resources: {
      type: 'array',
      default: [],
      maxItems: 16,
      uniqueItems: true,
      items: safeUrl('(/[A-Za-z0-9._~/-]*)?'),
    },
  },
  additionalProperties: false,
} as const;

/** `hub.yaml`. */
const CONFIG = {
  type: 'object',
  required: [
    'fleet',
    'name',
    'names',
    'database',
    'database_password_file',
    'broker',
    'http',
    'https',
    'listen_ws',
    'token_ttl',
    'events',
    'flights',
    'maps',
    'maintenance',
  ],
  properties: {
    fleet: { type: 'string', pattern: FLEET_ID.source },
    name: { type: 'string', minLength: 1, maxLength: 128 },
    names: { type: 'array', items: host, minItems: 1, maxItems: 32, uniqueItems: true },
    database: {
      type: 'string',
      default: 'sqlite',
      maxLength: 500,
      // Without a password: that is in a file, or in the environment.
      pattern: DATABASE.source,
    },
    database_password_file: { type: ['string', 'null'], default: null, maxLength: 500 },
    broker: {
      type: 'object',
      required: ['url', 'ws_url', 'acl', 'pid_file'],
      properties: {
        url: { type: 'string', pattern: '^mqtts://[A-Za-z0-9.:_\\[\\]-]+:[0-9]{1,5}$' },
        ws_url: {
          type: ['string', 'null'],
          default: null,
          maxLength: 500,
          pattern: '^wss://[A-Za-z0-9.:_\\[\\]-]+(/[A-Za-z0-9._~/-]*)?$',
        },
        acl: { type: ['string', 'null'], default: null },
        pid_file: { type: ['string', 'null'], default: null },
      },
      additionalProperties: false,
    },
    http: listen('127.0.0.1', 8190),
    https: listen('0.0.0.0', 8193),
    listen_ws: listenOrNot,
    token_ttl: { type: 'integer', minimum: 60, maximum: 7 * 24 * 3600, default: 3600 },
    turn: {
      type: 'object',
      required: ['urls', 'secret', 'ttl_s'],
      properties: {
        urls: turnUrls,
        secret: { type: 'string', minLength: 16, maxLength: 256 },
        // More than an hour counts as an hour: an older hub.yaml has the six hours that were usual.
        ttl_s: { type: 'integer', minimum: 600, maximum: 7 * 24 * 3600, default: TURN_LIFE_S },
      },
      additionalProperties: false,
    },
    oidc: OIDC,
    events: {
      type: 'object',
      required: ['days', 'max'],
      default: {},
      properties: {
        days: { type: 'integer', minimum: 1, maximum: 3650, default: 30 },
        max: { type: 'integer', minimum: 1000, default: 5_000_000 },
      },
      additionalProperties: false,
    },
    flights: {
      type: 'object',
      required: ['keep_days', 'node_mb'],
      default: {},
      properties: {
        // Null: for ever.
        keep_days: { type: ['integer', 'null'], minimum: 1, maximum: 36_500, default: null },
        // Of tracks, of one node.
        node_mb: { type: 'integer', minimum: 1, maximum: 100_000, default: 256 },
      },
      additionalProperties: false,
    },
    maps: {
      type: 'object',
      required: ['sources', 'cache_mb'],
      default: {},
      properties: mapsConfig.properties,
      additionalProperties: false,
    },
    maintenance: {
      type: 'array',
      maxItems: 32,
      default: [],
      'x-unique': 'name', // by which its doing is noted
      items: {
        type: 'object',
        required: ['name', 'of'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            maxLength: 128,
            pattern: STORED_TEXT,
            'x-says': 'must have no control characters',
          },
          of: { enum: ['airframe', 'battery'], default: 'airframe' },
          hours: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
          flights: { type: 'integer', minimum: 1, maximum: 1_000_000 },
          days: { type: 'number', exclusiveMinimum: 0, maximum: 36_500 },
        },
        anyOf: [
          { required: ['hours'], properties: { hours: true } },
          { required: ['flights'], properties: { flights: true } },
          { required: ['days'], properties: { days: true } },
        ],
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
export type HubConfig = Frozen<FromSchema<typeof CONFIG>>;
export type OidcConfig = NonNullable<HubConfig['oidc']>;

/** @throws Error with what is wrong; also where others than the hub's user may write it */
export async function readHubConfig(path: string): Promise<HubConfig> {
  const text = await readOwn(path, 0o022);
  if (text === null) throw new Error(`there is no ${path}; svc-hub init makes it`);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw new Error(`${path} is no YAML: ${messageOf(error)}`, { cause: error });
  }
  const validate = validatorOf(CONFIG, { useDefaults: true });
  if (validate.fits(value)) {
    if (value.turn !== undefined) await readOwn(path, 0o077); // it has a secret then
    for (const part of ['http', 'https'] as const) checkBalancers(path, part, value[part].balancers);
    return value;
  }
  const violations = validate(value) ?? [];
  throw new Error(`${path}: ${violations.map(({ path: at, message }) => `${at} ${message}`).join('; ')}`);
}

function checkBalancers(path: string, part: string, listed: readonly string[]): void {
  try {
    addressList(listed);
  } catch (error) {
    throw new Error(`${path}: /${part}/balancers: ${messageOf(error)}`, { cause: error });
  }
}

export interface FirstConfig {
  readonly fleet: string;
  readonly name: string;
  /** Names and addresses under which hub and broker are reached; the first is told to the nodes. */
  readonly names: readonly string[];
  readonly brokerPort: number;
  /** Where its own Mosquitto takes WebSockets as well; null: nowhere. */
  readonly wsPort: number | null;
  readonly httpPort: number;
  /** Where HTTPS listens: a hub that only this machine's nodes reach has no business on the network. */
  readonly httpsHost: string;
  readonly httpsPort: number;
  /** As in the configuration. */
  readonly database: string;
  readonly database_password_file: string | null;
}

/** Whether a name of the hub, or the host of its broker's address, is this machine and nobody else's. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '::1' || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Nobody but this machine reaches a hub that has no name elsewhere. */
export function listenHost(name: string): string {
  return isLoopbackName(name) ? '127.0.0.1' : '0.0.0.0';
}

/** The broker's addresses as nodes and connectors are told them, in the order in which they try. */
export interface BrokerUrls {
  readonly broker: string;
  readonly broker_ws?: string;
}

export function brokerUrls({ broker: { url: broker, ws_url }, names, listen_ws }: HubConfig): BrokerUrls {
  const own = listen_ws === null ? null : `wss://${reached(names)}:${listen_ws.port}/mqtt`;
  const ws = ws_url ?? own;
  return ws === null ? { broker } : { broker, broker_ws: ws };
}

function reached([first = 'localhost']: readonly string[]): string {
  return first.includes(':') ? `[${first}]` : first;
}

/** The text of a new `hub.yaml`. */
export function firstConfig({
  fleet,
  name,
  names,
  brokerPort,
  wsPort,
  httpPort,
  httpsHost,
  httpsPort,
  database,
  database_password_file,
}: FirstConfig): string {
  const ws = wsPort === null ? 'null' : `{ host: ${httpsHost}, port: ${wsPort} }`;
  return `# Read by svc-hub at its start.
fleet: ${fleet}
name: ${JSON.stringify(name)}
# Where hub and broker are reached; their certificates have these names.
names: ${JSON.stringify(names)}
# sqlite: hub.db beside this file. Or a PostgreSQL, 15 or later: postgres://user@host/database, its password in the file named below
# (readable by the hub's user only) or in the environment (PGPASSWORD), never here.
database: ${database}
database_password_file: ${JSON.stringify(database_password_file)}
broker:
  # Told to nodes and connectors.
  url: mqtts://${reached(names)}:${brokerPort}
  # The same by WebSocket (wss://host:port/path), where a broker of others has it; null: as listen_ws says.
  ws_url: null
  # The broker's file of rules, which the hub writes; null: broker.acl beside this file.
  acl: null
  # Of a Mosquitto that is not the hub's own: told by a signal (SIGHUP) to read the rules again.
  pid_file: null
# For this machine.
http:
  host: 127.0.0.1
  port: ${httpPort}
https:
  host: ${httpsHost}
  port: ${httpsPort}
  # Addresses and networks of balancers before it, which must say by the PROXY protocol who has connected (docs/fleet.md).
  balancers: []
# Where the broker also takes MQTT over WebSockets, for networks that let nothing but port 443 through; null: nowhere.
listen_ws: ${ws}
# How long a connector works without the hub, seconds, at most 604800 (7 days).
token_ttl: 3600
events:
  days: 30
  max: 5000000
# How long flights are kept; null: for ever. Hours and flights of an airframe are kept anyway.
flights:
  keep_days: null
  # Of the tracks of one node, MiB; and a quarter of it for all else of its flights. Beyond it the tracks of its oldest flights go.
  node_mb: 256
# What is to be done after so many hours, flights or days (whichever comes first), of each airframe or of each battery.
# maintenance:
#   - { name: propellers, hours: 50, days: 365 }
#   - { name: capacity test, of: battery, flights: 100 }
# TURN servers (coturn) for nodes without their own; secret: their static-auth-secret. Only the hub's user may read this file then.
# turn:
#   urls: ["turn:turn.example.org:3478", "turns:turn.example.org:443"]
#   secret: ...
# Single sign-on by OpenID Connect (docs/fleet.md): the first of the groups that a person has gives the rights, until the hours are over.
# oidc:
#   issuer: https://login.example.org/realms/fleet
#   name: Example login
#   page_url: https://hub.example.org:8193
#   client_id: svc-hub
#   client_secret_file: /etc/svc-hub/oidc.secret
#   groups:
#     - { group: fleet-admins, scopes: [read, safe_write, flight, admin], nodes: null }
#     - { group: north, scopes: [read, flight], tags: [north] }
#   resources: [https://ai.example.org/mcp]   # of connectors that hosted AI clients sign in at
`;
}
