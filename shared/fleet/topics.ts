/**
 * The MQTT topics of a fleet (docs/contract/fleet.md): `svc/1/<fleet>/<node>/…`. Ids are checked here, so that none of them can
 * hold a separator or a wildcard.
 */

/** Ids of fleets, nodes and callers. A node's is its device id. */
export const FLEET_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/**
 * A caller's id is that of its credential: of a machine, or of a person, whose calls the hub carries to the broker. No node may have
 * such an id.
 */
export const CALLER_ID = /^(?:mc|op)_[A-Za-z0-9]{8,32}$/;
/** A person's: only the hub has a connection for it. */
const PERSON_ID = /^op_/;
/** The name of the hub at the broker, which no node may have either. */
export const HUB_ID = 'hub';
/** The most replicas of one hub: each has a name of its own at the broker, and the broker's rules name them all. */
const MAX_REPLICAS = 9;
const RESERVED = /^(?:hub|hub-\d+|policy)$/;

/** @param number from 1 */
export function replicaId(number: number): string {
  return `${HUB_ID}-${number}`;
}

/** The names that a hub, or its replicas, may have at the broker. */
export const HUB_IDS: readonly string[] = [
  HUB_ID,
  ...Array.from({ length: MAX_REPLICAS }, (_, n) => replicaId(n + 1)),
];

export function isNodeId(id: string): boolean {
  return FLEET_ID.test(id) && !CALLER_ID.test(id) && !RESERVED.test(id);
}

/** What a node tells: presence and status are retained; a picture is a JPEG, and only while somebody looks. */
export const NODE_TOPICS = ['presence', 'status', 'telemetry', 'event', 'picture'] as const;
export type NodeTopic = (typeof NODE_TOPICS)[number];

/** @throws Error for an id that is none */
function topic(fleet: string, ...parts: readonly string[]): string {
  for (const id of [fleet, parts[0] ?? '']) if (!FLEET_ID.test(id)) throw new Error(`${id} is no id`);
  return ['svc/1', fleet, ...parts].join('/');
}

/** Whether this caller has a connection of its own. */
export function isMachine(caller: string): boolean {
  return !PERSON_ID.test(caller);
}

function kindOf(caller: string): 'person' | 'call' {
  return isMachine(caller) ? 'call' : 'person';
}

export const topics = {
  told: (fleet: string, node: string, what: NodeTopic): string => topic(fleet, node, what),
  ack: (fleet: string, node: string): string => topic(fleet, node, 'ack'),
  /** By the hub: somebody looks at this node now. */
  watch: (fleet: string, node: string): string => topic(fleet, node, 'watch'),
  /** By kind of sender: a machine calls by its own connection, for a person the hub does. */
  call: (fleet: string, node: string, caller: string): string => topic(fleet, node, kindOf(caller), caller),
  /** All replies to people go to the hub, so that a node may write to a few topics, and not to whatever it makes up. */
  reply: (fleet: string, caller: string, node: string): string =>
    topic(fleet, isMachine(caller) ? caller : HUB_ID, 'reply', node),
  policy: (fleet: string): string => topic(fleet, 'policy'),
  /** Wherever a broker may keep something of a node: below its own name, or by it as an answer or a call. */
  allOf: (fleet: string, node: string): readonly string[] => [
    topic(fleet, node, '#'),
    ...['reply', 'call'].map((kind) => `${topic(fleet, 'x').slice(0, -2)}/+/${kind}/${node}`),
  ],
  /** What a node listens to: calls of machines, and those that the hub carries for people. */
  machineCalls: (fleet: string, node: string): string => topic(fleet, node, 'call', '+'),
  personCalls: (fleet: string, node: string): string => topic(fleet, node, 'person', '+'),
  /** What a caller listens to; the hub, to the replies to all people. */
  replies: (fleet: string, caller: string): string => topic(fleet, caller, 'reply', '+'),
  /** What the hub listens to. */
  allTold: (fleet: string, what: NodeTopic): string => `${topic(fleet, 'x').slice(0, -2)}/+/${what}`,
} as const;

/** The node and the kind of what a node told; null for another topic. */
export function parseTold(name: string): { readonly node: string; readonly what: NodeTopic } | null {
  const [svc, version, , node = '', kind, ...rest] = name.split('/');
  const what = NODE_TOPICS.find((each) => each === kind);
  if (svc !== 'svc' || version !== '1' || rest.length > 0 || what === undefined || !isNodeId(node))
    return null;
  return { node, what };
}

/** Who called, by the topic of a call that a node received; null for another topic. */
export function callerOf(name: string): string | null {
  const [svc, version, , , kind, caller = '', ...rest] = name.split('/');
  const fits = svc === 'svc' && version === '1' && kind === kindOf(caller) && rest.length === 0;
  return fits && CALLER_ID.test(caller) ? caller : null;
}

/** Which node answered, by the topic of a reply; null for another topic. */
export function replierOf(name: string): string | null {
  const [svc, version, , , reply, node = '', ...rest] = name.split('/');
  return svc === 'svc' && version === '1' && reply === 'reply' && rest.length === 0 && isNodeId(node)
    ? node
    : null;
}
