import { computed } from '@preact/signals';
import { nodes, titleOf } from './fleet.ts';

const names = computed(() => new Map(nodes.value?.map(({ entry }) => [entry.id, titleOf(entry)])));

/** What a person calls it; its id where it is not in the fleet any more. */
export function nodeName(id: string): string {
  return names.value.get(id) ?? id;
}

/** Nodes by name in a text that begins with the id of one: of a call, of tags. */
export function namedIn(text: string): string {
  return text.replace(/^[^\s:]+/, nodeName);
}
