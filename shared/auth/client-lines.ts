import type { Scope } from './scopes.ts';

/** How each AI client is told about the connector, which runs on the operator's machine: for the page and for `svc mcp demo`. */
export interface ClientLine {
  readonly id: 'claudeCode' | 'desktop' | 'vscode' | 'codex';
  readonly text: string;
}

interface Reached {
  /** Name or address of the node, as the operator's machine reaches it. */
  readonly host: string;
  readonly token: string;
  readonly scopes: readonly Scope[];
  /** The programs; absent: where a reader has to fill them in. */
  readonly node?: string;
  readonly connector?: string;
  /** The vehicle is a simulator, which is checked: nobody confirms its flights. */
  readonly simulated?: boolean;
}

export function clientLines({
  host,
  token,
  scopes,
  // Of `npm ci`: an older one of the machine would have to start this one and stay beside it.
  node = '/path/to/svc/node_modules/.bin/node',
  connector = '/path/to/svc/bin/svc-mcp.js',
  simulated = false,
}: Reached): readonly ClientLine[] {
  // Flight tools are shown only where somebody declares that the node guards them.
  const flight = simulated ? ['--sim'] : scopes.includes('flight') ? ['--flight-enforced'] : [];
  const args = [connector, '--target', 'agent', host, ...flight, ...familiesFor(scopes)];
  const env = { SVC_MCP_TOKEN: token };
  const shell = `--env SVC_MCP_TOKEN=${token} -- ${node} ${args.join(' ')}`;
  const server = { command: node, args, env };
  return [
    { id: 'claudeCode', text: `claude mcp add drone ${shell}` },
    { id: 'desktop', text: JSON.stringify({ mcpServers: { drone: server } }) },
    { id: 'vscode', text: `code --add-mcp '${JSON.stringify({ name: 'drone', ...server })}'` },
    { id: 'codex', text: `codex mcp add drone ${shell}` },
  ];
}

/** The families of tools that these scopes are for; the client may have others listed with `tools_show`. */
function familiesFor(scopes: readonly Scope[]): readonly string[] {
  const families = [
    ...(scopes.includes('flight') ? ['mission', 'payload'] : []),
    ...(scopes.includes('admin') ? ['setup'] : []),
  ];
  return families.length === 0 ? [] : ['--toolset', families.join(',')];
}
