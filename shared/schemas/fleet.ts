import { STATEMENTS } from './fleet-statements.ts';
import type { JsonSchema } from './json-schema.ts';

const name = { type: ['string', 'null'] } as const;
const count = { type: ['integer', 'null'] } as const;
const time = { ...count, description: 'ms since 1970' } as const;

export const fleetEnrollment = {
  title: 'FleetEnrollment',
  type: 'object',
  required: [
    'enrolled',
    'problem',
    'last_error',
    'hub',
    'fleet',
    'fleet_id',
    'node',
    'broker',
    'broker_ws',
    'enrolled_at',
    'certificate_valid_to',
    'certificate_renews_at',
    'signing_key',
    'connected',
    'queued_events',
  ],
  properties: {
    enrolled: { type: 'boolean' },
    problem: { ...name, description: 'why the enrolment is not used, or its certificate not renewed' },
    last_error: { ...name, description: '`problem`, or else why the broker is not connected' },
    hub: { ...name, description: 'its address' },
    fleet: name,
    fleet_id: { ...name, description: 'as `fleet`' },
    node: { ...name, description: 'the id of this node in the fleet: its device id' },
    broker: { ...name, description: 'mqtts://host:port' },
    broker_ws: {
      ...name,
      description: 'wss://host:port/path, tried where the other is not reached; null: the hub has none',
    },
    enrolled_at: time,
    certificate_valid_to: time,
    certificate_renews_at: { ...time, description: 'from when a new one is asked for, ms since 1970' },
    signing_key: {
      anyOf: [{ type: 'null' }, STATEMENTS['svc-machine-token'].properties.cnf.properties.jwk],
      // The public key of RFC 8037, appendix A.
      examples: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
      description: 'the public half of the key that signs its answers',
    },
    connected: { type: 'boolean', description: 'to the broker' },
    queued_events: { ...count, description: 'events that the hub has not acknowledged; null: not known' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Null while not enrolled; a member is null where svc-fleet has not told it. */
const fleetLink = {
  title: 'FleetLink',
  type: ['object', 'null'],
  required: [
    'connected',
    'via',
    'problem',
    'events_behind',
    'oldest_event_at',
    'events_dropped',
    'telemetry_dropped',
    'acknowledged_at',
    'policy_seq',
  ],
  properties: {
    connected: { type: 'boolean' },
    via: { ...name, description: "by which of the broker's addresses" },
    problem: { ...name, description: 'why it is not connected' },
    events_behind: { ...count, description: 'events that the hub has not acknowledged' },
    oldest_event_at: { ...time, description: "the oldest one's time, ms since 1970" },
    events_dropped: { ...count, description: 'dropped from the full queue' },
    telemetry_dropped: count,
    acknowledged_at: { ...time, description: 'when the hub last acknowledged, ms since 1970' },
    policy_seq: { ...count, description: "the number of the hub's policy in force" },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const peers = {
  type: 'array',
  description: 'nodes that this one is bound to by radio; the fleet itself is known to its hub',
  items: {
    type: 'object',
    required: ['device_id', 'name', 'profile', 'via', 'address', 'last_seen', 'slot', 'paired_at', 'proved'],
    properties: {
      device_id: { type: 'string' },
      name: { type: 'string' },
      profile: { enum: ['drone', 'ground-station'] },
      via: { const: 'radio' },
      address: { type: 'string', description: 'in the tunnel' },
      last_seen: {
        type: ['string', 'null'],
        format: 'date-time',
        description:
          'when it last answered or asked through the relay; null: not since svc-control has started',
      },
      slot: { type: 'integer', description: '0 is the single drone' },
      paired_at: { type: 'string', format: 'date-time' },
      proved: { type: 'boolean', description: 'whether the radio link has carried data' },
    },
    additionalProperties: false,
  },
} as const;

export const fleetPeers = {
  title: 'FleetPeers',
  type: 'object',
  required: ['peers'],
  properties: { peers },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const fleetDocument = {
  title: 'FleetDocument',
  type: 'object',
  required: ['enrollment', 'link', 'peers'],
  properties: { enrollment: fleetEnrollment, link: fleetLink, peers },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const fleetEnroll = {
  title: 'FleetEnroll',
  examples: [{ hub: 'https://hub.example.org', code: 'K7M2-QX4P-9RTW' }],
  type: 'object',
  required: ['hub', 'code'],
  properties: {
    hub: {
      type: 'string',
      maxLength: 256,
      // Nothing that could be a credential: the address is in the audit.
      pattern: '^https?://[^/?#@\\s]+/?$',
      description: 'https://host:port; plain http only to a hub on this machine',
    },
    code: {
      type: 'string',
      maxLength: 128,
      description: 'as the hub prints it, svc1-…-…; for one node, once',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const fleetLeft = {
  title: 'FleetLeft',
  type: 'object',
  required: ['enrolled', 'fleet', 'hub_told'],
  properties: {
    enrolled: { const: false },
    hub_told: { const: false, description: 'it lists the node until somebody removes it there' },
    fleet: { ...name, description: 'the fleet it left; null if the file did not say' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
