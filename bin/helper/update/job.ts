import { validatorOf } from '../../../shared/schemas/validator.ts';

/** How a bundle is to be installed; a file that only root can write. */
export interface Job {
  /** Also while the vehicle is armed. */
  readonly force: boolean;
  /** Root on the node itself has asked: an older version is installed too, and the node may be down. */
  readonly by_root: boolean;
}

export const ORDINARY: Job = { force: false, by_root: false };

export const checkJob = validatorOf({
  type: 'object',
  required: ['force', 'by_root'],
  properties: { force: { type: 'boolean' }, by_root: { type: 'boolean' } },
});
