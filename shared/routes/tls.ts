import { tlsInfo } from '../schemas/tls.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, media } from './row-parts.ts';

const { row } = domain({ lane: 'front', feature: 'core', profiles: 'DG' });

export const tlsRows = [
  row(
    'tls.get',
    'GET /api/tls',
    'public none ok -',
    'certificate authority and leaf of the node: fingerprints, names, end',
    { responses: json('what to pin, and until when it holds', tlsInfo) },
  ),
  row('ca-crt.get', 'GET /ca.crt', 'public none ok -', "the node's certificate authority", {
    fails: ['E_NOT_FOUND'],
    responses: media('the certificate, PEM', 'application/x-x509-ca-cert'),
  }),
] as const satisfies readonly Row[];
