import { ApiError } from '../../../shared/errors.ts';
import type { reportRows } from '../../../shared/routes/flight-reports.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
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
  return {
    'tlogs.name.report.get': async (call) =>
      reporter.report(await tlogs.open(call.params.name), 'tlog', call),

    'flight-logs.id.report.get': async (call) => {
      const { params } = call;
      const id = /^\d{1,5}$/.test(params.id) ? Number(params.id) : Number.NaN;
      if (!(id <= 0xffff)) throw new ApiError('E_NOT_FOUND', 'Log numbers go from 0 to 65535.');
      // Begins the download, or keeps it going, as a reader of the log does.
      const { name, complete, have, size } = await link.calls.log_fetch({ id });
      if (!complete)
        throw new ApiError(
          'E_BUSY',
          `Log ${id} is being fetched: ${(have / MB).toFixed(1)} of ${(size / MB).toFixed(1)} MB. Ask again until the report comes.`,
          { have, size },
        );
      return reporter.report(await fetched.open(name), 'onboard', call);
    },
  };
}
