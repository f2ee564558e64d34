import { CONTROL, section } from './leaf.ts';

const CLASS = {
  'x-class': 'keyonly',
  'x-reason': 'decides which networks reach the API, and can lock out every caller',
} as const;

/** The section `api`: where the HTTP API listens. */
export const apiConfig = section({
  port: {
    type: 'integer',
    minimum: 1,
    maximum: 65535,
    default: 8080,
    description: 'TCP port of the HTTP API',
    ...CLASS,
    ...CONTROL,
  },
  host: {
    type: 'string',
    format: 'ip-address',
    maxLength: 64,
    default: '::',
    description: 'address the HTTP API binds to; :: is every IPv4 and IPv6 address',
    ...CLASS,
    ...CONTROL,
  },
});
