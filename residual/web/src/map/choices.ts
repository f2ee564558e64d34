import { effect, signal } from '@preact/signals';
import { parseJson, recordOf } from '../../../../shared/member.ts';

/** What a person wants to see on maps, remembered by this browser. */

export const TRACK_COLOURS = ['plain', 'speed', 'height'] as const;
type TrackColour = (typeof TRACK_COLOURS)[number];

export const LAYERS = ['track', 'mission', 'fence', 'rally', 'traffic', 'operator'] as const;
export type Layer = (typeof LAYERS)[number];

interface Choices {
  /** `file:<name>`, `source:<id>` or `outline`; null: whatever there is. */
  readonly base: string | null;
  readonly track: TrackColour;
  readonly hidden: readonly Layer[];
  /** Whether the map turns with the vehicle. */
  readonly headingUp: boolean;
  /** Whether the place of this device is asked for. */
  readonly ownPlace: boolean;
}

const STORED = 'svc-map-choices';

export const choices = signal<Choices>(restored());

export function choose(change: Partial<Choices>): void {
  choices.value = { ...choices.peek(), ...change };
}

export function isShown(layer: Layer): boolean {
  return !choices.value.hidden.includes(layer);
}

function restored(): Choices {
  let held: Readonly<Record<string, unknown>> = {};
  try {
    held = recordOf(parseJson(localStorage.getItem(STORED) ?? 'null'));
  } catch {
    localStorage.removeItem(STORED); // another version of the page wrote it
  }
  const { base, track, hidden, headingUp, ownPlace } = held;
  return {
    base: typeof base === 'string' ? base : null,
    track: TRACK_COLOURS.find((name) => name === track) ?? 'plain',
    hidden: Array.isArray(hidden) ? LAYERS.filter((layer) => hidden.includes(layer)) : [],
    headingUp: headingUp === true,
    ownPlace: ownPlace === true,
  };
}

effect(() => {
  localStorage.setItem(STORED, JSON.stringify(choices.value));
});
