import type { NodeStatus } from '../fleet/told.ts';
import type { JsonObject } from '../member.ts';
import type { Profile } from '../profile.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Made } from '../schemas/made.ts';
import { type Contract, method, shape } from './contract.ts';

/** How this node reaches its fleet; what svc-fleet needs and nothing that signs. */
export interface FleetPlace {
  readonly node: string;
  readonly fleet: string;
  readonly name: string;
  readonly profile: Profile;
  readonly version: string;
  /** `mqtts://host:port`, then `wss://host:port/path` where the hub has one: tried in this order. */
  readonly brokers: readonly string[];
  /** PEM: the CA of the broker, the client's certificate and its key. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** By what the node is connected. */
export interface FleetUplink {
  /** The most telemetry messages a second by this uplink; null: as many as the config says. */
  readonly telemetry_hz: number | null;
  /** Null: nothing has changed. */
  readonly change: JsonObject | null;
}

/** What svc-fleet knows of its connection, as GET /api/fleet describes it. */
const linkReport = {
  type: 'object',
  required: [
    'connected',
    'via',
    'problem',
    'events_behind',
    'oldest_event_at',
    'events_dropped',
    'telemetry_dropped',
    'acknowledged_at',
  ],
  properties: {
    connected: { type: 'boolean' },
    via: { type: ['string', 'null'], maxLength: 500 },
    problem: { type: ['string', 'null'], maxLength: 500 },
    events_behind: { type: 'integer' },
    oldest_event_at: { type: ['integer', 'null'] },
    events_dropped: { type: 'integer' },
    telemetry_dropped: { type: 'integer' },
    acknowledged_at: { type: ['integer', 'null'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
export type FleetLinkState = Made<typeof linkReport>;

const NOTHING = { type: 'object', additionalProperties: false } as const;
const jws = { type: 'string', maxLength: 1_000_000 } as const;
const JWS = { type: 'object', required: ['jws'], properties: { jws }, additionalProperties: false } as const;

/**
 * The contract of svc-control on `fleet.sock`, for svc-fleet, which only carries: every statement is verified and every reply
 * signed here.
 */
export const FLEET = {
  server: 'svc-control',
  methods: {
    /** Null: not enrolled. */
    place: method(NOTHING, shape<{ readonly place: FleetPlace | null }>(), 5000),
    /** The body of GET /api/status with what a list shows, and a nonce; svc-fleet adds `events_behind`. */
    status: method(NOTHING, shape<Omit<NodeStatus, 'events_behind'>>(), 5000),
    /** The body of GET /api/telemetry. E_UPSTREAM_DOWN while svc-link is away. */
    telemetry: method(NOTHING, shape<JsonObject>(), 2000),
    /**
     * Carries out a call. @param caller from the topic, which the broker answers for
     * `reply` null: nothing can be answered, since it does not even say which call it is.
     */
    call: method(
      {
        type: 'object',
        required: ['caller', 'jws'],
        properties: { caller: { type: 'string', maxLength: 64 }, jws },
        additionalProperties: false,
      },
      shape<{ readonly reply: string | null }>(),
      130_000,
    ),
    /** The retained policy. E_INVALID_VALUE for one that is not believed, or older than the present one. */
    policy: method(JWS, shape<{ readonly seq: number }>(), 5000),
    /** Up to where the hub has stored the events. E_INVALID_VALUE for one that is not believed. */
    ack: method(JWS, shape<{ readonly stream: string; readonly seq: number }>(), 5000),
    /**
     * Somebody looks at this node: how often it tells, for how long, as far as its config lets it. E_INVALID_VALUE for a statement
     * that is not believed, old, or was here before.
     */
    watch: method(
      JWS,
      shape<{ readonly telemetry_hz: number; readonly pictures_hz: number; readonly seconds: number }>(),
      2000,
    ),
    /** On every change, and at least every 10 s. */
    report: method(linkReport, shape<Readonly<Record<string, never>>>(), 2000),
  },
  events: {
    /** At once on connect, and when it changes: enrolled, a new certificate, left (null). */
    place: shape<FleetPlace | null>(),
    /** At once on connect, and when another uplink is used. */
    uplink: shape<FleetUplink>(),
  },
} as const satisfies Contract;
