import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/config/schema', {
  summary: 'Print the JSON Schema of the configuration: every key, its default, its bounds.',
  examples: ['config schema'],
  lines: (schema) => JSON.stringify(schema, null, 2).split('\n'),
});
