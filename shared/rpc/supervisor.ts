import { type Contract, method, shape } from './contract.ts';

/** `waiting`: it ended and is started again shortly; `parked`: it ended too often and is tried again once in a while. */
export type ChildState = 'starting' | 'running' | 'waiting' | 'parked' | 'stopped';

/** One process of the node. */
export interface ChildStatus {
  readonly name: string;
  readonly state: ChildState;
  readonly pid: number | null;
  readonly restarts: number;
  readonly uptime_seconds: number | null;
  /** `code 1`, `SIGKILL`; null while it never ended. */
  readonly last_exit: string | null;
  /** Last lines of stderr before the newest end. */
  readonly last_words: readonly string[];
}

/** A restart that was asked for: the process before, null where none ran, and its running successor. */
export interface Restarted {
  readonly pid_before: number | null;
  /** Null where the config no longer wants the process: it was stopped. */
  readonly pid_after: number | null;
}

const NOTHING = { type: 'object', additionalProperties: false } as const;

/** What svc-supervisor answers on `supervisor.sock`. */
export const SUPERVISOR = {
  server: 'svc-supervisor',
  methods: {
    /** The supervisor first, then its processes in the order in which they start. */
    status: method(NOTHING, shape<{ readonly services: readonly ChildStatus[] }>(), 2000),
    /**
     * Answered once the successor runs. The process is restarted as the config wants it now. Errors: E_NOT_FOUND, E_TIMEOUT
     * after 20 s, E_DRAINING while the node stops.
     */
    restart: method(
      {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' } },
        additionalProperties: false,
      },
      shape<Restarted>(),
      25_000,
    ),
    /** The whole node begins anew, with the same process id; answered before. */
    restart_self: method(NOTHING, shape<{ readonly accepted: true }>(), 2000),
  },
  events: {
    /** At once on connect, and on every change of a process. */
    services: shape<readonly ChildStatus[]>(),
  },
} as const satisfies Contract;
