import type { Scope } from '../../../../../shared/auth/scopes.ts';

/** How each AI client is told about the connector; the connector runs on the operator's machine (README). */
interface ClientLine {
  readonly id: 'claudeCode' | 'desktop' | 'vscode' | 'codex';
  readonly text: string;
}

const CONNECTOR = '/path/to/svc/bin/svc-mcp.js';
/** Of `npm ci`: an older one of the machine would have to start this one and stay beside it. */
const NODE = '/path/to/svc/node_modules/.bin/node';

/** @param host name or address of the node, as the operator's machine reaches it */
export function clientLines(host: string, token: string, scopes: readonly Scope[]): readonly ClientLine[] {
  // Flight tools are shown only where somebody declares that the node guards them.
  const flight = scopes.includes('flight') ? ['--flight-enforced'] : [];
  const args = [CONNECTOR, '--target', 'agent', host, ...flight];
  const env = { SVC_MCP_TOKEN: token };
  const shell = `--env SVC_MCP_TOKEN=${token} -- ${NODE} ${args.join(' ')}`;
  const server = { command: NODE, args, env };
  return [
    { id: 'claudeCode', text: `claude mcp add drone ${shell}` },
    { id: 'desktop', text: JSON.stringify({ mcpServers: { drone: server } }) },
    { id: 'vscode', text: `code --add-mcp '${JSON.stringify({ name: 'drone', ...server })}'` },
    { id: 'codex', text: `codex mcp add drone ${shell}` },
  ];
}
