import type { FromSchema } from 'json-schema-to-ts';
import { ApiError } from '../errors.ts';
import { faultOf } from '../schemas/fault.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { validatorOf } from '../schemas/validator.ts';
import { RpcClient, type RpcMethod, RpcServer, type RpcServerOptions } from './rpc.ts';

/**
 * A contract lists the methods and events of one process's socket. It gives the types of both ends: `clientOf` has a function
 * for each method, `serverOf` a handler for each, and validates the parameters.
 */

/** Carries a type only; empty at run time. */
export interface Shape<T> {
  readonly of?: T;
}

export function shape<T>(): Shape<T> {
  return {};
}

export interface Method<Params, Result> {
  /** The server refuses invalid parameters. */
  readonly schema: JsonSchema;
  readonly params: Shape<Params>;
  readonly result: Shape<Result>;
  /** How long the caller waits for the answer, ms. */
  readonly timeoutMs: number;
}

/** The read-only form of a type. */
type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** @param schema of the parameters; their type is derived from it */
export function method<const S extends JsonSchema, Result>(
  schema: S,
  result: Shape<Result>,
  timeoutMs: number,
): Method<NoInfer<Frozen<FromSchema<S>>>, Result> {
  return { schema, params: {}, result, timeoutMs };
}

export interface Contract {
  /** The process that answers, for example `svc-link`. */
  readonly server: string;
  readonly methods: Readonly<Record<string, Method<unknown, unknown>>>;
  /** The events that the server sends to every client, by name. */
  readonly events: Readonly<Record<string, Shape<unknown>>>;
}

type Of<S> = S extends Shape<infer T> ? T : never;
export type ParamsOf<C extends Contract, M extends keyof C['methods']> = Of<C['methods'][M]['params']>;
type ResultOf<C extends Contract, M extends keyof C['methods']> = Of<C['methods'][M]['result']>;
type EventOf<C extends Contract, E extends keyof C['events']> = Of<C['events'][E]>;

/** The client's side: one function a method, for example `calls.power({ action: 'reboot' })`. */
export type Calls<C extends Contract> = {
  readonly [M in keyof C['methods']]: (params: ParamsOf<C, M>) => Promise<ResultOf<C, M>>;
};

/** The server's side. The signal is aborted when the caller hangs up. */
export type Handlers<C extends Contract> = {
  readonly [M in keyof C['methods']]: (
    params: ParamsOf<C, M>,
    signal: AbortSignal,
  ) => ResultOf<C, M> | Promise<ResultOf<C, M>>;
};

type Listeners<C extends Contract> = {
  readonly [E in keyof C['events']]?: (data: EventOf<C, E>) => void;
};

/** One event with its data. */
type ContractEvent<C extends Contract> = {
  readonly [E in keyof C['events'] & string]: readonly [event: E, data: EventOf<C, E>];
}[keyof C['events'] & string];

interface ClientOptions<C extends Contract> {
  readonly path: string;
  /** An event without a listener is ignored. */
  readonly listeners?: Listeners<C>;
  readonly onConnection?: (connected: boolean) => void;
  /** The error of calls while the server is away, instead of `E_UPSTREAM_DOWN`. */
  readonly away?: () => ApiError;
}

/** A connection to the server of a contract; `start`, `connectOnce` and `stop` as in `RpcClient`. */
export interface Client<C extends Contract> {
  readonly calls: Calls<C>;
  readonly connected: boolean;
  start(): void;
  connectOnce(): Promise<void>;
  stop(): void;
}

export function clientOf<C extends Contract>(
  contract: C,
  { listeners = {}, away, ...options }: ClientOptions<C>,
): Client<C> {
  // Events come from our own, typed server, and some ten times a second, so they are not validated.
  const byName = new Map(Object.entries<((data: never) => void) | undefined>(listeners));
  const rpc = new RpcClient({
    ...options,
    peer: contract.server,
    onEvent: (event, data) => byName.get(event)?.(data as never),
  });
  const call: RpcClient['call'] = async (name, params, timeoutMs) =>
    rpc.call(name, params, timeoutMs).catch((error: unknown) => {
      const down = error instanceof ApiError && error.code === 'E_UPSTREAM_DOWN';
      throw down && away !== undefined ? away() : error;
    });
  return {
    calls: callsTo(contract, away === undefined ? rpc : { call }),
    get connected() {
      return rpc.connected;
    },
    start: () => rpc.start(),
    connectOnce: async () => rpc.connectOnce(),
    stop: () => rpc.stop(),
  };
}

export interface ServerOptions<C extends Contract> extends Omit<RpcServerOptions, 'methods' | 'greeting'> {
  readonly handlers: Handlers<C>;
  /** Events that a new client gets at once, so that it never waits for the next change. */
  readonly greeting?: () => readonly ContractEvent<C>[];
}

/** The server of a contract; `start` and `stop` as in `RpcServer`. */
export interface Server<C extends Contract> {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Sends an event to every client. */
  tell(...told: ContractEvent<C>): void;
}

export function serverOf<C extends Contract>(
  contract: C,
  { handlers, ...options }: ServerOptions<C>,
): Server<C> {
  const rpc = new RpcServer({ ...options, methods: methodsOf(contract, handlers) });
  return {
    start: async () => rpc.start(),
    stop: async () => rpc.stop(),
    tell: (...[event, data]) => rpc.broadcast(event, data),
  };
}

/** The typed calls of a contract over a connection. They throw what `RpcClient.call` throws. */
export function callsTo<C extends Contract>(contract: C, rpc: Pick<RpcClient, 'call'>): Calls<C> {
  const calls = Object.entries(contract.methods).map(([name, { timeoutMs }]) => [
    name,
    async (params: unknown) => rpc.call(name, params, timeoutMs),
  ]);
  // Answers come from our own, typed handlers, so they are not validated.
  return Object.fromEntries(calls) as Calls<C>;
}

/** For `RpcServerOptions.methods`: invalid parameters are answered with `E_INVALID_VALUE` (extra `errors`). */
export function methodsOf<C extends Contract>(
  { server, methods }: C,
  handlers: Handlers<C>,
): Readonly<Record<string, RpcMethod>> {
  // Each handler is typed by its own method, and called only with parameters that passed its schema.
  const untyped = handlers as Readonly<Record<string, RpcMethod>>;
  const checked = Object.entries(methods).map(([name, { schema }]): [string, RpcMethod] => {
    const validate = validatorOf(schema);
    return [
      name,
      (params, signal) => {
        const errors = validate(params);
        if (errors === null) return untyped[name]?.(params, signal);
        const words = errors.map((error) => faultOf(error, 'it')).join('; ');
        throw new ApiError('E_INVALID_VALUE', `${server} refuses ${name}: ${words}.`, { errors });
      },
    ];
  });
  return Object.fromEntries(checked);
}
