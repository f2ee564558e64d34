import { randomUUID } from 'node:crypto';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isOneOf, memberOf } from '../../../shared/member.ts';
import { warningsOf } from '../../../shared/mission/check.ts';
import { itemsIn, type Reading } from '../../../shared/mission/document.ts';
import { isPlan, makePlan, type Plan } from '../../../shared/mission/plan.ts';
import type { MissionWarning } from '../../../shared/mission/warning.ts';
import { type Home, writeWpl } from '../../../shared/mission/wpl.ts';
import { type Call, type HandlersOf, type OnProgress, Reply } from '../../../shared/routes/handler.ts';
import type { missionRows } from '../../../shared/routes/mission.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { MadeAnswer } from '../../../shared/routes/typed-row.ts';
import type { MissionWriteRequest } from '../../../shared/rpc/link.ts';
import type { MissionList, MissionWritten } from '../../../shared/rpc/link-answers.ts';
import {
  type FirstItem,
  firstItemOf,
  MISSION_PARTS,
  type MissionItem,
  type MissionPart,
} from '../../../shared/schemas/mission-item.ts';
import type { VehicleView } from '../node/vehicle-view.ts';
import type { KeptPlan } from '../stores/kept-plan.ts';

type Handlers = Omit<
  HandlersOf<typeof missionRows, 'front'>,
  'flight-logs.get' | 'flight-logs.id.get' | 'flight-logs.delete'
>;
type Lists = Readonly<Record<MissionPart, Reading>>;

type MissionWriteAnswer = MadeAnswer<'mission.put'>;

/** @param kept the newest plan file that was written */
export function missionHandlers(vehicle: VehicleView, kept: KeptPlan): Handlers {
  const routes = new MissionRoutes(vehicle, kept);
  return {
    'mission.get': async (call) => routes.get('mission', call),
    'mission.put': async (call) => routes.put('mission', call),
    'mission.delete': async ({ progress }) => routes.clear('mission', progress),
    'fence.get': async (call) => routes.get('fence', call),
    'fence.put': async (call) => routes.put('fence', call),
    'fence.delete': async ({ progress }) => routes.clear('fence', progress),
    'rally.get': async (call) => routes.get('rally', call),
    'rally.put': async (call) => routes.put('rally', call),
    'rally.delete': async ({ progress }) => routes.clear('rally', progress),
  };
}

type MissionBoundsGrant = Pick<MissionWriteRequest, 'allow_far' | 'manual' | 'may_widen'>;
type MissionCall = Pick<Call<Row>, 'query' | 'progress' | 'body' | 'principal'>;

class MissionRoutes {
  readonly #vehicle: VehicleView;
  readonly #kept: KeptPlan;

  constructor(vehicle: VehicleView, kept: KeptPlan) {
    this.#vehicle = vehicle;
    this.#kept = kept;
  }

  async get(
    part: MissionPart,
    { query, progress }: Pick<MissionCall, 'query' | 'progress'>,
  ): Promise<MissionList | Plan | Reply> {
    const { format = 'json', refresh } = parseQuery(query) ?? {};
    const read = async (each: MissionPart): Promise<MissionList> =>
      this.#read(each, refresh === '1', progress);
    if (format === 'plan') return this.#plan(read);
    const list = await read(part);
    if (format === 'json') return list;
    return new Reply(200, writeWpl(list.items, part, this.#home), 'text/plain; charset=utf-8');
  }

  async put(
    part: MissionPart,
    { query, body, progress, principal }: MissionCall,
  ): Promise<MissionWriteAnswer> {
    const { dry_run: dryRun, parts, allow_far: allowFar, manual } = parseQuery(query) ?? {};
    const wanted = [...new Set(parts?.split(',') ?? [part])].filter((each) => isOneOf(MISSION_PARTS, each));
    const lists = listsIn(body, part, wanted, firstItemOf(this.#vehicle.state?.telemetry.autopilot));
    const warnings: MissionWarning[] = wanted.flatMap((each) => [
      ...lists[each].warnings,
      ...warningsOf(lists[each].items),
    ]);
    const counts = Object.fromEntries(wanted.map((each) => [each, lists[each].items.length]));
    const granted = {
      allow_far: allowFar === '1' || memberOf(body, 'allow_far') === true,
      manual: manual === '1' || memberOf(body, 'manual') === true,
      ...mayWiden(principal),
    };
    const [main = part] = wanted.includes(part) ? [part] : wanted;
    if (dryRun === '1') {
      warnings.unshift(...(await this.#outOfReach(wanted, lists, granted)));
      return {
        items: lists[main].items,
        count: lists[main].items.length,
        id: null,
        warnings,
        parts: counts,
      };
    }
    if (wanted.includes('fence') && lists.fence.items.length === 0) checkMayClearFence(principal);
    await this.#checkBounds(wanted, lists, granted); // all of them, before the first is written
    const written = await this.#writeAll(wanted, lists, progress);
    if (isPlan(body)) {
      const problem = await this.#kept.keep(body, written);
      if (problem !== null) warnings.push(problem);
    }
    const { items, count, id } = written.get(main) ?? { items: [], count: 0, id: null };
    return { items, count, id, warnings: [...warnings, ...warningsIn(written)], parts: counts };
  }

  async clear(part: MissionPart, progress: OnProgress): Promise<MissionWriteAnswer> {
    const { items, count, id } = await this.#write(part, [], progress);
    return { items, count, id, warnings: [], parts: { [part]: 0 } };
  }

  /** One after the other; the error of one says which are written already. */
  async #writeAll(
    parts: readonly MissionPart[],
    lists: Lists,
    progress: OnProgress,
  ): Promise<ReadonlyMap<MissionPart, MissionWritten>> {
    const written = new Map<MissionPart, MissionWritten>();
    for (const part of parts) {
      try {
        written.set(part, await this.#write(part, lists[part].items, progress));
      } catch (error) {
        if (!(error instanceof ApiError) || parts.length === 1) throw error;
        const extras = { ...error.extras, part, written: [...written.keys()] };
        throw new ApiError(error.code, `${part}: ${error.message}`, extras);
      }
    }
    return written;
  }

  async #checkBounds(
    parts: readonly MissionPart[],
    lists: Lists,
    granted: MissionBoundsGrant,
  ): Promise<void> {
    for (const part of parts)
      await this.#vehicle.link.mission_reach({ part, items: lists[part].items, token: '', ...granted });
  }

  /** The same of a list that is only checked, as a warning. A file can be checked where there is no vehicle to be far from. */
  async #outOfReach(
    parts: readonly MissionPart[],
    lists: Lists,
    granted: MissionBoundsGrant,
  ): Promise<readonly string[]> {
    try {
      await this.#checkBounds(parts, lists, granted);
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'E_NO_FC' || error.code === 'E_UPSTREAM_DOWN') return [];
      if (error.code === 'E_TOO_FAR' || error.code === 'E_STICKS') return [error.message];
      throw error;
    }
  }

  async #plan(read: (part: MissionPart) => Promise<MissionList>): Promise<Plan> {
    const lists = {
      mission: (await read('mission')).items,
      fence: await itemsOrNone(read('fence')),
      rally: await itemsOrNone(read('rally')),
    };
    const made = makePlan({ ...lists, home: this.#home, firmware: this.#vehicle.state?.firmware ?? null });
    return this.#kept.merged(made, lists);
  }

  async #read(part: MissionPart, refresh: boolean, progress: OnProgress): Promise<MissionList> {
    const token = randomUUID();
    return this.#vehicle.follow(token, progress, async () =>
      this.#vehicle.link.mission_read({ part, refresh, token }),
    );
  }

  async #write(
    part: MissionPart,
    items: readonly MissionItem[],
    progress: OnProgress,
  ): Promise<MissionWritten> {
    const token = randomUUID();
    return this.#vehicle.follow(token, progress, async () =>
      this.#vehicle.link.mission_write({ part, items, token }),
    );
  }

  get #home(): Home | null {
    const { lat = null, lon = null, alt_msl: alt = null } = this.#vehicle.state?.telemetry.home ?? {};
    return lat === null || lon === null || alt === null ? null : { lat, lon, alt };
  }
}

function mayWiden({ scopes }: Principal): Pick<MissionBoundsGrant, 'may_widen'> {
  return { may_widen: scopes === null || scopes.includes('destructive') };
}

/** An empty list is DELETE /api/fence by another name. @throws ApiError E_SCOPE */
function checkMayClearFence({ scopes }: Principal): void {
  if (scopes === null || scopes.includes('destructive')) return;
  throw new ApiError('E_SCOPE', 'An empty fence removes the fence, so it needs the scope destructive.', {
    required: 'destructive',
    granted: scopes,
  });
}

/** A vehicle without fences or rally points has an empty one in its plan. */
async function itemsOrNone(reading: Promise<MissionList>): Promise<readonly MissionItem[]> {
  try {
    return (await reading).items;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'E_NOT_IMPLEMENTED') return [];
    throw error;
  }
}

/** The checked items of a body. @throws ApiError E_MISSION_ITEM, E_INVALID_VALUE, E_BAD_REQUEST */
function listsIn(
  body: unknown,
  own: MissionPart,
  wanted: readonly MissionPart[],
  first: FirstItem | null,
): Lists {
  const none = { items: [], warnings: [] };
  const lists: Record<MissionPart, Reading> = { mission: none, fence: none, rally: none };
  for (const part of wanted) {
    const reading = itemsIn(body, part, first);
    if (reading === undefined) throw partError(`The plan file has no ${part}.`);
    if (part !== own && !isPlan(body))
      throw partError(`Only a plan file has parts besides its own; these items are the ${own}.`);
    lists[part] = reading;
  }
  return lists;
}

function partError(sentence: string): ApiError {
  return new ApiError('E_INVALID_VALUE', sentence, { errors: [{ path: '/parts', message: sentence }] });
}

function warningsIn(written: ReadonlyMap<MissionPart, MissionWritten>): readonly MissionWarning[] {
  return [...written.values()].flatMap(({ warnings }) => warnings);
}
