import type { Selectable } from 'kysely';
import { ApiError } from '../../../shared/errors.ts';
import type { Airframe, AirframesQuery, MaintenanceRequest } from '../../../shared/hub-api/flight-schemas.ts';
import type { HubConfig } from '../config.ts';
import { anyOf } from '../database/column-types.ts';
import type { Queries, Tables } from '../database/tables.ts';

const HOUR_S = 3600;
const DAY_MS = 24 * 3600 * 1000;
/** Batteries and their rules on one page: what an answer of a few megabytes has. */
const MOST_LISTED = 20_000;

type Rule = HubConfig['maintenance'][number];
type Sums = Selectable<Tables['flight_sums']>;
type Done = Selectable<Tables['maintenance']>;
type Due = Airframe['maintenance'][number];

interface AirframesOptions {
  readonly db: Queries;
  readonly rules: readonly Rule[];
  /** The node's name; null: it is not in the fleet. */
  readonly nameOf: (node: string) => string | null;
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** What has flown how long, and what is to be done about it. An airframe is the node on it. */
export class Airframes {
  readonly #options: AirframesOptions;

  constructor(options: AirframesOptions) {
    this.#options = options;
  }

  /**
   * By id. Where nodes have named many batteries, a page has fewer airframes than were asked for.
   * @param seen null: all, also those that are not in the fleet any more
   */
  async page(
    { after, limit }: AirframesQuery,
    seen: readonly string[] | null,
  ): Promise<{ airframes: Airframe[]; next: string | null }> {
    let query = this.#options.db.selectFrom('flight_sums').select('node').where('battery', '=', '');
    if (after !== undefined) query = query.where('node', '>', after);
    if (seen !== null) query = query.where('node', 'in', anyOf(this.#options.db, seen));
    const found = await query
      .orderBy('node')
      .limit(limit + 1)
      .execute();
    const page = await this.#fitting(found.slice(0, limit).map(({ node }) => node));
    return {
      airframes: page.length === 0 ? [] : await this.#read(page),
      next: found.length > page.length ? (page.at(-1) ?? null) : null,
    };
  }

  /** @throws ApiError E_NOT_FOUND where it has not flown, or has no such battery; E_INVALID_VALUE for a rule that is not in hub.yaml */
  async done(
    node: string,
    by: string,
    { rule, battery = '', note = '' }: MaintenanceRequest,
  ): Promise<Airframe> {
    const { db, rules, now } = this.#options;
    const of = battery === '' ? 'airframe' : 'battery';
    if (!rules.some((each) => each.name === rule && each.of === of))
      throw new ApiError('E_INVALID_VALUE', `There is no rule ${rule} for this ${of} in hub.yaml.`);
    await db.transaction().execute(async (on) => {
      const sums = await on
        .selectFrom('flight_sums')
        .selectAll()
        .where('node', '=', node)
        .where('battery', '=', battery)
        .executeTakeFirst();
      if (sums === undefined)
        throw new ApiError('E_NOT_FOUND', `Nothing is known of a flight of this ${of} of ${node}.`);
      const { flights, armed_s } = sums;
      const what = { done_at: now(), done_by: by, note, flights, armed_s };
      await on
        .insertInto('maintenance')
        .values({ node, battery, rule, ...what })
        .onConflict((conflict) => conflict.columns(['node', 'battery', 'rule']).doUpdateSet(what))
        .execute();
    });
    const [airframe] = await this.#read([node]);
    if (airframe === undefined) throw new ApiError('E_NOT_FOUND');
    return airframe;
  }

  /** The first of these whose batteries fit into one answer; at least one. */
  async #fitting(nodes: readonly string[]): Promise<readonly string[]> {
    const { db, rules } = this.#options;
    if (nodes.length === 0) return [];
    const counts = await db
      .selectFrom('flight_sums')
      .select(({ fn }) => ['node', fn.countAll<number>().as('sums')])
      .where('node', 'in', nodes)
      .groupBy('node')
      .execute();
    const sums = new Map(counts.map(({ node, sums: count }) => [node, count]));
    let room = MOST_LISTED;
    const end = nodes.findIndex((node) => {
      room -= (1 + rules.length) * (sums.get(node) ?? 0);
      return room < 0;
    });
    return end === -1 ? nodes : nodes.slice(0, Math.max(1, end));
  }

  async #read(nodes: readonly string[]): Promise<Airframe[]> {
    const { db } = this.#options;
    const sums = await db
      .selectFrom('flight_sums')
      .selectAll()
      .where('node', 'in', nodes)
      .orderBy('node')
      .orderBy('battery')
      .execute();
    const noted = await db.selectFrom('maintenance').selectAll().where('node', 'in', nodes).execute();
    const done = new Map(noted.map((each) => [keyOf(each), each]));
    const of = Map.groupBy(sums, ({ node }) => node);
    return nodes.flatMap((node) => {
      const [own, ...batteries] = of.get(node) ?? [];
      return own === undefined || own.battery !== '' ? [] : [this.#airframe(own, batteries, done)];
    });
  }

  #airframe(own: Sums, batteries: readonly Sums[], done: ReadonlyMap<string, Done>): Airframe {
    return {
      id: own.node,
      name: this.#options.nameOf(own.node),
      ...hoursOf(own),
      distance_m: rounded(own.distance_m, 0),
      last_at: own.last_at,
      batteries: batteries.map((each) => ({ id: each.battery, ...hoursOf(each), cycles: each.flights })),
      maintenance: [own, ...batteries].flatMap((each) => this.#dueOf(each, done)),
    };
  }

  #dueOf(sums: Sums, done: ReadonlyMap<string, Done>): Due[] {
    const { rules, now } = this.#options;
    const of = sums.battery === '' ? 'airframe' : 'battery';
    return rules
      .filter((rule) => rule.of === of)
      .map(({ name, hours, flights, days }) => {
        const last = done.get(keyOf({ ...sums, rule: name }));
        const since = last ?? { armed_s: 0, flights: 0, done_at: sums.first_at };
        const left = {
          hours_left:
            hours === undefined ? null : rounded(hours - (sums.armed_s - since.armed_s) / HOUR_S, 2),
          flights_left: flights === undefined ? null : flights - (sums.flights - since.flights),
          days_left: days === undefined ? null : rounded(days - (now() - since.done_at) / DAY_MS, 1),
        };
        return {
          rule: name,
          battery: sums.battery === '' ? null : sums.battery,
          due: Object.values(left).some((each) => each !== null && each <= 0),
          ...left,
          done_at: last?.done_at ?? null,
          done_by: last?.done_by ?? null,
          note: last === undefined || last.note === '' ? null : last.note,
        };
      });
  }
}

function keyOf({ node, battery, rule }: Pick<Done, 'node' | 'battery' | 'rule'>): string {
  return JSON.stringify([node, battery, rule]);
}

function hoursOf({
  flights,
  armed_s,
  airborne_s,
}: Sums): Pick<Airframe, 'flights' | 'hours' | 'airborne_hours'> {
  return { flights, hours: rounded(armed_s / HOUR_S, 3), airborne_hours: rounded(airborne_s / HOUR_S, 3) };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
