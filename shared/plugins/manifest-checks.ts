import { memberOf } from '../member.ts';
import type { Violation } from '../schemas/validator.ts';
import { isArchivePath } from './archive-paths.ts';
import { capabilityOf, type Half } from './capabilities.ts';
import { MANIFEST_SCHEMA } from './manifest-schema.ts';

export interface Checked {
  readonly violations: Violation[];
  readonly warnings: string[];
}

const MCP_LISTS = ['tools', 'resources', 'prompts'] as const;
const MCP_SCHEMA = 3;
const { agent: AGENT, gcs: GCS, compatibility: COMPATIBILITY } = MANIFEST_SCHEMA.properties;
/** Members that mean something elsewhere, and nothing here: they need no warning. */
const ELSEWHERE = ['isolation', 'shared_topics', 'declared_capabilities'];

/**
 * What a schema cannot say about a manifest. The value need not fit the schema: everything is looked up with care, so that an
 * author sees all that is wrong at once.
 */
export function checkManifest(manifest: object): Checked {
  const out: Checked = { violations: [], warnings: [] };
  const agent = memberOf(manifest, 'agent') ?? null;
  const gcs = memberOf(manifest, 'gcs') ?? null;
  if (agent === null && gcs === null)
    out.violations.push({ path: '', message: 'needs an agent half, a gcs half, or both' });
  warnOfUnknown(manifest, '', Object.keys(MANIFEST_SCHEMA.properties), out);
  warnOfUnknown(
    memberOf(manifest, 'compatibility'),
    'compatibility.',
    Object.keys(COMPATIBILITY.properties),
    out,
  );
  if (agent !== null) {
    warnOfUnknown(agent, 'agent.', [...Object.keys(AGENT.properties), ...ELSEWHERE], out);
    checkEntrypoint(agent, out);
    checkAgent(agent, out);
  }
  if (gcs !== null) {
    warnOfUnknown(gcs, 'gcs.', Object.keys(GCS.properties), out);
    if (memberOf(gcs, 'isolation') === 'inline')
      out.violations.push({
        path: '/gcs/isolation',
        message: 'inline would run in the page of the node itself, which is not offered; write iframe',
      });
  }
  for (const [half, part] of [
    ['agent', agent],
    ['gcs', gcs],
  ] as const) {
    if (part === null) continue;
    checkPermissions(half, part, out);
    checkMcp(half, part, Number(memberOf(manifest, 'schema_version') ?? 1), out);
  }
  return out;
}

function warnOfUnknown(
  value: unknown,
  prefix: string,
  known: readonly string[],
  { warnings }: Checked,
): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)
    .filter((name) => !known.includes(name))
    .slice(0, 20))
    warnings.push(`${prefix}${key} is not known and is ignored.`);
}

function checkEntrypoint(agent: unknown, { violations }: Checked): void {
  const entrypoint = memberOf(agent, 'entrypoint');
  if (typeof entrypoint !== 'string' || entrypoint === '') return;
  const runtime = memberOf(agent, 'runtime') ?? 'python';
  const fail = (message: string) => violations.push({ path: '/agent/entrypoint', message });
  if (runtime === 'binary' && entrypoint.startsWith('bin:')) {
    if (memberOf(memberOf(agent, 'binaries'), entrypoint.slice('bin:'.length)) === undefined)
      fail('names a program that does not stand in agent.binaries');
  } else if (runtime === 'python' && entrypoint.includes(':')) {
    if (!/^[A-Za-z_][\w.]*:[A-Za-z_]\w*$/.test(entrypoint)) fail('must be a path, or module:Class');
  } else if (!isArchivePath(entrypoint)) {
    fail('must be the path of a file in the archive, of letters, digits, dot, underscore, hyphen and slash');
  } else if (runtime === 'node' && !/\.m?js$/.test(entrypoint)) {
    fail('must end with .js or .mjs for the runtime node');
  }
}

function checkAgent(agent: unknown, { violations, warnings }: Checked): void {
  const fail = (path: string, message: string) => violations.push({ path: `/agent/${path}`, message });
  if (memberOf(agent, 'isolation') === 'inprocess')
    fail('isolation', 'inprocess would run inside the node, which is not offered; write subprocess');
  if (memberOf(memberOf(agent, 'resources'), 'class') === 'heavy')
    fail('resources/class', 'heavy is not offered; write standard, or leave it out');
  const attribution = listOf(memberOf(agent, 'vendor_attribution'));
  if ((memberOf(agent, 'contains_vendor_binary') === true) !== attribution.length > 0)
    fail('vendor_attribution', 'must stand there exactly when contains_vendor_binary is true');
  const ids = new Set(idsOf(agent).map(({ id }) => id));
  if (listOf(memberOf(agent, 'subprocess_spawn')).length > 0 && !ids.has('process.spawn'))
    fail('subprocess_spawn', 'needs the permission process.spawn');
  if (listOf(memberOf(agent, 'payloads')).length > 0)
    warnings.push('agent.payloads is ignored: this node downloads nothing, put the files into the archive.');
  const names = new Set<unknown>();
  const ports = new Set<unknown>();
  for (const [index, service] of listOf(memberOf(memberOf(agent, 'contributes'), 'services')).entries()) {
    const at = `contributes/services/${index}`;
    const name = typeof service === 'string' ? service : memberOf(service, 'name');
    if (names.has(name)) fail(at, 'has the name of another service');
    names.add(name);
    const listen = listOf(memberOf(service, 'listen_ports'));
    for (const port of listen) {
      if (ports.has(port)) fail(`${at}/listen_ports`, 'has a port of another service');
    }
    for (const port of listen) ports.add(port);
    if (listen.length > 0 && !(ids.has('network.listen') && ids.has('network.outbound')))
      fail(`${at}/listen_ports`, 'needs the permissions network.listen and network.outbound');
  }
}

function checkPermissions(half: Half, part: unknown, { violations, warnings }: Checked): void {
  const seen = new Set<string>();
  for (const { id, index } of idsOf(part)) {
    const path = `/${half}/permissions/${index}`;
    if (seen.has(id)) violations.push({ path, message: `${id} stands there twice` });
    seen.add(id);
    if (capabilityOf(id, half) !== null) continue;
    if (half === 'agent') violations.push({ path, message: `${id} is no capability that this node knows` });
    else warnings.push(`gcs asks for ${id}, which this node does not know; it cannot be granted.`);
  }
}

function checkMcp(half: Half, part: unknown, schema: number, { violations, warnings }: Checked): void {
  const contributes = memberOf(part, 'contributes');
  const used = MCP_LISTS.filter((name) => listOf(memberOf(contributes, name)).length > 0);
  if (used.length === 0) return;
  if (schema < MCP_SCHEMA) {
    warnings.push(
      `${half}.contributes.${used.join(', ')}: ignored below schema_version 3; write schema_version: 3.`,
    );
    return;
  }
  if (!idsOf(part).some(({ id }) => id === 'mcp.expose'))
    warnings.push(`${half}.contributes.${used.join(', ')}: nobody sees them without mcp.expose.`);
  for (const list of used) {
    const seen = new Set<unknown>();
    for (const [index, item] of listOf(memberOf(contributes, list)).entries()) {
      const name = memberOf(item, 'name');
      if (name !== undefined && seen.has(name))
        violations.push({
          path: `/${half}/contributes/${list}/${index}`,
          message: `${JSON.stringify(name)} stands there twice`,
        });
      seen.add(name);
    }
  }
}

function idsOf(part: unknown): { readonly id: string; readonly index: number }[] {
  return listOf(memberOf(part, 'permissions')).flatMap((item, index) => {
    const id = typeof item === 'string' ? item : memberOf(item, 'id');
    return typeof id === 'string' ? [{ id, index }] : [];
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
