import { CONTROL, GUARDED, section } from './leaf.ts';

/** The section `network`: what the node does about networks by itself. */
export const networkConfig = section({
  setup_hotspot: {
    type: 'boolean',
    default: true,
    description:
      'whether an unpaired node that knows no network opens a hotspot for its set-up (docs/first-boot.md)',
    ...GUARDED,
    ...CONTROL,
  },
});
