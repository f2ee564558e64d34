import { RESIDUAL, section } from './leaf.ts';

/** Who holds the pairing key answers for the software that runs on the node. */
const TRUST = {
  'x-class': 'keyonly',
  'x-reason': 'decides whose software may run on the node',
  ...RESIDUAL,
} as const;

/** The section `plugins`: extensions. */
export const pluginsConfig = section('Extensions', 'extensions', {
  require_signed: {
    title: 'Signed extensions only',
    type: 'boolean',
    default: true,
    description: 'whether extensions without a trusted signature are refused',
    ...TRUST,
  },
  allow_unsandboxed: {
    title: 'Without a sandbox',
    type: 'boolean',
    default: false,
    description: 'whether extensions run without a sandbox on a machine without bubblewrap',
    ...TRUST,
  },
  url_hosts: {
    title: 'Hosts to install from',
    type: 'array',
    maxItems: 16,
    items: { type: 'string', pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?$' },
    default: ['github.com', 'objects.githubusercontent.com', 'release-assets.githubusercontent.com'],
    description: 'hosts from which an extension may be installed by URL',
    ...TRUST,
  },
});
