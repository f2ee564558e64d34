import { type Signal, signal } from '@preact/signals';
import { CMD } from '../../../../../shared/mission/commands.ts';
import { newPattern } from '../../../../../shared/mission/patterns/new-pattern.ts';
import { cornersOf, withCorners } from '../../../../../shared/mission/patterns/settings.ts';
import { circle, square } from '../../../../../shared/mission/patterns/templates.ts';
import { distance, type Place } from '../../map/projection.ts';
import { addPattern, changePattern, placeToAdd } from './entries.ts';
import { inserted, newItem, round } from './list.ts';
import { shapeAt, withCorner, withPolygon, withShape } from './shapes.ts';
import type { Sketch } from './sketch.ts';

/** What a tap on the map does. */

export const TOOLS = [
  'waypoint',
  'takeoff',
  'land',
  'survey',
  'corridor',
  'orbit',
  'structure',
  'fence',
  'circle',
  'rally',
] as const;
export type Tool = (typeof TOOLS)[number];

/** Of which corners are drawn one by one. */
const LEAST_CORNERS: Partial<Readonly<Record<Tool, number>>> = {
  survey: 3,
  corridor: 2,
  structure: 3,
  fence: 3,
};

export class Drawing {
  readonly tool: Signal<Tool | null> = signal(null);
  readonly corners: Signal<readonly Place[]> = signal([]);
  /** The corners are enough, and their shape stands in the plan already: each further tap is another corner of it. */
  readonly isMade = signal(false);
  readonly #sketch: Sketch;

  constructor(sketch: Sketch) {
    this.#sketch = sketch;
  }

  /** A second press puts it away. */
  take(tool: Tool): void {
    this.tool.value = this.tool.value === tool ? null : tool;
    this.corners.value = [];
    this.isMade.value = false;
    if (this.tool.value === null) return;
    const part = tool === 'rally' ? 'rally' : tool === 'fence' || tool === 'circle' ? 'fence' : 'mission';
    if (this.#sketch.part.value !== part) this.#sketch.show(part);
  }

  end(): void {
    this.tool.value = null;
    this.corners.value = [];
    this.isMade.value = false;
  }

  /** How many corners are still needed; null: no corners are drawn. */
  get missing(): number | null {
    const least = this.tool.value === null ? undefined : LEAST_CORNERS[this.tool.value];
    return least === undefined ? null : Math.max(0, least - this.corners.value.length);
  }

  pick(picked: Place): void {
    const sketch = this.#sketch;
    const place = { lat: round(picked.lat), lon: round(picked.lon) };
    const tool = this.tool.value;
    switch (tool) {
      case null:
        this.#extend(place);
        return;
      case 'waypoint':
      case 'takeoff':
      case 'land':
      case 'rally': {
        const command = {
          waypoint: CMD.waypoint,
          takeoff: CMD.takeoff,
          land: CMD.land,
          rally: CMD.rallyPoint,
        }[tool];
        const items = sketch.items.value;
        const at = tool === 'takeoff' && sketch.chosen.value === null ? 0 : placeToAdd(sketch);
        sketch.change(inserted(items, at, newItem(items, at, command, place)));
        // What follows goes behind it, until another one is chosen.
        if (sketch.chosen.value !== null) sketch.show(sketch.part.value, at);
        if (tool === 'takeoff' || tool === 'land') this.end();
        return;
      }
      case 'orbit':
        this.template('orbit', place);
        return;
      case 'circle':
        this.template('circle', place);
        return;
      default:
        this.corners.value = [...this.corners.value, place];
        if (this.isMade.value && this.#grow(tool, place)) return;
        this.isMade.value = this.missing === 0 && this.#make(tool, this.corners.value);
    }
  }

  /** The newest corner is taken back. */
  takeBack(): void {
    this.corners.value = this.corners.value.slice(0, -1);
    if (!this.isMade.value) return;
    const sketch = this.#sketch;
    const chosen = sketch.chosenPattern.value;
    const corners = this.corners.value;
    // A corner of which nothing could be made is in no step of the history.
    if (sketch.trial.value === null || chosen === null) sketch.undo();
    else if (corners.length === cornersOf(chosen.settings).length) sketch.trial.value = null;
    else changePattern(sketch, chosen, withCorners(chosen.settings, corners));
    this.isMade.value = this.missing === 0;
    if (!this.isMade.value) sketch.show(sketch.part.value);
  }

  /** @returns false: what was made is no longer there */
  #grow(tool: Tool, place: Place): boolean {
    const sketch = this.#sketch;
    const chosen = sketch.chosenPattern.value;
    if (tool !== 'fence') {
      if (chosen?.settings.kind !== tool) return false;
      const settings = sketch.trial.value?.settings ?? chosen.settings;
      changePattern(sketch, chosen, withCorners(settings, [...cornersOf(settings), place]));
      return true;
    }
    const shape = shapeAt(sketch.lists.value.fence, sketch.chosen.value ?? -1);
    if (sketch.part.value !== 'fence' || shape?.kind !== 'polygon') return false;
    sketch.change(withCorner(sketch.lists.value.fence, shape, shape.from + shape.count, place), 'fence');
    return true;
  }

  /** A tap without a tool: another corner of the polygon of the fence that is open. */
  #extend(place: Place): void {
    const sketch = this.#sketch;
    const chosen = sketch.chosen.value;
    if (sketch.part.value !== 'fence' || chosen === null) {
      if (chosen !== null) sketch.show(sketch.part.value);
      return;
    }
    const shape = shapeAt(sketch.items.value, chosen);
    if (shape?.kind !== 'polygon') return;
    sketch.change(withCorner(sketch.items.value, shape, chosen + 1, place));
    sketch.show('fence', chosen + 1);
  }

  /** The same in one step, around a place; as large as a part of what is to be seen. */
  template(kind: 'square' | 'circle' | 'line' | 'orbit', centre: Place): void {
    const tool = this.tool.value;
    const size = sizeOf(this.#sketch);
    if (tool === null) return;
    const far = {
      lat: centre.lat,
      lon: centre.lon + size / 111_195 / Math.max(0.01, Math.cos((centre.lat * Math.PI) / 180)),
    };
    const corners = {
      square: square(centre, size),
      circle: circle(centre, size / 2),
      line: [centre, { lat: far.lat, lon: round(far.lon) }],
      orbit: [centre],
    }[kind];
    if (this.#make(tool, corners)) this.end();
  }

  #make(tool: Tool, corners: readonly Place[]): boolean {
    const sketch = this.#sketch;
    const [first] = corners;
    if (first === undefined) return false;
    if (tool === 'fence' || tool === 'circle') {
      const items = sketch.lists.value.fence;
      const next =
        tool === 'fence'
          ? withPolygon(items, true, corners)
          : withShape(items, 'circle', true, first, Math.max(5, sizeOf(sketch) / 2));
      sketch.change(next, 'fence');
      sketch.show('fence', items.length);
      return true;
    }
    if (tool === 'survey' || tool === 'corridor' || tool === 'structure' || tool === 'orbit')
      return addPattern(sketch, newPattern(sketch.patterns, tool, corners, sizeOf(sketch) / 4));
    return false;
  }
}

/** m, about a third of what is to be seen, in round figures. */
function sizeOf(sketch: Sketch): number {
  const { zoom = 17 } = sketch.view.value ?? {};
  const metres = Math.max(20, Math.min(5000, 12_000_000 / 2 ** zoom));
  const step = metres > 200 ? 50 : 10;
  return Math.round(metres / step) * step;
}

/** A point that can be dragged to change a radius: east of a centre. */
export function radiusHandle(centre: Place, radius: number): Place {
  const degrees = radius / 111_195 / Math.max(0.01, Math.cos((centre.lat * Math.PI) / 180));
  return { lat: centre.lat, lon: centre.lon + degrees };
}

/** Whole metres. */
export function radiusTo(centre: Place, place: Place): number {
  return Math.max(2, Math.round(distance(centre, place)));
}
