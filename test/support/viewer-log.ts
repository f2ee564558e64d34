import { mavlinkMessages } from '../../residual/web/mavlink-fields.ts';
import { OpenLog } from '../../residual/web/src/pages/vehicle/viewer/read/open-log.ts';
import type { FieldId, LogSummary } from '../../residual/web/src/pages/vehicle/viewer/read/summary.ts';

const MESSAGES = mavlinkMessages();

/** A log as the page opens it. @param maxRows how many rows are kept */
export function openBytes(
  bytes: Uint8Array,
  maxRows?: number,
): { readonly log: OpenLog; readonly summary: LogSummary } {
  const read = (into: Uint8Array, at: number): number => {
    const part = bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  };
  const log = OpenLog.open({ size: bytes.length, read }, MESSAGES, undefined, maxRows);
  return { log, summary: log.summary };
}

/** A field by its names. @throws Error when there is none */
export function fieldOf({ groups }: LogSummary, message: string, name: string): FieldId {
  const group = groups.findIndex((each) => each.name === message);
  const field = groups[group]?.fields.findIndex((each) => each.name === name) ?? -1;
  if (field === -1) throw new Error(`the log has no ${message}.${name}`);
  return { group, field };
}
