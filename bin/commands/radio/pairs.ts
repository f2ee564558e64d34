import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/wfb/pair', {
  summary: 'List the bound radios with their fingerprints.',
  examples: ['radio pairs'],
  *lines({ pairs, paired }) {
    for (const { slot, device_id: id, name, fingerprint, proved } of pairs)
      yield `slot ${slot}  ${id} ${name}  ${fingerprint}  ${proved ? 'proved' : 'has carried no data yet'}`;
    if (!paired) yield 'No bound radios.';
  },
});
