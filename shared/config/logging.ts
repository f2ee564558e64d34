import { RESIDUAL, SUPERVISOR, section } from './leaf.ts';

const CLASS = {
  'x-class': 'destructive',
  'x-reason': 'can make the node delete stored records',
} as const;

/** The section `logging`: what is written, and how long it is kept. */
export const loggingConfig = section({
  level: {
    enum: ['error', 'warn', 'info', 'debug'],
    default: 'info',
    description: 'lowest level written; warning is accepted for warn',
    ...SUPERVISOR,
  },
  store: section({
    enabled: {
      type: 'boolean',
      default: true,
      description: 'whether logs, events and metrics are kept for queries',
      ...CLASS,
      'x-restart': ['svc-residual', 'svc-supervisor'],
    },
    max_mb: {
      type: 'integer',
      minimum: 8,
      maximum: 65536,
      default: 256,
      description: 'size of the store, MB; beyond it the oldest records are deleted',
      ...CLASS,
      ...RESIDUAL,
    },
    max_age_days: {
      type: 'integer',
      minimum: 1,
      maximum: 3650,
      default: 30,
      description: 'maximum age of a record, days',
      ...CLASS,
      ...RESIDUAL,
    },
  }),
});
