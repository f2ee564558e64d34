import { LINK, section } from './leaf.ts';

/** The section `tlog`: telemetry logs, every frame between vehicle and node. */
export const tlogConfig = section('Telemetry logs', 'storage', {
  when: {
    title: 'Write telemetry logs',
    enum: ['armed', 'always', 'off'],
    'x-words': ['While armed', 'Always', 'Never'],
    default: 'armed',
    description: 'while armed: from arming to 60 s after disarming',
    ...LINK,
  },
  max_mb: {
    title: 'Size of telemetry logs',
    type: 'integer',
    minimum: 16,
    maximum: 65536,
    default: 512,
    'x-unit': 'MB',
    description: 'size of all telemetry logs; beyond it the oldest are deleted',
    'x-class': 'destructive',
    'x-reason': 'can make the node delete stored records',
    ...LINK,
  },
});
