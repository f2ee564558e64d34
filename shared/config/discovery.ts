import { CONTROL, section } from './leaf.ts';

/** The section `discovery`: how the node makes itself known. */
export const discoveryConfig = section('Discovery', 'network', {
  mdns: {
    title: 'Announce on networks',
    type: 'boolean',
    default: true,
    description: 'whether the node advertises itself on its networks as _svc._tcp',
    'x-class': 'keyonly',
    'x-reason': 'decides who learns that this node exists',
    ...CONTROL,
  },
});
