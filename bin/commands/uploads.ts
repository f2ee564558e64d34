import { requestCommand } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';

const MB = 1e6;
const WAITS = {
  disarmed: 'Waits until the vehicle is disarmed.',
  unmetered: 'Waits for an uplink that is not paid by volume.',
  store: 'Waits for the store.',
} as const;

export default {
  uploads: requestCommand('GET /api/uploads', {
    summary: 'Show what was uploaded to the store, and what will be.',
    examples: ['uploads'],
    *lines({
      enabled,
      store,
      waiting_for: waits,
      problem,
      waiting_files: left,
      waiting_bytes: bytes,
      uploads,
    }) {
      if (!enabled) {
        yield 'No store is set. See: svc config get upload';
        return;
      }
      yield `${store ?? ''}  ${left} to go, ${(bytes / MB).toFixed(1)} MB`;
      if (waits !== null) yield WAITS[waits];
      if (problem !== null) yield problem;
      yield* tableOf(
        ['KIND', 'NAME', 'MB', 'UPLOADED'],
        uploads.map(({ kind, name, size_bytes: size, state, sent_bytes: sent, uploaded_at: at }) => {
          const done = state === 'uploading' && sent !== null ? ` ${Math.floor((100 * sent) / size)} %` : '';
          return [kind, name, (size / MB).toFixed(1), at ?? `${state}${done}`];
        }),
      );
    },
  }),
};
