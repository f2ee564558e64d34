import { terminalLine } from './terminal-line.ts';

/** Far more than any secret; a stream that never ends must not fill the memory. */
const MAX_CHARS = 4096;

/**
 * A secret for a command: what is typed at `question` without being shown, or where stdin is no terminal its first line. Never an
 * argument: those are in the shell's history and in the list of processes.
 * @throws Error as terminalLine
 */
export async function hiddenInput(question: string): Promise<string> {
  const { stdin } = process;
  return stdin.isTTY ? terminalLine(question, false) : firstLine(stdin);
}

async function firstLine(input: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += chunk.toString();
    if (text.includes('\n') || text.length > MAX_CHARS) break;
  }
  return text.split('\n', 1)[0]?.trim() ?? '';
}
