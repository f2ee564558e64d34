import { MAX_PACKET_BYTES } from '../../../shared/fleet/told.ts';
import { CALLER_ID, FLEET_ID, HUB_ID, HUB_IDS, NODE_TOPICS } from '../../../shared/fleet/topics.ts';

/** The configuration of Mosquitto 2 for a fleet (mosquitto.conf(5)): client certificates, and rules by their common names. */

interface MosquittoPlace {
  readonly host: string;
  readonly port: number;
  /** MQTT over WebSockets as well; null: not. */
  readonly ws: { readonly host: string; readonly port: number } | null;
  /** Files in PEM. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  readonly acl: string;
  /** Where it keeps retained messages; null: only in memory. */
  readonly persistence: string | null;
  /** Whom it becomes if root starts it: whoever may read these files. */
  readonly user: string;
  /** It says who subscribes to what, for `SubscriptionGuard`. */
  readonly guarded?: boolean;
}

/**
 * Bytes of memory, the last bound of all: 20 000 nodes take 600 MB. Beyond it whoever wants more is thrown off, so what one client can
 * take is bounded before.
 */
const MEMORY = 805_306_368;

export function mosquittoConfig({
  host,
  port,
  ws,
  ca,
  certificate,
  key,
  acl,
  persistence,
  user,
  guarded = false,
}: MosquittoPlace): string {
  const secure = [
    `cafile ${ca}`,
    `certfile ${certificate}`,
    `keyfile ${key}`,
    'require_certificate true',
    'use_identity_as_username true',
    // An option of the listener: whatever id a client asks for, its certificate's name is its id, so that it throws nobody off.
    'use_username_as_clientid true',
  ];
  const lines = [
    `user ${user}`,
    'per_listener_settings false',
    'allow_anonymous false',
    `acl_file ${acl}`,
    `listener ${port} ${host}`,
    ...secure,
    'tls_version tlsv1.2',
    ...(ws === null ? [] : [`listener ${ws.port} ${ws.host}`, 'protocol websockets', ...secure]),
    // A client's own share, so that none fills the broker's memory. In bytes: the hub gets all that is retained at once. (A count
    // of 0 is no limit, but then Mosquitto 2.0.11 also ends the connection of a client whose message it refuses.)
    `max_packet_size ${MAX_PACKET_BYTES}`,
    'max_queued_messages 100000',
    'max_queued_bytes 33554432',
    'max_inflight_bytes 4194304',
    // Nobody of ours wants a session to outlive its connection; who asks for one has it for an hour.
    'persistent_client_expiration 1h',
    `memory_limit ${MEMORY}`,
    'max_keepalive 120',
    'set_tcp_nodelay true',
    'log_dest stderr',
    'log_type error',
    'log_type warning',
    ...(guarded ? ['log_type subscribe', 'log_timestamp false'] : []),
    ...(persistence === null
      ? ['persistence false']
      : ['persistence true', `persistence_location ${persistence}/`, 'autosave_interval 60']),
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * The rules by kind of sender: the hub; callers, each by its name; and by the certificate's common name (%u) everybody else, which is the
 * nodes. Mosquitto checks a user's own lines before the patterns, and what they deny first of all, so a denied one may nothing.
 *
 * Mosquitto cannot say who may have what retained. So whatever a node may write to is a topic that is written here in full: all that it
 * can have the broker keep is one message for each of them.
 * @param callers machines that call by their own connection @param denied ids whose certificates no longer count
 */
export function mosquittoAcl(fleet: string, callers: readonly string[], denied: readonly string[]): string {
  for (const id of [fleet, ...callers, ...denied]) if (!FLEET_ID.test(id)) throw new Error(`${id} is no id`);
  const root = `svc/1/${fleet}`;
  const machines = callers.filter((id) => CALLER_ID.test(id) && !denied.includes(id));
  return [
    ...HUB_IDS.flatMap((id) => [`user ${id}`, `topic readwrite ${root}/#`, '']),
    ...denied.flatMap((id) => [`user ${id}`, 'topic deny #', '']),
    ...machines.flatMap((id) => [
      `user ${id}`,
      `topic deny ${root}/${id}/+`, // it is no node
      `topic write ${root}/+/call/${id}`,
      `topic read ${root}/${id}/reply/+`,
      '',
    ]),
    ...NODE_TOPICS.map((what) => `pattern write ${root}/%u/${what}`),
    `pattern read ${root}/%u/presence`, // to notice the will of another session
    `pattern read ${root}/%u/person/+`,
    `pattern read ${root}/%u/call/+`,
    `pattern read ${root}/%u/ack`,
    `pattern read ${root}/%u/watch`,
    `pattern read ${root}/policy`,
    ...[HUB_ID, ...machines].map((id) => `pattern write ${root}/${id}/reply/%u`),
    '',
  ].join('\n');
}
