import type { Scope } from '../../../../shared/auth/scopes.ts';
import type { FleetEvent } from '../../../../shared/fleet/told.ts';
import type { codeAnswer, credentialMade, meAnswer, tagList } from '../../../../shared/hub-api/schemas.ts';
import type { Made } from '../../../../shared/schemas/made.ts';

/** What the hub answers, as far as the page shows it. Times are ms since 1970. */

export type Code = Made<typeof codeAnswer>;

/** What somebody may ask for. `nodes` null: every node. */
interface Grant {
  readonly id: string;
  readonly scopes: readonly Scope[];
  readonly nodes: readonly string[] | null;
  /** Also those with one of these. */
  readonly tags?: readonly string[];
}

/** Tags, and groups as `group:name`. */
export type TagList = Made<typeof tagList>;

/** Who is signed in, and where. */
export type Me = Made<typeof meAnswer>;

/** An operator (with a name), or the credential of a machine (with a label). */
export interface Holder extends Grant {
  readonly name?: string;
  readonly label?: string;
  readonly operator?: string;
  readonly made_at: number;
  readonly used_at?: number | null;
  /** Of the provider, which gave the rights. */
  readonly group?: string | null;
  readonly expires_at?: number | null;
}

/** Shown once. */
export type Minted = Made<typeof credentialMade>;

/** Without `after` the newest ones; always the oldest first. */
export interface Events {
  readonly events: readonly (FleetEvent & { readonly id: number })[];
  /** `after` of the next request. */
  readonly last: number;
}

/** Newest first; each is a record of the chain (shared/audit/chain.ts), of which this is shown. */
export interface Audited {
  readonly records: readonly {
    readonly seq: number;
    readonly time: string;
    readonly peer: string;
    readonly principal: string;
    /** Of a person or a program. */
    readonly principal_name?: string;
    readonly route: string | null;
    readonly outcome: string;
    readonly changed?: string;
  }[];
}

export interface AuditVerdict {
  readonly ok: boolean;
  readonly files: readonly {
    readonly name: string;
    readonly records: number;
    readonly broken: string | null;
  }[];
}
