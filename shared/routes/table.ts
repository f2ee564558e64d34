import { configRows } from './config.ts';
import { coreRows } from './core.ts';
import { dashboardRows } from './dashboard.ts';
import { fleetRows } from './fleet.ts';
import { flightRows } from './flight.ts';
import { reportRows } from './flight-reports.ts';
import { groundStationRows } from './ground-station.ts';
import { logsRows } from './logs.ts';
import { Matcher, type Template } from './match.ts';
import { mcpRows } from './mcp.ts';
import { missionRows } from './mission.ts';
import { networkRows } from './network.ts';
import { pairingRows } from './pairing.ts';
import { peripheralsRows } from './peripherals.ts';
import { pluginsRows } from './plugins.ts';
import { radioRows } from './radio.ts';
import type { Row, RowMethod } from './row.ts';
import { setupRows } from './setup.ts';
import { tlogRows } from './tlogs.ts';
import { tlsRows } from './tls.ts';
import { uploadRows } from './uploads.ts';
import { videoRows } from './video.ts';
import { visionRows } from './vision.ts';
import { whepRows } from './whep.ts';

/** Every route of the node. */
export const ROWS = [
  ...coreRows,
  ...tlsRows,
  ...pairingRows,
  ...mcpRows,
  ...flightRows,
  ...missionRows,
  ...reportRows,
  ...tlogRows,
  ...uploadRows,
  ...fleetRows,
  ...radioRows,
  ...networkRows,
  ...configRows,
  ...videoRows,
  ...whepRows,
  ...pluginsRows,
  ...peripheralsRows,
  ...visionRows,
  ...logsRows,
  ...setupRows,
  ...dashboardRows,
  ...groundStationRows,
] as const satisfies readonly Row[];

export type AnyRow = (typeof ROWS)[number];
export type RowId = AnyRow['id'];
/** Rows that svc-control implements; its set of handlers is typed as exactly these. The relay's proxy takes every method. */
export type FrontRow = Exclude<Extract<AnyRow, { lane: 'front'; built: true }>, { method: 'WS' | 'ANY' }>;

/** The only public writes. Adding one here is a security decision. */
const PUBLIC_WRITES: ReadonlySet<string> = new Set([
  '/api/pairing/claim',
  '/api/dashboard/pin/verify',
  '/api/dashboard/pin/set',
  '/api/dashboard/handover',
]);

interface RouteTable {
  readonly rows: readonly Row[];
  readonly matcher: Matcher;
}

/**
 * Checks the rows and builds the matcher.
 * @throws Error naming the row: a duplicate, two templates that match one path with different policy, a public write that is not in the short list, a
 *   path parameter without a pattern, a class that its method cannot have
 */
export function compileTable(rows: readonly Row[]): RouteTable {
  const templates = new Map<string, Map<RowMethod, Row>>();
  const ids = new Set<string>();
  for (const row of rows) {
    checkRow(row);
    if (ids.has(row.id)) throw new Error(`two rows have the id ${row.id}`);
    ids.add(row.id);
    const methods = templates.get(row.path) ?? new Map<RowMethod, Row>();
    if (methods.has(row.method)) throw new Error(`two rows for ${row.method} ${row.path}`);
    methods.set(row.method, row);
    templates.set(row.path, methods);
  }
  const list: Template[] = [...templates].map(([path, methods]) => ({ path, rows: methods }));
  checkConflicts(list);
  return { rows, matcher: new Matcher(list) };
}

function checkRow(row: Row): void {
  const at = `${row.method} ${row.path}`;
  const write = row.method !== 'GET' && row.method !== 'WS';
  if (write && row.access === 'public' && !PUBLIC_WRITES.has(row.path))
    throw new Error(`${at}: a public write`);
  if (
    !write &&
    row.scope !== 'none' &&
    row.scope !== 'inner' &&
    row.scope !== 'read' &&
    row.scope !== 'secret_read'
  ) {
    throw new Error(`${at}: a read cannot need ${row.scope}`);
  }
  if (!write && row.bodyKind !== 'none') throw new Error(`${at}: a read takes no body`);
  // Only the residual reads raw bytes.
  if (row.lane === 'front' && row.bodyKind === 'raw') throw new Error(`${at}: a raw body in the front`);
  if (row.access === 'ws' && row.ticket === null) throw new Error(`${at}: no ticket scope`);
  checkReadTicket(row, at);
  if (row.bodyKind !== 'none' && row.limits.bodyBytes === 0)
    throw new Error(`${at}: a body with a limit of 0 bytes`);
  for (const { in: where, member } of row.names) {
    const there = where === 'path' ? row.params[member] !== undefined : row.bodyKind === 'json';
    if (!there) throw new Error(`${at}: nothing in it names ${member}`);
  }
  for (const [, name] of row.path.matchAll(/\{\*?([a-z_]+)\}/g)) {
    if (name === undefined || row.params[name] === undefined)
      throw new Error(`${at}: {${name}} has no pattern`);
  }
}

/** A ticket is checked by its path alone, so nothing else in the request may matter to who may ask. */
function checkReadTicket({ readTicket, method, access, names, path, query }: Row, at: string): void {
  if (readTicket === null) return;
  if (method !== 'GET' || access !== 'key' || names.length > 0)
    throw new Error(`${at}: a read ticket for what is no plain read`);
  if ((readTicket === 'segment') !== path.includes('{*'))
    throw new Error(`${at}: a read ticket in a segment needs a rest of the path, and the other way round`);
  if (query?.properties?.['ticket'] !== undefined)
    throw new Error(`${at}: its query has a ticket of its own`);
}

/** Two templates of the same shape (only parameter names differ) would make the policy depend on the order of rows. */
function checkConflicts(templates: readonly Template[]): void {
  const shapes = new Map<string, string>();
  for (const { path } of templates) {
    const shape = path.replace(/\{\*[a-z_]+\}/g, '{*}').replace(/\{[a-z_]+\}/g, '{}');
    const other = shapes.get(shape);
    if (other !== undefined) throw new Error(`${path} and ${other} match the same paths`);
    shapes.set(shape, path);
  }
}
