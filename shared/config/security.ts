import { CONTROL, section } from './leaf.ts';

const CLASS = { 'x-class': 'keyonly', 'x-reason': 'is the policy that limits everybody else' } as const;

const origins = {
  type: 'array',
  items: { type: 'string', format: 'web-origin', maxLength: 136 },
  maxItems: 32,
  default: [],
  ...CLASS,
  ...CONTROL,
} as const;

/** The section `security`: which browsers may call, and how pairing works. */
export const securityConfig = section('Security', 'access', {
  api: section('Browsers', null, {
    cors_enabled: {
      title: 'Other web pages may call',
      type: 'boolean',
      default: true,
      description: 'whether browsers from allowed origins may call',
      ...CLASS,
      ...CONTROL,
    },
    cors_origins: {
      title: 'Allowed origins',
      ...origins,
      description: 'browser origins that may call this node',
    },
    cors_origins_extra: { title: 'Further origins', ...origins, description: 'further allowed origins' },
    hosts: {
      title: 'Further names of the node',
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z0-9.-]{1,253}$' },
      maxItems: 32,
      default: [],
      description: 'further names by which an unpaired node may be called',
      ...CLASS,
      ...CONTROL,
    },
  }),
  near_hosts: {
    title: 'Hosts nearby that may be asked',
    type: 'array',
    items: { type: 'string', format: 'host-or-empty', minLength: 1, maxLength: 253 },
    maxItems: 32,
    default: [],
    description:
      'hosts on this machine or its own cable that corrections (rtk) and uploads may come from and go to, as 127.0.0.1: without it neither is led to loopback, link-local and metadata addresses',
    ...CLASS,
    'x-restart': ['svc-link', 'svc-residual'],
  },
  require_tls: {
    title: 'HTTPS only',
    type: 'boolean',
    default: false,
    description: 'whether callers from other machines must use HTTPS (api.tls_port)',
    ...CLASS,
    ...CONTROL,
  },
  pairing: section('Pairing', null, {
    require_code: {
      title: 'Code for pairing',
      type: 'boolean',
      default: false,
      description: 'whether a claim must carry the pairing code',
      ...CLASS,
      ...CONTROL,
    },
  }),
});
