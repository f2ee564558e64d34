import { memberOf } from '../member.ts';
import { plainText } from '../plain-text.ts';
import type { Violation } from '../schemas/validator.ts';
import { isArchivePath } from './archive-paths.ts';
import { capabilityOf, type Half } from './capabilities.ts';
import { MANIFEST_SCHEMA } from './manifest-schema.ts';
import { componentKind, isTakenComponent } from './mavlink-kinds.ts';
import { notOffered } from './not-offered.ts';

export interface Checked {
  readonly violations: Violation[];
  readonly warnings: string[];
}

const MCP_LISTS = ['tools', 'resources', 'prompts'] as const;
const MCP_SCHEMA = 3;
/** Names that programs look up in objects, where these are something else. */
const NO_NAMES: readonly unknown[] = ['__proto__', 'constructor', 'prototype'];
/** What manifests of other hosts declare and this node does not do; by their place below `agent`. */
const NOT_DONE: readonly (readonly [path: string, why: string])[] = [
  ['payloads', 'would be downloaded, and this node downloads nothing; put the files into the archive'],
  [
    'contributes/services',
    'would be further processes, and the node starts the entrypoint alone; start them there, and name ports in agent.listen_ports',
  ],
  [
    'contributes/drivers',
    'are registered with nobody here; a driver is what the entrypoint does with the hardware that it is granted',
  ],
  [
    'contributes/vision',
    'adds nothing to the detector of this node; run the model in the entrypoint, and report with vision.detection.publish',
  ],
];
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

function checkAgent(agent: unknown, { violations }: Checked): void {
  const fail = (path: string, message: string) => violations.push({ path: `/agent/${path}`, message });
  if (memberOf(agent, 'isolation') === 'inprocess')
    fail('isolation', 'inprocess would run inside the node, which is not offered; write subprocess');
  if (memberOf(memberOf(agent, 'resources'), 'class') === 'heavy')
    fail('resources/class', 'heavy is not offered; write standard, or leave it out');
  const attribution = listOf(memberOf(agent, 'vendor_attribution'));
  if ((memberOf(agent, 'contains_vendor_binary') === true) !== attribution.length > 0)
    fail('vendor_attribution', 'must stand there exactly when contains_vendor_binary is true');
  const ids = new Set(idsOf(agent).map(({ id }) => id));
  for (const [path, why] of NOT_DONE) {
    const value = path.split('/').reduce<unknown>(memberOf, agent);
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) fail(path, why);
  }
  // Each of these is asked for and declared, or neither: one without the other does nothing.
  const pairs = [
    ['subprocess_spawn', ['process.spawn']],
    ['listen_ports', ['network.listen', 'network.outbound']],
  ] as const;
  for (const [member, needed] of pairs) {
    const declared = listOf(memberOf(agent, member)).length > 0;
    if (declared && !needed.every((id) => ids.has(id)))
      fail(member, `needs the permission${needed.length > 1 ? 's' : ''} ${needed.join(' and ')}`);
    if (!declared && ids.has(needed[0]))
      fail('permissions', `${needed[0]} does nothing without agent.${member}`);
  }
  checkComponents(agent, ids, fail);
}

function checkComponents(
  agent: unknown,
  ids: ReadonlySet<string>,
  fail: (path: string, message: string) => void,
): void {
  const numbers = new Set<unknown>();
  const played = new Set<string>();
  for (const [index, component] of listOf(memberOf(agent, 'mavlink_components')).entries()) {
    const at = `mavlink_components/${index}`;
    const id = memberOf(component, 'component_id');
    if (isTakenComponent(id))
      fail(`${at}/component_id`, 'is that of the autopilot, a ground station or this node; take another');
    if (numbers.has(id)) fail(`${at}/component_id`, 'stands there twice');
    numbers.add(id);
    const kind = componentKind(memberOf(component, 'component_kind'));
    if (kind === null) continue; // the schema says so
    played.add(kind.capability);
    if (!ids.has(kind.capability)) fail(at, `needs the permission ${kind.capability}`);
  }
  for (const id of ids)
    if (id.startsWith('mavlink.component.') && capabilityOf(id, 'agent') !== null && !played.has(id))
      fail('permissions', `${id} does nothing without a component of that kind in agent.mavlink_components`);
}

function checkPermissions(half: Half, part: unknown, { violations, warnings }: Checked): void {
  const seen = new Set<string>();
  for (const { id, index, required } of idsOf(part)) {
    const path = `/${half}/permissions/${index}`;
    if (seen.has(id)) violations.push({ path, message: `${id} stands there twice` });
    seen.add(id);
    if (capabilityOf(id, half) !== null) continue;
    const why = half === 'agent' ? notOffered(id) : null;
    if (half === 'gcs')
      warnings.push(`gcs asks for ${id}, which this node does not know; it cannot be granted.`);
    else if (why === null) violations.push({ path, message: `${id} is no capability that this node knows` });
    else if (required) violations.push({ path, message: `${id} is not offered: ${why}` });
    else warnings.push(`${id} is not offered, and cannot be granted: ${why}.`);
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
      const path = `/${half}/contributes/${list}/${index}`;
      const name = memberOf(item, 'name');
      if (NO_NAMES.includes(name))
        violations.push({ path: `${path}/name`, message: 'is a name that is not allowed' });
      checkWords(item, path, violations);
      if (name !== undefined && seen.has(name))
        violations.push({
          path,
          message: `${JSON.stringify(name)} stands there twice`,
        });
      seen.add(name);
    }
  }
}

/** Whatever an AI client is told, and the person who is asked about it: what they see is what stands there, and all of it. */
function checkWords(value: unknown, path: string, violations: Violation[]): void {
  if (typeof value === 'string') {
    const line = value.replaceAll(/[\n\t]/g, ' ');
    if (plainText(line) !== line)
      violations.push({
        path,
        message: 'has characters that control a terminal, turn the direction of text or cannot be seen',
      });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const below = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (/^\$(?:ref|dynamicRef)$/.test(name) && typeof member === 'string' && !member.startsWith('#'))
      violations.push({
        path: below,
        message: 'leads out of the schema; write what is meant, or # and a place in it',
      });
    checkWords(name, below, violations);
    checkWords(member, below, violations);
  }
}

function idsOf(part: unknown): { readonly id: string; readonly index: number; readonly required: boolean }[] {
  return listOf(memberOf(part, 'permissions')).flatMap((item, index) => {
    const id = typeof item === 'string' ? item : memberOf(item, 'id');
    return typeof id === 'string' ? [{ id, index, required: memberOf(item, 'required') !== false }] : [];
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
