import { computed } from '@preact/signals';
import { nodes, titleOf } from '../fleet/fleet.ts';

const names = computed(() => new Map(nodes.value?.map(({ entry }) => [entry.id, titleOf(entry)])));

/** What a person calls it; its id where it is not in the fleet any more. */
export function nodeName(id: string): string {
  return names.value.get(id) ?? id;
}
