import type { Principal } from '../../../shared/auth/principal.ts';
import type { Scope } from '../../../shared/auth/scopes.ts';

const ID = /^[a-z0-9]+(?:\.[a-z0-9-]+)+$/;
const MAX_ID = 128;
/** What a granted `command.send`, `mission.write` or `vision.track.designate` needs; never `destructive`, so no force either. */
const SCOPES: readonly Scope[] = Object.freeze(['safe_write', 'flight']);

/** The extension for which svc-residual asks. @returns null if that is no id of one */
export function extensionCaller(id: string): Principal | null {
  if (id.length > MAX_ID || !ID.test(id)) return null;
  return Object.freeze({ kind: 'extension', id: `extension:${id}`, scopes: SCOPES });
}
