import { unxz } from '../../../shared/files/xz.ts';
import { parseJson } from '../../../shared/member.ts';

/** PX4's file of events is 160 KB of JSON; the limit protects our memory. */
const MAX_JSON_BYTES = 2 * 1024 * 1024;

/**
 * The JSON of a metadata file as the vehicle has it.
 * @param path ends in `.xz` if it is packed
 * @throws Error if it cannot be unpacked, is larger than 2 MiB, or is no JSON
 */
export async function readMetadataFile(file: Buffer, path: string): Promise<unknown> {
  const json = path.endsWith('.xz') ? await unxz(file, MAX_JSON_BYTES) : file;
  return parseJson(json.toString('utf8'));
}
