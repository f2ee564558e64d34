import { LINK, section } from './leaf.ts';

/** The section `tlog`: telemetry logs, every frame between vehicle and node. */
export const tlogConfig = section({
  when: {
    enum: ['armed', 'always', 'off'],
    default: 'armed',
    description: 'from arming to 60 s after disarming, always, or never',
    ...LINK,
  },
  max_mb: {
    type: 'integer',
    minimum: 16,
    maximum: 65536,
    default: 512,
    description: 'size of all telemetry logs, MB; beyond it the oldest are deleted',
    'x-class': 'destructive',
    'x-reason': 'can make the node delete stored records',
    ...LINK,
  },
});
