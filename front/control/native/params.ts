import { chunksOf } from '../../../shared/async/chunks.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { familyOf } from '../../../shared/flight/modes.ts';
import { classOfParam, IDENTITY, isReservedParam } from '../../../shared/mavlink/param-classes.ts';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { ParamsSnapshot, ParamWriteResult } from '../../../shared/rpc/link-answers.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import type { ParamDescription } from '../param-metadata/description.ts';
import type { ParamMetadata } from '../param-metadata/param-metadata.ts';
import type { DescriptionTable } from '../param-metadata/table.ts';

/** MAV_AUTOPILOT_ARDUPILOTMEGA */
const ARDUPILOT = 3;
/** A list of parameters ends before the request does. */
const LIST_MS = 22_000;

type ParamHandlers = Pick<
  HandlersOf<typeof flightRows, 'front'>,
  | 'params.get'
  | 'params.put'
  | 'params.descriptions.put'
  | 'params.name.get'
  | 'params.name.post'
  | 'params.name.put'
  | 'params.changed.get'
  | 'params.reset.post'
>;

/** A written parameter, and whether the vehicle uses it only after a reboot; null: not known. */
type ParamWriteAnswer = ParamWriteResult & { readonly reboot_required: boolean | null };

/** The vehicle's parameters with what is known about them. */
interface DescribedParams {
  readonly snapshot: ParamsSnapshot;
  /** Null: nothing describes them. */
  readonly table: DescriptionTable | null;
}

export function paramHandlers(vehicle: VehicleView, metadata: ParamMetadata): ParamHandlers {
  const { link } = vehicle;

  const known = async (): Promise<DescribedParams> => {
    const snapshot = await link.params({});
    const { firmware = null, telemetry } = vehicle.state ?? {};
    const family = firmware === 'ardupilot' ? familyOf(ARDUPILOT, telemetry?.mav_type ?? -1) : null;
    return { snapshot, table: await metadata.of(firmware, snapshot.described, family) };
  };

  /** @param force overrides the armed guard @param anyValue leaves the documented range aside */
  const write = async (
    { table }: DescribedParams,
    name: string,
    value: number,
    force: boolean,
    anyValue = force,
  ): Promise<ParamWriteAnswer> => {
    const description = table?.get(name) ?? null;
    if (!anyValue && description !== null) checkRange(name, value, description);
    const result = await link.param_set({ name, value, force });
    return { ...result, reboot_required: description?.reboot_required ?? null };
  };

  const writeOne = async (
    name: string,
    { value, confirm }: { readonly value: number; readonly confirm?: Confirmed },
    force: boolean,
  ): Promise<ParamWriteAnswer> => {
    checkConfirmed([name], confirm);
    return write(await known(), name, value, force);
  };

  /** Writes in order; the first failure ends it, and says what was written and what was not. */
  const writeAll = async (
    what: DescribedParams,
    entries: readonly (readonly [name: string, value: number])[],
    force: boolean,
    anyValue = force,
  ): Promise<{ readonly written: number; readonly results: readonly ParamWriteAnswer[] }> => {
    const results: ParamWriteAnswer[] = [];
    const end = performance.now() + LIST_MS;
    for (const [name, value] of entries) {
      try {
        if (performance.now() > end) throw new ApiError('E_TIMEOUT', 'The list took too long.');
        results.push(await write(what, name, value, force, anyValue));
      } catch (error) {
        const notTried = entries.slice(results.length + 1).map(([each]) => each);
        throw stoppedAt(name, error, results, notTried);
      }
    }
    return { written: results.length, results };
  };

  return {
    'params.get': async ({ query }) => {
      const { snapshot, table } =
        parseQuery(query)?.['details'] === '1'
          ? await known()
          : { snapshot: await link.params({}), table: undefined };
      const { params, cached, expected, priming, timed_out } = snapshot;
      return {
        params: Object.fromEntries(Object.entries(params).map(([name, { value }]) => [name, value])),
        count: expected,
        cached,
        priming,
        priming_timeout: timed_out,
        progress: { got: cached, expected },
        ...(table === undefined
          ? {}
          : {
              details: Object.fromEntries(
                Object.entries(params).map(([name, entry]) => [name, detailsOf(name, entry, table)]),
              ),
            }),
      };
    },

    'params.name.get': async ({ params: { name } }) => {
      const { snapshot, table } = await known();
      const { params } = snapshot;
      const found = Object.hasOwn(params, name) ? params[name] : undefined;
      if (found === undefined) {
        throw noParam(name, snapshot);
      }
      return {
        name,
        value: found.value,
        ...detailsOf(name, found, table),
      };
    },

    'params.name.post': async ({ params: { name }, body, forced }) => writeOne(name, body, forced),

    'params.name.put': async ({ params: { name }, body, forced }) => writeOne(name, body, forced),

    'params.put': async ({ body: { params, confirm }, forced }) => {
      checkConfirmed(Object.keys(params), confirm);
      return writeAll(await known(), Object.entries(params), forced);
    },

    'params.descriptions.put': async ({ body }) => {
      const parts: Buffer[] = [];
      for await (const chunk of chunksOf(body)) parts.push(chunk); // the row bounds it
      return metadata.keep(Buffer.concat(parts));
    },

    'params.changed.get': async () => {
      const { snapshot, table } = await known();
      const { params, priming } = snapshot;
      const changed: { name: string; value: number; default: number }[] = [];
      let unknown = 0;
      for (const [name, { value, default: told }] of Object.entries(params)) {
        const initial = told ?? table?.defaultOf(name) ?? null;
        if (initial === null) unknown++;
        // Defaults in a file have more digits than the vehicle's 32-bit floats.
        else if (Math.fround(initial) !== Math.fround(value)) changed.push({ name, value, default: initial });
      }
      const total = Object.keys(params).length;
      if (total === 0) throw new ApiError('E_NO_FC', 'No parameters have been read from a vehicle.');
      if (unknown === total) throw noDefaults();
      changed.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { changed, count: changed.length, unknown, priming };
    },

    'params.reset.post': async ({ body: { names, confirm }, forced }) => {
      checkConfirmed(names ?? [], confirm);
      if (names === undefined) {
        const { reboot_required } = await link.params_reset({ force: forced });
        return { all: true, written: 0, results: [], reboot_required };
      }
      const what = await known();
      const { snapshot, table } = what;
      const entries = names.map((name) => {
        const found = Object.hasOwn(snapshot.params, name) ? snapshot.params[name] : undefined;
        if (found === undefined) throw noParam(name, snapshot);
        const initial = found.default ?? table?.defaultOf(name) ?? null;
        if (initial === null) throw noDefaults(name);
        return [name, initial] as const;
      });
      // A default is what the firmware itself has chosen: no range holds it back.
      const done = await writeAll(what, entries, forced, true);
      const reboots = done.results.map(({ reboot_required }) => reboot_required);
      return {
        all: false,
        ...done,
        reboot_required: reboots.includes(true) ? true : reboots.includes(null) ? null : false,
      };
    },
  };
}

function detailsOf(
  name: string,
  { type, default: told }: ParamsSnapshot['params'][string],
  table: DescriptionTable | null,
): { type: number; default: number | null; metadata: ParamDescription | null } {
  return { type, default: told ?? table?.defaultOf(name) ?? null, metadata: table?.get(name) ?? null };
}

type Confirmed = string | readonly string[] | undefined;

/** What makes the vehicle another one or erases it is named once more. @throws ApiError E_INVALID_VALUE, before anything is written */
function checkConfirmed(names: readonly string[], confirm: Confirmed): void {
  const said = typeof confirm === 'string' ? [confirm] : (confirm ?? []);
  const missing = names.filter(
    (name) => isReservedParam(name) && !IDENTITY.has(name.toUpperCase()) && !said.includes(name),
  );
  const [first] = missing;
  if (first === undefined) return;
  const message = missing.length === 1 ? `must be "${first}"` : `must name ${missing.join(', ')}`;
  throw new ApiError(
    'E_INVALID_VALUE',
    `${first} ${classOfParam(first).reason}: /confirm ${message}. Nothing was written.`,
    { errors: [{ path: '/confirm', message }] },
  );
}

/** @throws ApiError E_RANGE outside `min` and `max`, as far as they are documented */
function checkRange(
  name: string,
  value: number,
  {
    min,
    max,
    units,
  }: { readonly min: number | null; readonly max: number | null; readonly units: string | null },
): void {
  if (!Number.isFinite(Math.fround(value))) return; // no value of the vehicle's at all, which svc-link says
  // The vehicle keeps 32-bit floats: what rounds to the limit is the limit.
  const low = min !== null && Math.fround(value) < Math.fround(min);
  const high = max !== null && Math.fround(value) > Math.fround(max);
  if (!low && !high) return;
  const range = `${min ?? 'no minimum'} to ${max ?? 'no maximum'}${units === null ? '' : ` ${units}`}`;
  throw new ApiError(
    'E_RANGE',
    `${name} is documented for ${range}, not for ${value}. Repeat with force if you are sure.`,
    { name, value, min, max, override: { body: { force: true }, query: 'force=1' } },
  );
}

/** A list with gaps says nothing of a name that is not in it. */
function noParam(name: string, { cached, expected, priming }: ParamsSnapshot): ApiError {
  const open = priming || (expected ?? 0) > cached;
  if (!open && cached === 0)
    return new ApiError('E_NOT_FOUND', `${name} is not known: no vehicle has sent its parameters.`);
  if (!open) return new ApiError('E_NOT_FOUND', `The vehicle has no parameter ${name}.`);
  const all = expected === null ? '' : ` of ${expected}`;
  const why = priming ? 'the download is still under way' : 'it has not sent the others';
  return new ApiError(
    'E_NOT_FOUND',
    `${name} is not known: ${cached}${all} parameters of the vehicle are here, ${why}.`,
  );
}

function noDefaults(name?: string): ApiError {
  return new ApiError(
    'E_NOT_IMPLEMENTED',
    `The default${name === undefined ? 's are' : ` of ${name} is`} not known: the vehicle does not tell ${name === undefined ? 'them' : 'it'}. For PX4, give its parameters.json: PUT /api/params/descriptions.`,
  );
}

/** The first failure ends a list: parameters before it are written, those after it are not tried. */
function stoppedAt(
  name: string,
  error: unknown,
  results: readonly ParamWriteAnswer[],
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
