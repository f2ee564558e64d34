import type { FromSchema } from 'json-schema-to-ts';
import { ApiError } from '../shared/errors.ts';
import type { pairingInfo } from '../shared/schemas/pairing.ts';

/** The profile of the node that runs, null where none answers. @param info GET /api/pairing/info, which svc-control answers itself */
export async function runningProfile(info: () => Promise<unknown>): Promise<string | null> {
  try {
    return ((await info()) as FromSchema<typeof pairingInfo>).profile;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'E_UPSTREAM_DOWN') return null;
    throw error;
  }
}
