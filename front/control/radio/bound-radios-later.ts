import type { BoundRadios } from './bound-radios.ts';

/** The bound radios of a build that cannot bind one. */
export const boundRadiosLater: BoundRadios = {
  list: () => [],
  relaySecret: () => null,
  onChange: () => () => undefined,
};
