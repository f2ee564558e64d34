import { CONTROL, GUARDED, section } from './leaf.ts';

/** The section `network`: what the node does about networks by itself. */
export const networkConfig = section({
  setup_hotspot: {
    type: 'boolean',
    default: true,
    description:
      'whether a node that is not paired and knows no network opens a hotspot for its set-up (docs/first-boot.md)',
    ...GUARDED,
    ...CONTROL,
  },
});
