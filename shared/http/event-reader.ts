import { parseJson } from '../member.ts';

/** One Server-Sent Event of our own kind: a name and one line of JSON. */
export interface ReadEvent {
  readonly event: string;
  readonly data: unknown;
}

/** An answer to a mission of 5000 items has 1 MB. */
const MAX_CHARS = 16 * 1024 * 1024;

/** The events of an answer of EventAnswer, as they come. @throws Error for one that is too large or not JSON */
export async function* readEvents(chunks: AsyncIterable<Buffer>): AsyncGenerator<ReadEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_CHARS) throw new Error('an event is too large');
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const event = parse(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event !== null) yield event;
    }
  }
}

/** Null for a comment. */
function parse(text: string): ReadEvent | null {
  const match = /^event: (\w+)\ndata: (.*)$/s.exec(text);
  return match === null ? null : { event: match[1] ?? '', data: parseJson(match[2] ?? '') };
}
