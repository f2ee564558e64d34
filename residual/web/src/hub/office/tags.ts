import { GROUP } from '../../../../../shared/fleet/node-labels.ts';
import { hub } from '../hub-words.ts';

/** What is written between blanks or commas, each once. */
export function wordsIn(text: string): readonly string[] {
  return [...new Set(text.split(/[\s,]+/).filter((each) => each !== ''))];
}

/** A tag, or a group by its name, as a person reads it. */
export function labelText(label: string): string {
  return label.startsWith(GROUP) ? hub.tags.inGroup({ name: label.slice(GROUP.length) }) : label;
}
