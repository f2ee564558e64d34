import { GUARDED, LINK, section } from './leaf.ts';

/** The section `flight`: what commands may do. */
export const flightConfig = section({
  max_goto_m: {
    type: 'number',
    minimum: 0,
    maximum: 1_000_000,
    default: 2000,
    description:
      'how far from the vehicle, in metres over ground, a place may be that a command sends it to; further only with allow_far; 0: any distance',
    'x-class': 'keyonly',
    'x-reason': 'holds an aircraft back from places that a slip, or a program, names',
    ...GUARDED,
    ...LINK,
  },
});
