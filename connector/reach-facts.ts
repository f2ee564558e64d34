import { AUTOPILOT_PX4 } from '../shared/flight/modes.ts';
import { recordOf } from '../shared/member.ts';
import type { ReachFacts } from '../shared/mission/reach.ts';
import type { RowId } from '../shared/routes/typed-row.ts';
import type { MissionPart } from '../shared/schemas/mission-item.ts';
import { Denial } from './denial.ts';
import type { Ask, Told } from './planes/ask.ts';

/** What the bounds of a place are judged by, as the node tells it: for missions and plans. */

/** The list, where no other format was asked for. */
export function listIn(answer: Told<`${MissionPart}.get`> | Record<string, never>) {
  return 'items' in answer ? answer : null;
}

/** What a node tells by a row; nothing where it does not. */
export async function askedOr<K extends RowId>(ask: Ask, route: K): Promise<Told<K> | Record<string, never>> {
  return ask(route).catch((error: unknown) => {
    if (error instanceof Denial) return {};
    throw error;
  });
}

/** What is known of the vehicle here, for a summary; what the node does not tell is not known. */
export async function knownOf(ask: Ask): Promise<ReachFacts> {
  const { home, position, autopilot } = await askedOr(ask, 'telemetry.get');
  const { params = {} } = await askedOr(ask, 'params.get');
  const { items: fence = null } = listIn(await askedOr(ask, 'fence.get')) ?? {};
  const place = placeOf(home);
  return {
    maxM: 0,
    here: placeOf(position),
    home: place === null ? null : { ...place, alt: home?.alt_msl ?? null },
    px4: autopilot === AUTOPILOT_PX4,
    param: (name) => params[name] ?? null,
    fence,
  };
}

/** `flight.max_goto_m` of the node; null: it does not say. */
export async function maxGotoOf(ask: Ask): Promise<number | null> {
  const { flight } = recordOf(await askedOr(ask, 'config.get'));
  const { max_goto_m: most } = recordOf(flight);
  return typeof most === 'number' ? most : null;
}

function placeOf(
  told: { readonly lat?: number | null; readonly lon?: number | null } = {},
): ReachFacts['here'] {
  const { lat = null, lon = null } = told;
  return lat === null || lon === null ? null : { lat, lon };
}
