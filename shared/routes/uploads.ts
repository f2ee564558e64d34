import { uploads } from '../schemas/uploads.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json } from './row-parts.ts';

const { row } = domain({ lane: 'residual', feature: 'logs', profiles: 'DG' });

export const uploadRows = [
  row('uploads.get', 'GET /api/uploads', 'key read ok -', 'what was and will be uploaded', {
    responses: json('recordings, telemetry logs and flight logs on their way to a store', uploads),
  }),
] as const satisfies readonly Row[];
