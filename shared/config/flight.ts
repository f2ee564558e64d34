import { GUARDED, LINK, section } from './leaf.ts';

/** The section `flight`: what commands may do. */
export const flightConfig = section('Commands', 'flight', {
  max_goto_m: {
    title: 'Farthest target',
    type: 'number',
    minimum: 0,
    maximum: 1_000_000,
    default: 2000,
    'x-unit': 'm',
    description:
      'how far over ground a command may send the vehicle; further only with allow_far; 0: any distance',
    'x-class': 'keyonly',
    'x-reason': 'keeps the aircraft from places named by mistake or by a program',
    ...GUARDED,
    ...LINK,
  },
});
