import { CONTROL, section } from './leaf.ts';

const CLASS = {
  'x-class': 'keyonly',
  'x-reason': 'decides which networks reach the API, and can lock out every caller',
} as const;

/** The section `api`: where the HTTP API listens. */
export const apiConfig = section('Web access (API)', 'access', {
  port: {
    title: 'HTTP port',
    type: 'integer',
    minimum: 1,
    maximum: 65535,
    default: 8080,
    description: 'TCP port of the HTTP API',
    ...CLASS,
    ...CONTROL,
  },
  tls_port: {
    title: 'HTTPS port',
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    default: 8443,
    description: 'TCP port of the same API by HTTPS; 0 turns it off',
    ...CLASS,
    ...CONTROL,
  },
  tls_cert: {
    title: 'Own certificate',
    type: 'string',
    maxLength: 4096,
    default: '',
    description:
      'path of your own certificate, PEM with those above it; empty: the node makes its own (docs/https.md)',
    ...CLASS,
    ...CONTROL,
  },
  tls_key: {
    title: 'Key of the certificate',
    type: 'string',
    maxLength: 4096,
    default: '',
    description: 'path of its private key, PEM, readable only by the service',
    ...CLASS,
    ...CONTROL,
  },
  host: {
    title: 'Listening address',
    type: 'string',
    format: 'ip-address',
    maxLength: 64,
    default: '::',
    description: 'address the HTTP API binds to; :: is every IPv4 and IPv6 address',
    ...CLASS,
    ...CONTROL,
  },
  trusted_proxies: {
    title: 'Trusted reverse proxies',
    type: 'array',
    items: { type: 'string', format: 'ip-address', maxLength: 64 },
    maxItems: 16,
    default: [],
    description:
      'addresses of reverse proxies: from these X-Forwarded-Proto and Host say where the page came from, and nothing counts as this machine (docs/proxy.md)',
    ...CLASS,
    ...CONTROL,
  },
});
