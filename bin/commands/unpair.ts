import { requestCommand, switchFlag } from '../cli/request-command.ts';

export default {
  unpair: requestCommand('POST /api/pairing/unpair', {
    summary: 'Forget the pairing of the node on this machine; its key ends at once.',
    examples: ['unpair', 'unpair --force'],
    flags: {
      force: switchFlag('also while the vehicle is armed, or its state unknown'),
    },
    ask: ({ flags: { force } }) => ({ body: { force } }),
    lines: () => ['The node is unpaired.'],
  }),
};
