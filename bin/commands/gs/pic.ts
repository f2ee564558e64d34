import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/v1/ground-station/pic', {
  summary: 'Show who is pilot in command.',
  examples: ['gs pic'],
  lines: ({ claimed_by: pilot, by, claimed_at: since }) => [
    pilot === null
      ? 'Nobody is pilot in command.'
      : `${pilot} is pilot in command, by ${by ?? 'unknown'} since ${since ?? 'unknown'}.`,
  ],
});
