import type { Scope } from '../shared/auth/scopes.ts';
import { howToAllow } from '../shared/fleet/local-scopes.ts';
import { plainText } from '../shared/plain-text.ts';
import { Denial } from './denial.ts';
import { askOf } from './planes/ask.ts';
import { NoAnswer } from './planes/fleet-caller.ts';
import type { FleetPlane } from './planes/fleet-plane.ts';
import type { NodeClient } from './planes/node-client.ts';
import type { Plane } from './planes/plane.ts';
import { sideBySide } from './planes/side-by-side.ts';
import { type Principal, STDIO } from './principal.ts';

const PROBE_MS = 3000;

/** The output of `--verify` for each node: a sentence, and whether it is fine. Changes nothing. */
export async function verifyPlane(
  plane: Plane,
  principal: Principal,
): Promise<{ readonly ok: boolean; readonly lines: readonly string[] }> {
  const results = await sideBySide(plane.nodes, async (node) => verifyNode(node, principal));
  return {
    ok: results.every(({ ok }) => ok),
    lines: results.map(({ ok, line }) => `${ok ? '✓' : '✗'} ${line}`),
  };
}

/** The first lines in a fleet: what the credential is good for, and the broker. */
export async function verifyFleet({
  session,
  caller,
}: FleetPlane): Promise<{ readonly ok: boolean; readonly lines: readonly string[] }> {
  const { operator, id, fleet, scopes, nodes } = session.granted;
  const reach = nodes === null ? 'every node' : `${nodes.length} nodes`;
  const hub = `✓ The hub honours the credential ${id} of ${operator} in ${fleet}: ${scopes.join(', ')} on ${reach}`;
  try {
    await caller.whenConnected(PROBE_MS * 2);
    return { ok: true, lines: [hub, `✓ Connected to the broker ${caller.broker}`] };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { ok: false, lines: [hub, `✗ Not connected to the broker ${caller.broker}`] };
  }
}

async function verifyNode(
  node: NodeClient,
  principal: Principal,
): Promise<{ readonly ok: boolean; readonly line: string }> {
  const { id, name, baseUrl } = node.target;
  const at = baseUrl === null ? id : `${id} at ${baseUrl}`;
  const called = name === null || name === id ? '' : `, called ${plainText(name)}`;
  try {
    const status = await askOf(node, principal)('status.get', { timeoutMs: PROBE_MS });
    const vehicle = status.fc_connected === true ? 'vehicle connected' : 'no vehicle';
    const line = `Connected: ${at}, version ${String(status.version)}, ${vehicle}${called}`;
    const cap = node.presence === null ? null : await capOf(node, principal);
    return { ok: true, line: cap === null ? line : `${line}\n    ${cap}` };
  } catch (error) {
    if (!(error instanceof Denial)) throw error;
    // In a fleet some node is always away, which says nothing against the credential.
    if (error.detail['cause'] === 'offline') return { ok: true, line: `Away: ${error.message}` };
    return { ok: false, line: `Not connected: ${at}\n    ${await reasonOf(error, node, principal)}` };
  }
}

const CONFIRMED: readonly Scope[] = ['flight', 'destructive'];

/** What of the credential a node of the fleet does not take, and what mends it; null for nothing, or where it does not say. */
async function capOf(node: NodeClient, principal: Principal): Promise<string | null> {
  try {
    const { fleet } = await askOf(node, principal)('config.get', { timeoutMs: PROBE_MS });
    const { scopes: local, operators } = fleet ?? {};
    if (!Array.isArray(local)) return null;
    const held = (principal.scopes ?? []).filter((scope) => scope !== 'secret_read');
    const capped = held.filter((scope) => !local.includes(scope));
    const nobody =
      Array.isArray(operators) && operators.length === 0 && held.some((scope) => CONFIRMED.includes(scope));
    const told = [
      ...(capped.length === 0
        ? []
        : [
            `The credential holds ${capped.join(' and ')}, but this node does not let its fleet have it. ${howToAllow(capped, local)}`,
          ]),
      ...(nobody ? ['Nobody there may confirm a flight. On the node: svc fleet operators add NAME KEY'] : []),
    ];
    return told.length === 0 ? null : told.join('\n    ');
  } catch (error) {
    if (error instanceof Denial) return null; // a credential that may not read the config
    throw error;
  }
}

/** Distinguishes the causes of the node's 401. */
async function reasonOf(error: Denial, node: NodeClient, principal: Principal): Promise<string> {
  switch (error.reason) {
    case 'rest_down':
      return `unreachable: ${error.message}`;
    case 'unauthorized':
      return node.target.key === null
        ? 'unauthorised: no pairing key. Put it into SVC_MCP_AGENT_KEY, or into the fleet file.'
        : 'unauthorised: the node does not accept this pairing key.';
    case 'token_revoked':
      return (await acceptsTokens(node)) === false
        ? 'disabled: the node does not honour tokens. Run `sudo svc mcp enable` on it.'
        : `revoked or unknown: the node does not honour the token ${principal.id}.`;
    default:
      return `${error.reason}: ${error.message}`;
  }
}

/** Whether tokens are accepted at all; needs the pairing key. Null if unknown. */
async function acceptsTokens(node: NodeClient): Promise<boolean | null> {
  if (node.target.key === null) return null;
  try {
    return (await askOf(node, STDIO)('mcp.status.get', { timeoutMs: PROBE_MS })).accept_enabled === true;
  } catch (error) {
    if (error instanceof Denial) return null;
    throw error;
  }
}
