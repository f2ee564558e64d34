import { requestCommand } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

export default {
  rtk: requestCommand('GET /api/rtk', {
    summary: 'Show where corrections come from, and whether they come.',
    examples: ['rtk'],
    *lines({ state, source, mountpoint, bytes, frames, bad_frames: bad, dropped, messages, ...told }) {
      const { rate_bps: rate, age_s: age, problem, mountpoints } = told;
      if (state === 'off') {
        yield 'off: the vehicle gets no corrections. Choose where they come from: svc config set rtk.source ntrip';
        return;
      }
      yield `${state}  ${source}${mountpoint === null ? '' : ` ${mountpoint}`}`;
      yield `${frames} frames, ${bad} damaged, ${dropped} not sent; ${bytes} bytes, ${rate} bit/s`;
      for (const [type, count] of Object.entries(messages)) yield `  ${type.padEnd(6)}${count}`;
      if (age !== null) yield `the newest ${age.toFixed(1)} s ago`;
      if (problem !== null) yield problem;
      yield* tableOf(
        ['MOUNTPOINT', 'KM', 'PLACE', 'FORMAT'],
        (mountpoints ?? []).map(({ name, place, format, distance_km: far }) => [name, far, place, format]),
      );
      if (mountpoints !== null && mountpoints.length > 0)
        yield 'Set one: svc config set rtk.ntrip.mountpoint NAME';
    },
  }),
};
