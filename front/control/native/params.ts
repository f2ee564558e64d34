import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { ParamWriteResult } from '../../../shared/rpc/link.ts';
import type { VehicleView } from '../vehicle-view.ts';

/** A list of parameters ends before the request does. */
const LIST_MS = 22_000;

type ParamHandlers = Pick<
  HandlersOf<typeof flightRows, 'front'>,
  'params.get' | 'params.put' | 'params.name.get' | 'params.name.post' | 'params.name.put'
>;

export function paramHandlers(vehicle: VehicleView): ParamHandlers {
  const { link } = vehicle;
  return {
    'params.get': async () => {
      const { params, cached, expected, priming, timed_out } = await link.params({});
      return {
        params: Object.fromEntries(Object.entries(params).map(([name, { value }]) => [name, value])),
        count: expected,
        cached,
        priming,
        priming_timeout: timed_out,
        progress: { got: cached, expected },
      };
    },

    'params.name.get': async ({ params: { name } }) => {
      const { params, priming } = await link.params({});
      const found = Object.hasOwn(params, name) ? params[name] : undefined;
      if (found === undefined) {
        const more = priming ? ' The download is still under way.' : '';
        throw new ApiError('E_NOT_FOUND', `The vehicle has no parameter ${name}.${more}`);
      }
      return { name, value: found.value, type: found.type };
    },

    'params.name.post': async ({ params: { name }, body: { value }, forced }) =>
      link.param_set({ name, value, force: forced }),

    'params.name.put': async ({ params: { name }, body: { value }, forced }) =>
      link.param_set({ name, value, force: forced }),

    'params.put': async ({ body: { params }, forced }) => {
      const names = Object.keys(params);
      const results: ParamWriteResult[] = [];
      const end = performance.now() + LIST_MS;
      for (const [name, value] of Object.entries(params)) {
        try {
          if (performance.now() > end) throw new ApiError('E_TIMEOUT', 'The list took too long.');
          results.push(await link.param_set({ name, value, force: forced }));
        } catch (error) {
          throw stoppedAt(name, error, results, names.slice(results.length + 1));
        }
      }
      return { written: results.length, results };
    },
  };
}

/** The first failure ends a list: parameters before it are written, those after it are not tried. */
function stoppedAt(
  name: string,
  error: unknown,
  results: readonly ParamWriteResult[],
  notTried: readonly string[],
): ApiError {
  const cause = error instanceof ApiError ? error : new ApiError('E_INTERNAL', messageOf(error));
  return new ApiError(cause.code, `${name}: ${cause.message}`, {
    ...cause.extras,
    failed: name,
    written: results.length,
    results,
    not_tried: notTried,
  });
}
