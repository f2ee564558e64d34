import { DIALECT_TABLE } from './dialect-table.ts';

const COLUMNS = 4;
const DIRECT = 512;

/** The facts about a message that framing needs. Lengths in bytes of payload. */
interface MessageShape {
  readonly crcExtra: number;
  /** Without extension fields: what a v1 frame carries. */
  readonly baseLength: number;
  readonly fullLength: number;
}

/**
 * Messages of common.xml that mavlink-mappings does not have yet, in the columns of the table: LINK_NODE_STATUS,
 * TIME_ESTIMATE_TO_TARGET, ESC_INFO, ESC_STATUS, PARAM_ERROR,
 * COMPONENT_METADATA, and the events interface (EVENT, CURRENT_EVENT_SEQUENCE, REQUEST_EVENT, RESPONSE_EVENT_ERROR).
 */
const NEWER: readonly number[] = [
  8, 117, 36, 36, 380, 232, 20, 20, 290, 251, 46, 46, 291, 10, 57, 57, 345, 209, 21, 21, 397, 182, 108, 108,
  410, 160, 53, 53, 411, 106, 3, 3, 412, 33, 6, 6, 413, 77, 7, 7,
];
const ROWS = [...DIALECT_TABLE, ...NEWER];

// Ids below 512 are nearly all of the traffic: an array look-up instead of a hash. -1 means unknown.
const direct = new Int16Array(DIRECT).fill(-1);
const shapes = new Map<number, MessageShape>();
for (let row = 0; row + COLUMNS <= ROWS.length; row += COLUMNS) {
  const [id = 0, crcExtra = 0, baseLength = 0, fullLength = 0] = ROWS.slice(row, row + COLUMNS);
  shapes.set(id, { crcExtra, baseLength, fullLength });
  if (id < DIRECT) direct[id] = crcExtra;
}

/** CRC_EXTRA of message `id`, or -1 when no dialect we ship has it. */
export function crcExtraOf(id: number): number {
  return id < DIRECT ? (direct[id] ?? -1) : (shapes.get(id)?.crcExtra ?? -1);
}

/** Shape of message `id`, null when no dialect we ship has it. */
export function shapeOf(id: number): MessageShape | null {
  return shapes.get(id) ?? null;
}
