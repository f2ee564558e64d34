/** A flight, with times in microseconds since 1970; `ended_us` null: it goes on. */
interface Flown {
  readonly started_us: number;
  readonly ended_us: number | null;
}

/** The clocks of vehicle and node differ, and a log's time is that of its last write. */
const EARLY_US = 60e6;
/** A vehicle that also writes while it is disarmed ends its log when its power goes. */
const LATE_US = 3600e6;

/**
 * The log that the vehicle has written of a flight. It says when it has ended: LOG_ENTRY's `time_utc` is the time of the file in ArduPilot
 * (AP_Logger_File::_get_log_time) and PX4 (MavlinkLogHandler). So it is the first that ended with the flight or after it. It may go on
 * with the flights that followed: ArduPilot has one log a boot unless LOG_FILE_DSRMROT says otherwise.
 * @param later the flights after it, the next one first. @returns null: none fits
 */
export function vehicleLogOf<L extends { readonly time: string | null }>(
  flight: Flown,
  later: readonly Flown[],
  logs: readonly L[],
): L | null {
  const ended = flight.ended_us;
  if (ended === null) return null;
  // As long as the vehicle may have had its power.
  const until = later.reduce(
    (end, { started_us: from, ended_us: to }) => (from < end ? Math.max(end, (to ?? from) + LATE_US) : end),
    ended + LATE_US,
  );
  const timed = logs.flatMap((log) =>
    log.time === null ? [] : [{ log, endedUs: Date.parse(log.time) * 1000 }],
  );
  const fitting = timed
    .filter(({ endedUs }) => endedUs >= ended - EARLY_US && endedUs >= flight.started_us && endedUs < until)
    .toSorted((a, b) => a.endedUs - b.endedUs);
  return fitting[0]?.log ?? null;
}
