import { join } from 'node:path';
import { Errors } from '@oclif/core';
import { type ClientLine, clientLines } from '../../../shared/auth/client-lines.ts';
import type { Scope } from '../../../shared/auth/scopes.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { callNode } from '../../client/local-client.ts';
import { PACKAGE_ROOT } from '../../places.ts';
import { setTokenPosture } from './token-posture.ts';

const SCOPES: readonly Scope[] = ['read', 'safe_write', 'flight'];
const DAY_MS = 24 * 60 * 60 * 1000;

const CLIENTS: Readonly<Record<ClientLine['id'], string>> = {
  claudeCode: 'Claude Code',
  desktop: 'Claude Desktop, Cursor and others (their mcp.json)',
  vscode: 'VS Code',
  codex: 'Codex',
};

/** `svc mcp demo`: from a simulated vehicle to an AI client that flies it, by one line to paste. */
export class DemoCommand extends NodeCommand {
  static override summary =
    'Print the line that lets an AI client fly the simulated vehicle of this machine.';
  static override description =
    'Refused unless the node itself says that its vehicle is simulated. Lets the node accept scoped tokens (svc mcp enable) and mints one for a day that reads, records and flies.';
  static override examples = ['<%= config.bin %> mcp demo'];

  async run(): Promise<{ readonly lines: readonly ClientLine[] }> {
    await this.parse(DemoCommand);
    const { fc_simulated: simulated } = await callNode(this.address, 'GET /api/status');
    if (!simulated)
      throw new Errors.CLIError(
        'The vehicle of this node is not a simulator. For a real one: svc mcp mint, and docs/guide/ai-clients.md.',
        { exit: EXIT.refused },
      );
    const { accept_enabled: accepts } = await callNode(this.address, 'GET /api/mcp/status');
    if (!accepts) await setTokenPosture(this.paths, true, true);
    const { token } = await callNode(this.address, 'POST /api/mcp/tokens', {
      body: { label: 'demo', scopes: [...SCOPES], ttl_ms: DAY_MS },
    });
    const { api } = await callNode(this.address, 'GET /api/config');
    const lines = clientLines({
      host: `127.0.0.1:${api.port}`,
      token,
      scopes: SCOPES,
      node: process.execPath,
      connector: join(PACKAGE_ROOT, 'bin/svc-mcp.js'),
      simulated: true,
    });
    this.log(
      'For one day it may read, record video and fly the simulated vehicle, which nobody has to confirm.',
    );
    for (const { id, text } of lines) for (const line of ['', `${CLIENTS[id]}:`, text]) this.log(line);
    this.log('');
    this.log('Then ask: "Is the drone ready? Take off to 10 m, fly 50 m north and come back."');
    return { lines };
  }
}
