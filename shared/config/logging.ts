import { RESIDUAL, SUPERVISOR, section } from './leaf.ts';

const CLASS = {
  'x-class': 'destructive',
  'x-reason': 'can make the node delete stored records',
} as const;

/** The section `logging`: what is written, and how long it is kept. */
export const loggingConfig = section('Logs', 'storage', {
  level: {
    title: 'Log level',
    enum: ['error', 'warn', 'info', 'debug'],
    'x-words': ['Errors', 'Warnings', 'Information', 'Everything'],
    default: 'info',
    description: 'lowest level written; warning is accepted for warn',
    ...SUPERVISOR,
  },
  store: section('Stored logs', null, {
    enabled: {
      title: 'Keep logs',
      type: 'boolean',
      default: true,
      description: 'whether logs, events and metrics are kept for queries',
      ...CLASS,
      'x-restart': ['svc-residual', 'svc-supervisor'],
    },
    max_mb: {
      title: 'Size of the store',
      type: 'integer',
      minimum: 8,
      maximum: 65536,
      default: 256,
      'x-unit': 'MB',
      description: 'size of the store; beyond it the oldest records are deleted',
      ...CLASS,
      ...RESIDUAL,
    },
    max_age_days: {
      title: 'Age of a record',
      type: 'integer',
      minimum: 1,
      maximum: 3650,
      default: 30,
      'x-unit': 'days',
      description: 'maximum age of a record',
      ...CLASS,
      ...RESIDUAL,
    },
  }),
});
