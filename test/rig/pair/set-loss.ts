import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { LOSS_FILE } from './layout.ts';

/**
 * Sets the loss on the simulated radio; both ends have it within half a second.
 * @returns what was done, in words
 * @throws Error for what is not a number from 0 to 100
 */
export async function setLoss(words: string): Promise<string> {
  const text = words.trim().replace(/ ?%$/, '');
  const percent = Number(text);
  if (text === '' || !(percent >= 0 && percent <= 100))
    throw new Error('The loss is a number from 0 to 100, percent.');
  await writeAtomic(LOSS_FILE, `${percent}\n`, 0o644);
  return `The radio loses ${percent} % of its frames.`;
}
