import { type JsonObject, parseJson, recordOf } from '../../../shared/member.ts';
import { LineSplitter } from '../../../shared/rpc/lines.ts';

const MAX_LINE_CHARS = 1024 * 1024;

/** An entry of the log, or a notice that some were skipped. */
export type LogLine = JsonObject;

/**
 * Reads the events of GET /api/logs/stream.
 * @param show gets each entry, and its JSON
 */
export async function followLog(
  chunks: AsyncIterable<Buffer>,
  show: (entry: LogLine, text: string) => void,
): Promise<void> {
  const lines = new LineSplitter(MAX_LINE_CHARS);
  for await (const chunk of chunks)
    lines.push(chunk, (line) => {
      if (!line.startsWith('data: ')) return;
      const text = line.slice('data: '.length);
      show(recordOf(parseJson(text)), text);
    });
}

/** An entry as a person reads it. */
export function lineOf(entry: LogLine): string {
  if (entry['kind'] === 'lagged') return `… ${String(entry['dropped'])} entries were skipped`;
  return `${String(entry['timestamp'])} ${String(entry['level']).padEnd(5)} ${String(entry['logger']).padEnd(14)} ${String(entry['message'])}`;
}
