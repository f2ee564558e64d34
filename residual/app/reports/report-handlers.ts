import type { FileHandle } from 'node:fs/promises';
import { ApiError } from '../../../shared/errors.ts';
import type { SeriesWish } from '../../../shared/reports/series.ts';
import type { reportRows } from '../../../shared/routes/flight-reports.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { Base } from '../base.ts';
import { KeptFiles } from '../kept-files.ts';
import { tlogFiles } from '../kept-logs.ts';
import type { Reporter } from './reporter.ts';

/** As svc-link names what it has fetched, whole or not yet. */
const FETCHED = /^[0-9a-z]+_\d+_\d+_\d+\.(?:log|part)$/;
const MB = 1e6;

/** Reports of flights, from the telemetry logs of the node and from the logs that it has fetched from the vehicle. */
export function reportHandlers(
  { paths, link }: Pick<Base, 'paths' | 'link'>,
  reporter: Reporter,
): HandlersOf<typeof reportRows, 'residual'> {
  const fetched = new KeptFiles(paths.flightLogs, (name) => FETCHED.test(name), 'flight log');
  const tlogs = tlogFiles(paths);
  /** One of the vehicle, once it is here whole: this begins the download, or keeps it going, as a reader of the log does. */
  const onboard = async (number: string): Promise<FileHandle> => {
    const id = /^\d{1,5}$/.test(number) ? Number(number) : Number.NaN;
    if (!(id <= 0xffff)) throw new ApiError('E_NOT_FOUND', 'Log numbers go from 0 to 65535.');
    const { name, complete, have, size } = await link.calls.log_fetch({ id });
    if (!complete)
      throw new ApiError(
        'E_BUSY',
        `Log ${id} is being fetched: ${(have / MB).toFixed(1)} of ${(size / MB).toFixed(1)} MB. Ask again until the report comes.`,
        { have, size },
      );
    return fetched.open(name);
  };
  return {
    'tlogs.name.report.get': async (call) =>
      reporter.report(await tlogs.open(call.params.name), 'tlog', call),

    'flight-logs.id.report.get': async (call) =>
      reporter.report(await onboard(call.params.id), 'onboard', call),

    'tlogs.name.series.get': async (call) =>
      reporter.series(await tlogs.open(call.params.name), 'tlog', wishOf(call.query), call),

    'flight-logs.id.series.get': async (call) =>
      reporter.series(await onboard(call.params.id), 'onboard', wishOf(call.query), call),
  };
}

const USUAL_POINTS = 200;

/** As the row's schema has let it through. */
function wishOf(query: string): SeriesWish {
  const { fields = '', from, to, points } = parseQuery(query) ?? {};
  return {
    fields: fields.split(','),
    from: from === undefined ? null : Number(from),
    to: to === undefined ? null : Number(to),
    points: points === undefined ? USUAL_POINTS : Number(points),
  };
}
