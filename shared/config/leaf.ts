/**
 * Our own keywords on a leaf of the config schema. Every leaf has x-restart; a leaf that needs more than `admin` has x-class
 * with the reason.
 */
import type { Scope } from '../auth/scopes.ts';

/** Who may write a key, if `admin` is not enough. `keyonly`: the pairing key (or this machine); `root`: root on the node. */
type KeyClass = Extract<Scope, 'flight' | 'destructive'> | 'keyonly' | 'root';

export interface LeafKeywords {
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

/** A section of the config: its members have defaults, and other members are not allowed. */
export function section<const P>(properties: P): {
  readonly type: 'object';
  readonly properties: P;
  readonly additionalProperties: false;
  readonly default: Record<string, never>;
} {
  return { type: 'object', properties, additionalProperties: false, default: {} };
}
