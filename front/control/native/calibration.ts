import { ApiError } from '../../../shared/errors.ts';
import { wantsEvents } from '../../../shared/http/event-answer.ts';
import type { flightRows } from '../../../shared/routes/flight.ts';
import type { HandlersOf, OnProgress } from '../../../shared/routes/handler.ts';
import type { CalibrationState } from '../../../shared/schemas/calibration.ts';
import type { VehicleView } from '../node/vehicle-view.ts';

/** A client that wants events gets them for this long, or until the calibration has ended. */
const EVENTS_MS = 480_000;

type Handlers = Pick<
  HandlersOf<typeof flightRows, 'front'>,
  'calibration.get' | 'calibration.post' | 'calibration.delete'
>;

/** @param now monotonic clock, ms */
export function calibrationHandlers({ link }: VehicleView, now: () => number): Handlers {
  return {
    'calibration.get': async ({ headers, progress }) => {
      if (!wantsEvents({ headers })) return (await link.calibration({ seen: null })).state;
      return followed(link, progress, now() + EVENTS_MS, now);
    },

    'calibration.post': async ({ body: { sensor, confirm }, forced }) => {
      if (confirm === undefined) return (await link.calibrate({ sensor, force: forced })).state;
      if (sensor !== 'accelerometer')
        throw new ApiError('E_CALIBRATION', 'Only the accelerometer calibration uses poses.');
      return (await link.calibrate_confirm({ pose: confirm })).state;
    },

    'calibration.delete': async () => (await link.calibrate_cancel({})).state,
  };
}

async function followed(
  link: VehicleView['link'],
  progress: OnProgress,
  until: number,
  now: () => number,
): Promise<CalibrationState> {
  let seen: number | null = null;
  for (;;) {
    const { revision, state } = await link.calibration({ seen });
    if (!state.running || now() >= until) return state;
    if (revision !== seen) progress({ done: state.percent ?? 0, total: 100, text: state.text ?? '' });
    seen = revision;
  }
}
