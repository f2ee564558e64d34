import { requestCommand } from '../cli/request-command.ts';

export default {
  'remote-id': requestCommand('GET /api/remote-id', {
    summary: 'Show what the Remote ID transmitter on the vehicle says.',
    examples: ['remote-id'],
    *lines({ state, reasons, operator_id_set: set, operator_place: place, transmitter }) {
      yield { absent: 'no transmitter', ready: 'ready', not_ready: 'not ready' }[state];
      yield* reasons.map((reason) => `  ${reason}`);
      if (transmitter !== null)
        yield `${transmitter.system}/${transmitter.component}, heard ${transmitter.age_s.toFixed(1)} s ago`;
      yield `operator number    ${set ? 'set' : 'not set: svc config set remote_id.operator_id NUMBER'}`;
      yield `operator's place   ${place ?? 'not known'}`;
    },
  }),
};
