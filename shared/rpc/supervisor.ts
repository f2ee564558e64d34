import { type Contract, method, shape } from './contract.ts';

/**
 * `waiting`: it has ended and is started again shortly; `parked`: it ended too often and is tried again at longer intervals.
 */
export type ChildState = 'starting' | 'running' | 'waiting' | 'parked' | 'stopped';

/** One process of the node. */
export interface ChildStatus {
  readonly name: string;
  readonly state: ChildState;
  readonly pid: number | null;
  /** It runs, and has not answered for so long that something is wrong: it is about to be killed, or the disk holds it. */
  readonly hangs: boolean;
  readonly restarts: number;
  readonly uptime_seconds: number | null;
  /** `code 1`, `SIGKILL`; null while it never ended. */
  readonly last_exit: string | null;
  /** Last lines of stderr before the newest end. */
  readonly last_words: readonly string[];
  /** Config keys that were changed, and wait for its restart once the vehicle is disarmed: the armed guard held them. */
  readonly restart_required: readonly string[];
}

/** The result of a restart: the old process, null if none ran, and the new one. */
export interface Restarted {
  readonly pid_before: number | null;
  /** Null if the config no longer has the process: it was stopped. */
  readonly pid_after: number | null;
}

const NOTHING = { type: 'object', additionalProperties: false } as const;

/** The contract of svc-supervisor on `supervisor.sock`. */
export const SUPERVISOR = {
  server: 'svc-supervisor',
  methods: {
    /** The supervisor first, then its processes in the order in which they start. */
    status: method(NOTHING, shape<{ readonly services: readonly ChildStatus[] }>(), 2000),
    /**
     * Answered when the new process runs. The process is restarted with the present config. Errors: E_NOT_FOUND, E_TIMEOUT
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
    /** Restarts the whole node, with the same process id; answered before that. */
    restart_self: method(NOTHING, shape<{ readonly accepted: true }>(), 2000),
  },
  events: {
    /** At once on connect, and on every change of a process. */
    services: shape<readonly ChildStatus[]>(),
  },
} as const satisfies Contract;
