import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Far more than any secret; a stream that never ends must not fill the memory. */
const MAX_CHARS = 4096;

/**
 * A secret for a command: what is typed at `question` without being shown, or where stdin is no terminal its first line. Never an
 * argument: those are in the shell's history and in the list of processes.
 * @throws Error when the person ends the input with Ctrl-C or Ctrl-D
 */
export async function hiddenInput(question: string): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return firstLine(stdin);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output: silent, terminal: true });
  stderr.write(question); // now the terminal shows nothing more
  try {
    return await new Promise<string>((resolve, reject) => {
      prompt.once('close', () => reject(new Error('The input was ended.')));
      prompt.once('SIGINT', () => prompt.close());
      prompt.once('line', resolve);
    });
  } finally {
    prompt.close();
    stderr.write('\n');
  }
}

async function firstLine(input: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n') || text.length > MAX_CHARS) break;
  }
  return text.split('\n', 1)[0]?.trim() ?? '';
}
