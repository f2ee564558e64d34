import { CONTROL, section } from './leaf.ts';

/** The section `mcp`: scoped tokens for AI clients. */
export const mcpConfig = section('AI clients', 'ai', {
  token_accept_enabled: {
    title: 'Accept tokens of AI clients',
    type: 'boolean',
    default: false,
    description: 'whether scoped tokens are accepted; changed with `sudo svc mcp enable`',
    'x-class': 'root',
    'x-reason': 'allows a new kind of caller',
    ...CONTROL,
  },
});
