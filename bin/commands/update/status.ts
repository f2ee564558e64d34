import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/v1/system/update', {
  summary: 'Show which version runs, which one was before it, and how an update goes.',
  examples: ['update status'],
  *lines({ running, previous, step, percent, error }) {
    yield `running    ${running}`;
    yield `previous   ${previous ?? 'none'}`;
    yield `update     ${step}${percent === null ? '' : ` ${Math.round(percent)} %`}`;
    if (error !== null) yield `           ${error}`;
  },
});
