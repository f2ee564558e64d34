import type { CompassCalibration } from './calibration.ts';
import type { Channel } from './channel.ts';
import { MagCalProgress, MagCalReport } from './messages.ts';
import type { TelemetryView } from './telemetry-view.ts';

/** MAG_CAL_STATUS of a calibration that has ended well; higher ones have failed. */
const SUCCESS = 4;
const FITNESS = 6.2;
const BAD_FITNESS = 88;

/** MAG_CAL_PROGRESS of each compass whose calibration runs. */
export function magCalProgress(channel: Channel, view: TelemetryView): void {
  const compasses = view.compasses();
  for (const { id, status, percent } of compasses) {
    if (status >= SUCCESS) continue;
    channel.send(MagCalProgress, {
      compassId: id,
      calMask: maskOf(compasses),
      calStatus: status,
      attempt: 1,
      completionPct: Math.floor(percent),
      completionMask: Array.from({ length: 10 }, (_, index) => (index * 10 < percent ? 255 : 0)),
    });
  }
}

/** MAG_CAL_REPORT of each whose calibration has ended, again and again until it is accepted or cancelled. */
export function magCalReports(channel: Channel, view: TelemetryView): void {
  const compasses = view.compasses();
  for (const { id, status, saved } of compasses) {
    if (status < SUCCESS) continue;
    channel.send(MagCalReport, {
      compassId: id,
      calMask: maskOf(compasses),
      calStatus: status,
      autosaved: saved ? 1 : 0,
      fitness: status === SUCCESS ? FITNESS : BAD_FITNESS,
      ofsX: 12,
      ofsY: -8,
      ofsZ: 31,
      diagX: 1,
      diagY: 1,
      diagZ: 1,
      scaleFactor: 1,
    });
  }
}

function maskOf(compasses: readonly CompassCalibration[]): number {
  return compasses.reduce((mask, { id }) => mask | (1 << id), 0);
}
