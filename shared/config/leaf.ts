/**
 * Our own keywords of the config schema. Every leaf has a title and x-restart; a leaf that needs more than `admin` has x-class
 * with the reason. Page, `svc config list` and docs/configuration.md show settings by their titles, under their topics.
 */
import type { Scope } from '../auth/scopes.ts';

/** Who may write a key, if `admin` is not enough. `keyonly`: the pairing key (or this machine); `root`: root on the node. */
type KeyClass = Extract<Scope, 'flight' | 'destructive'> | 'keyonly' | 'root';

/** What settings are about, in the order in which they are shown. */
export const TOPICS = {
  node: 'This node',
  flight: 'Flight controller',
  video: 'Video and detection',
  network: 'Radio and network',
  access: 'Access and security',
  ai: 'AI clients',
  extensions: 'Extensions',
  storage: 'Logs and storage',
  maps: 'Maps',
  fleet: 'Hub and fleet',
  advanced: 'Advanced',
} as const;

export interface LeafKeywords {
  /** What the number counts. */
  readonly 'x-unit'?: string;
  /** The words for the choices of `enum`, in its order; a leaf without them shows the choices as they are. */
  readonly 'x-words'?: readonly string[];
  /** The order of a list of choices counts. */
  readonly 'x-ordered'?: true;
  /** Masked in every answer. */
  readonly 'x-secret'?: true;
  /** The processes to restart before a new value is in force. */
  readonly 'x-restart': readonly string[];
  readonly 'x-class'?: KeyClass;
  /** The reason for x-class. */
  readonly 'x-reason'?: string;
  /** It names a profile, in any of its spellings. */
  readonly 'x-profile'?: true;
  /** It would do what a guarded row does, so the armed guard applies (docs/contract/edge.md#armed-guard). */
  readonly 'x-armed'?: 'guard';
  /** The secrets that are sent to the host in this key; they are cleared when the host changes. */
  readonly 'x-sends'?: readonly string[];
}

/** Of a key that is refused while the vehicle is armed, or its state is unknown. */
export const GUARDED = { 'x-armed': 'guard' } as const;

export const CONTROL = { 'x-restart': ['svc-control'] } as const;
export const LINK = { 'x-restart': ['svc-link'] } as const;
export const MACHINE = { 'x-restart': ['svc-machine'] } as const;
export const RESIDUAL = { 'x-restart': ['svc-residual'] } as const;
export const SUPERVISOR = { 'x-restart': ['svc-supervisor'] } as const;
export const VIDEO = { 'x-restart': ['svc-video'] } as const;

/**
 * A section of the config: its members have defaults, and other members are not allowed.
 * @param topic null: that of the section around it
 */
export function section<const P>(
  title: string,
  topic: keyof typeof TOPICS | null,
  properties: P,
): {
  readonly title: string;
  readonly 'x-topic'?: string;
  readonly type: 'object';
  readonly properties: P;
  readonly additionalProperties: false;
  readonly default: Record<string, never>;
} {
  return {
    title,
    ...(topic === null ? {} : { 'x-topic': topic }),
    type: 'object',
    properties,
    additionalProperties: false,
    default: {},
  };
}
