import type { RtkState } from '../../../shared/rpc/link-answers.ts';
import type { Methods } from '../part.ts';

const OFF: RtkState = {
  state: 'off',
  source: 'off',
  mountpoint: null,
  bytes: 0,
  frames: 0,
  bad_frames: 0,
  dropped: 0,
  messages: {},
  rate_bps: 0,
  age_s: null,
  problem: null,
  mountpoints: null,
};

/** In place of corrections where none are configured. */
export const noCorrections = { methods: { rtk: () => OFF } satisfies Methods };
