import { ApiError } from '../../shared/errors.ts';
import { isLarger } from '../../shared/mission/fence-size.ts';
import type { MissionWriteRequest } from '../../shared/rpc/link.ts';
import type { Parts } from './parts.ts';

/**
 * Whether a list may be written: what `goto` refuses no mission and no rally point does, unless it is said (docs/contract.md 6.2), and a
 * fence is made larger by whoever may take it away.
 * @throws ApiError E_TOO_FAR, E_SCOPE, and those of reading the fence
 */
export async function checkBounds(
  { missions, reach, vehicle }: Pick<Parts, 'missions' | 'reach' | 'vehicle'>,
  { part, items, allow_far: allowFar = false, may_widen: mayWiden = true }: MissionWriteRequest,
): Promise<void> {
  if (vehicle.target === null) throw new ApiError('E_NO_FC');
  if (part !== 'fence') {
    if (!allowFar) await reach.checkAll(part, items, true);
    return;
  }
  if (mayWiden) return;
  const { items: held } = await missions.read({ part, refresh: false, token: '' });
  if (!isLarger(items, held)) return;
  throw new ApiError(
    'E_SCOPE',
    'This fence is larger than the one that the vehicle has, so it needs the scope destructive.',
    { required: 'destructive' },
  );
}
