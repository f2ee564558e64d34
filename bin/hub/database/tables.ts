import type { Generated, Kysely } from 'kysely';

/** What runs a hub's database: SQLite in its folder, or a PostgreSQL of others. */
export type Engine = 'sqlite' | 'postgres';

/** Times are ms since 1970, `nodes`, `scopes` and `tags` JSON lists (nodes null: all nodes), `status` and `detail` JSON objects. */
export interface Tables {
  /** Numbers that outlive the process. */
  readonly meta: { key: string; value: number };
  /** What every replica of a hub has to have in common: fleet, authority, keys. */
  readonly identity: { key: string; value: string };
  readonly operators: {
    id: string;
    name: string;
    hash: Uint8Array;
    scopes: string;
    nodes: string | null;
    tags: Generated<string>;
    made_at: number;
  };
  readonly credentials: {
    id: string;
    label: string;
    hash: Uint8Array;
    operator: string;
    scopes: string;
    nodes: string | null;
    tags: Generated<string>;
    /** Of the first key that used it. */
    key: string | null;
    made_at: number;
    used_at: number | null;
  };
  /** Of people from a provider. `state`: the hash of what one answer of the provider belongs to. */
  readonly sign_ins: {
    id: string;
    hash: Uint8Array;
    state: Uint8Array;
    subject: string;
    name: string;
    group_name: string;
    scopes: string;
    nodes: string | null;
    tags: string;
    made_at: number;
    expires_at: number;
    /** Null: not before `expires_at`. */
    ended_at: number | null;
  };
  readonly codes: {
    hash: Uint8Array;
    nodes: string | null;
    tags: Generated<string>;
    made_by: string;
    replaces: string | null;
    expires_at: number;
    used_at: number | null;
  };
  readonly nodes: {
    id: string;
    name: string;
    profile: string;
    version: string;
    enrolled_at: number;
    key: string;
    seen_at: number | null;
    status: string | null;
    alarm: string | null;
    tags: Generated<string>;
    group_name: string | null;
    /** 1: the broker has it; as the replica that hears it has written. */
    online: number;
    /** When the hub heard the status. */
    status_at: number | null;
    /** Rises with each transaction that changes nodes; those of one transaction have the same. */
    rev: number;
  };
  /** What only one of all replicas may have: which session had it last, and how often it was given (replicas/locks.ts). */
  readonly leases: { name: string; holder: string | null; fence: number };
  readonly denied: { id: string; at: number; rev: number };
  readonly renewals: { node: string; jti: string; at: number };
  readonly events: {
    id: Generated<number>;
    node: string;
    stream: string;
    seq: number;
    at: number;
    received_at: number;
    kind: string;
    detail: string;
  };
  /** What nodes have told of their flights; `pilots` a JSON list, `detail` a JSON object. */
  readonly flights: {
    id: Generated<number>;
    node: string;
    flight: string;
    received_at: number;
    started_at: number;
    ended_at: number;
    armed_s: number;
    airborne_s: number | null;
    distance_m: number | null;
    max_height_m: number | null;
    max_speed_ms: number | null;
    battery: string | null;
    used_mah: number | null;
    start_v: number | null;
    end_v: number | null;
    pilots: string;
    /** How many, and the severity of the worst. */
    findings: number;
    worst: string | null;
    detail: string;
  };
  /** By the flight's id: a JSON list of points. */
  readonly flight_tracks: { id: number; track: string };
  /** What nodes have uploaded; `logged_at` of a vehicle's own log: when it ended, by its vehicle. */
  readonly uploads: {
    node: string;
    kind: string;
    name: string;
    url: string;
    bytes: number;
    logged_at: number | null;
    received_at: number;
  };
  /** Of all flights ever told, also of those that are deleted. `battery` empty: of the airframe. */
  readonly flight_sums: {
    node: string;
    battery: string;
    flights: number;
    armed_s: number;
    airborne_s: number;
    distance_m: number;
    /** When the first was flown, by the node's clock where that can be. */
    first_at: number;
    /** When the hub heard of the newest. */
    last_at: number;
  };
  /** What was done last, by whom, and the sums at that time. */
  readonly maintenance: {
    node: string;
    battery: string;
    rule: string;
    done_at: number;
    done_by: string;
    note: string;
    flights: number;
    armed_s: number;
  };
  /** Up to where the events of a stream are stored. */
  readonly streams: { node: string; stream: string; seq: number };
}

/** The database, or a transaction in it. */
export type Queries = Kysely<Tables>;

/** An open database of a hub. Whoever opened it closes it. */
export interface HubDatabase {
  readonly engine: Engine;
  readonly queries: Queries;
  /** For messages: the path of the file, or the address without a password. */
  readonly name: string;
  /** A connection of its own; null: the engine has none. @throws Error if the database is away */
  readonly session: (() => Promise<DatabaseSession>) | null;
  close(): Promise<void>;
}

/** A connection outside of the pool, for what the database ends with it. */
export interface DatabaseSession {
  /** @throws the database's error; one that did not answer has ended the session */
  ask<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** It has ended, whoever ended it. */
  readonly ended: boolean;
  close(): Promise<void>;
}
