import { ApiError } from '../../../shared/errors.ts';
import type { Answer } from '../../../shared/routes/typed-row.ts';

/** The profile of the node that runs, null where none answers. @param info GET /api/pairing/info, which svc-control answers itself */
export async function runningProfile(
  info: () => Promise<Answer<'pairing.info.get'>>,
): Promise<string | null> {
  try {
    return (await info()).profile;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'E_UPSTREAM_DOWN') return null;
    throw error;
  }
}
