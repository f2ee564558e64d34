import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/vision/status', {
  summary: 'Show what the detector does.',
  examples: ['vision status'],
  *lines({ model_id: model, state, designated, last_error: error, ...measured }) {
    yield `${model ?? 'no detector'}: ${state}`;
    if (state !== 'off') {
      yield `pictures a second  ${known(measured.fps, '')}`;
      yield `latency            ${known(measured.latency_ms, ' ms')}`;
      yield `skipped pictures   ${known(measured.dropped, '')}`;
      yield `memory             ${known(measured.memory_mb, ' MB')}`;
    }
    if (designated !== null) yield `follows            #${designated.track_id}, ${designated.lock_state}`;
    if (error !== null) yield `last error         ${error}`;
  },
});

function known(value: number | null, unit: string): string {
  return value === null ? 'not known' : `${Math.round(value * 10) / 10}${unit}`;
}
