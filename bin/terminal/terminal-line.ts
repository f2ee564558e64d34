import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/**
 * What a person types at `question` on the terminal of stdin.
 * @param shown whether what is typed can be seen
 * @throws Error when the person ends the input with Ctrl-C or Ctrl-D
 */
export async function terminalLine(question: string, shown: boolean): Promise<string> {
  const { stdin, stderr } = process;
  const output = shown ? stderr : new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: stdin, output, terminal: true, prompt: question });
  if (shown) prompt.prompt();
  else stderr.write(question); // now the terminal shows nothing more
  try {
    return await new Promise<string>((resolve, reject) => {
      prompt.once('close', () => reject(new Error('The input was ended.')));
      prompt.once('SIGINT', () => prompt.close());
      prompt.once('line', resolve);
    });
  } finally {
    prompt.close();
    if (!shown) stderr.write('\n');
  }
}
