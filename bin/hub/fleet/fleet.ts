import { type Selectable, sql } from 'kysely';
import { contained } from '../../../shared/async/every.ts';
import type { EnrollRequest, NodeEntry, NodeTags } from '../../../shared/fleet/hub-api.ts';
import { labelsOf, NO_LABELS } from '../../../shared/fleet/node-labels.ts';
import { factsOf, type StatusFacts } from '../../../shared/fleet/node-state.ts';
import type { NodeStatus, Presence } from '../../../shared/fleet/told.ts';
import { type Reach, sees } from '../../../shared/hub-api/caller.ts';
import type { ClustersQuery, NodesQuery } from '../../../shared/hub-api/schemas.ts';
import { type JsonObject, recordOf } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { PublicJwk } from '../../../shared/schemas/fleet-statements.ts';
import { leavingOut } from '../database/leaving-out.ts';
import { storedObject } from '../database/stored-object.ts';
import type { Queries, Tables } from '../database/tables.ts';
import { nextNumber, readMeta } from '../stores/meta.ts';
import { tagColumns, tagsIn, tagsOf } from './labels.ts';
import { clustersOf, mercatorOf } from './node-clusters.ts';
import {
  countsOf,
  type Findable,
  type FleetCounts,
  type Mercator,
  pageOf,
  sortTextOf,
  type Tagged,
  tagsAmong,
} from './node-query.ts';
import type { Share } from './share.ts';

const TWIN =
  'Two machines are connected with the key of this node, in turns. One is a copy: enrol the right one again, and look for the other.';

const AUDIT_BACK =
  'The audit of this node has gone back behind what the hub has heard of it: somebody removed records, or put an older copy of the machine back. Run `svc audit verify` there.';

/** What a node does that it should not, in words. */
const ACCUSED = {
  flood:
    'This node tells more than the hub takes of one node (events, status, telemetry, pictures), or has more in its store than its share: the excess is dropped or delayed, and its oldest events go first. Look what it reports.',
  retained:
    'This node has the broker keep messages that are not kept: only its presence and its status are. They are removed. No node does that by itself: look who has its key.',
  subscribed:
    'This node has asked the broker for what is not its own, and was thrown off there. No node does that by itself: look who has its key.',
} as const;

const QUARANTINED =
  'This node has sent JSON that no node sends. What it says of itself is not taken until this is cleared. Look who has its key.';

const MAX_NAME = 128;

/** Nodes that are written in one transaction. */
const BATCH = 500;

/** Of the table meta: counts the transactions that change nodes. */
export const NODES_REV = 'nodes_rev';
/** Rows that are read in one turn. */
const PAGE = 1000;

interface KnownNode extends Findable {
  readonly id: string;
  name: string;
  profile: NodeEntry['profile'];
  version: string;
  readonly enrolled_at: number;
  readonly signing_key: PublicJwk;
  online: boolean;
  seen_at: number | null;
  status: JsonObject | null;
  status_at: number | null;
  telemetry: JsonObject | null;
  telemetry_at: number | null;
  alarm: string | null;
  tags: readonly string[];
  group: string | null;
  /** Its tags, and `group:name`: what rights name. */
  labels: ReadonlySet<string>;
  /** Of its row, as it was read or written last. */
  rev: number;
  /** Id and name in small letters, for searches. */
  words: string;
  sortText: string;
  /** Of its status. */
  facts: StatusFacts;
  at: Mercator | null;
  /** Of its connections. */
  readonly sessions: Alternation;
  /** Of the machine: what is before the dot of its nonces. */
  readonly boots: Alternation;
}

/** Names that are new each time, unless two machines take turns. */
class Alternation {
  present: string | null = null;
  #before: string | null = null;

  /** @returns whether the one before the present one is back */
  next(name: string): boolean {
    if (name === this.present) return false;
    const isBack = name === this.#before;
    this.#before = this.present;
    this.present = name;
    return isBack;
  }
}

interface NodePage {
  readonly nodes: readonly NodeEntry[];
  readonly total: number;
  readonly next: string | null;
}

/** What a node says more often than a list shows. */
type TelemetryListener = (id: string) => void;
type FleetListener = (id: string) => void;

/** Every enrolled node and the newest of what it said: in memory, and in the database what outlives the hub. */
export class Fleet {
  readonly #db: Queries;
  readonly #now: () => number;
  readonly #nodes = new Map<string, KnownNode>();
  /** By id, for pages of the list; null: to be made again. */
  #order: readonly KnownNode[] | null = null;
  readonly #share: Share;
  /** Up to where the database's rows are known. */
  #rev = 0;
  readonly #unsaved = new Set<string>();
  /** Of nodes that came or went: others wait to see it. */
  readonly #urgent = new Set<string>();
  /** Of nodes that were heard by somebody else until now, and of which the broker has said nothing yet. */
  readonly #unheard = new Set<string>();
  /** Of nodes whose alarm has changed. */
  readonly #alarms = new Set<string>();
  readonly #listeners = new Set<FleetListener>();
  readonly #telemetryListeners = new Set<TelemetryListener>();
  readonly #memberListeners = new Set<() => void>();
  /** A database that fails is asked again with the next `save`. */
  readonly #writeAlarms = contained('alarms', async () => this.saveAlarms());

  private constructor(db: Queries, share: Share, now: () => number) {
    this.#db = db;
    this.#share = share;
    this.#now = now;
  }

  /** @param share whose nodes' words it writes @param now wall clock, ms */
  static async open(db: Queries, share: Share, now: () => number): Promise<Fleet> {
    const fleet = new Fleet(db, share, now);
    fleet.#rev = (await readMeta(db, NODES_REV)) ?? 0; // before the rows: what comes meanwhile is read twice
    // Who hears nodes alone knows nothing of them now; of others' nodes the database knows.
    const then = share.alone ? { online: false, status_at: null } : {};
    for (const row of await db.selectFrom('nodes').selectAll().execute())
      fleet.#nodes.set(row.id, { ...known(row), ...then });
    return fleet;
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Called with the id of a node that has changed in a way that a list shows, or is gone. @returns what ends it */
  onChange(listener: FleetListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called with the id of a node that has told telemetry. @returns what ends it */
  onTelemetry(listener: TelemetryListener): () => void {
    this.#telemetryListeners.add(listener);
    return () => this.#telemetryListeners.delete(listener);
  }

  /** Called when nodes have come or gone. @returns what ends it */
  onMembers(listener: () => void): () => void {
    this.#memberListeners.add(listener);
    return () => this.#memberListeners.delete(listener);
  }

  /** Of its newest status, for what is signed for it; null: it has told none. */
  nonceOf(id: string): string | null {
    const nonce = this.#nodes.get(id)?.status?.['nonce'];
    return typeof nonce === 'string' ? nonce : null;
  }

  has(id: string): boolean {
    return this.#nodes.has(id);
  }

  isOnline(id: string): boolean {
    return this.#nodes.get(id)?.online === true;
  }

  /** Sorted. */
  ids(): readonly string[] {
    return this.#all().map(({ id }) => id);
  }

  /** Null for an unknown one. */
  entry(id: string): NodeEntry | null {
    const node = this.#nodes.get(id);
    if (node === undefined) return null;
    const {
      telemetry: _only,
      telemetry_at: _its,
      sessions: _own,
      boots: _too,
      words: _words,
      sortText: _sortText,
      labels: _labels,
      facts: _facts,
      at: _at,
      rev: _rev,
      ...entry
    } = node;
    return entry;
  }

  /** A page of those that fit; only what is on it is copied. @param reach whom the caller sees */
  page(query: NodesQuery, reach: Reach): NodePage {
    const { nodes, ...page } = pageOf(this.#seenBy(reach), query, this.#now());
    return { ...page, nodes: nodes.flatMap(({ id }) => this.entry(id) ?? []) };
  }

  /** What they have, the most frequent first. @param reach whom the caller sees */
  tags(reach: Reach): readonly Tagged[] {
    return tagsAmong(this.#seenBy(reach));
  }

  /** By cells of the map. @param reach whom the caller sees */
  clusters(query: ClustersQuery, reach: Reach): ReturnType<typeof clustersOf> {
    return clustersOf(this.#seenBy(reach), query, this.#now());
  }

  /** @param reach whom the caller sees */
  counts(reach: Reach): FleetCounts {
    return countsOf(this.#seenBy(reach), this.#now());
  }

  /** Whether this reach has that node now. */
  sees(reach: Reach, id: string): boolean {
    return sees(reach, id, this.#nodes.get(id)?.labels ?? NO_LABELS);
  }

  /** Ids of those that this reach has now: the listed ones, enrolled or not, and those with a tag of it; null: every node. */
  seenBy(reach: Reach): readonly string[] | null {
    const { nodes, tags } = reach;
    if (nodes === null || tags.length === 0) return nodes;
    return [...new Set([...nodes, ...this.#seenBy(reach).map(({ id }) => id)])].toSorted();
  }

  /** By id. */
  #seenBy({ nodes, tags }: Reach): readonly KnownNode[] {
    if (nodes === null) return this.#all();
    if (tags.length === 0) return nodes.toSorted().flatMap((id) => this.#nodes.get(id) ?? []);
    const listed = new Set(nodes);
    return this.#all().filter(({ id, labels }) => listed.has(id) || tags.some((tag) => labels.has(tag)));
  }

  #all(): readonly KnownNode[] {
    this.#order ??= [...this.#nodes.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return this.#order;
  }

  telemetryOf(id: string): Pick<NodeEntry, 'telemetry' | 'telemetry_at'> {
    const { telemetry = null, telemetry_at = null } = this.#nodes.get(id) ?? {};
    return { telemetry, telemetry_at };
  }

  /**
   * Adds it to the database, or replaces its key: an earlier one counts no longer, but tags and group stay.
   * @param own what it has if it is new @param on a transaction; `reload` follows it
   */
  async store(request: EnrollRequest, own: NodeTags, on: Queries): Promise<boolean> {
    const { device_id: id, name, profile, version, signing_key: key } = request;
    const anew = { seen_at: null, status: null, status_at: null, alarm: null, online: 0 };
    const tags = (await tagsIn(on, id)) ?? own;
    const rev = await nextNumber(on, NODES_REV);
    const enrolled_at = this.#now();
    const row = {
      id,
      name: this.#nameOf(id, name),
      profile,
      version,
      enrolled_at,
      key: key.x,
      ...anew,
      ...tagColumns(tags),
      rev,
    };
    const isReplaced = await this.erase(id, on);
    await on.insertInto('nodes').values(row).execute();
    return isReplaced;
  }

  /** Deletes it from the database. @param on a transaction; `reload` follows it @returns whether it was there */
  async erase(id: string, on: Queries): Promise<boolean> {
    const { numDeletedRows } = await on.deleteFrom('nodes').where('id', '=', id).executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  /** @param on a transaction; `reload` follows it @returns false for an unknown one */
  async tag(id: string, tags: NodeTags, on: Queries): Promise<boolean> {
    const { numUpdatedRows } = await on
      .updateTable('nodes')
      .set({ ...tagColumns(tags), rev: await nextNumber(on, NODES_REV) })
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n;
  }

  /** What the database has of it now. What the same enrolment has told stays. */
  async reload(id: string): Promise<void> {
    const row = await this.#db.selectFrom('nodes').selectAll().where('id', '=', id).executeTakeFirst();
    const before = this.#nodes.get(id);
    if (row === undefined && before === undefined) return;
    if (before !== undefined && row?.key === before.signing_key.x && row.enrolled_at === before.enrolled_at) {
      Object.assign(before, labelled(tagsOf(row)));
      this.#changed(id);
      return;
    }
    if (row === undefined) this.#nodes.delete(id);
    else this.#nodes.set(id, known(row));
    this.#unsaved.delete(id);
    this.#urgent.delete(id);
    this.#order = null;
    this.#changed(id);
    this.#membersChanged();
  }

  /**
   * What others have written since the last time: of nodes that they hear all of it, of its own what is not said by the node.
   * @param count of the changes, if it was read just now @returns whether nodes have come, or have other keys
   */
  async catchUp(count?: number): Promise<boolean> {
    const upTo = count ?? (await readMeta(this.#db, NODES_REV)) ?? 0;
    let isNew = false;
    for (let after = { rev: this.#rev, id: '\uffff' }; ; ) {
      if (upTo <= after.rev) break;
      const { rev, id } = after;
      const rows = await this.#db
        .selectFrom('nodes')
        .selectAll()
        .where((eb) => eb.or([eb('rev', '>', rev), eb.and([eb('rev', '=', rev), eb('id', '>', id)])]))
        .orderBy('rev')
        .orderBy('id')
        .limit(PAGE)
        .execute();
      for (const row of rows) isNew = this.#adopt(row) || isNew;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = last;
    }
    this.#rev = Math.max(this.#rev, upTo);
    if (isNew) this.#membersChanged();
    return isNew;
  }

  /** @returns whether the node is new, or has another key */
  #adopt(row: Selectable<Tables['nodes']>): boolean {
    const { id, rev } = row;
    const node = this.#nodes.get(id);
    if (node !== undefined && rev <= node.rev) return false;
    const isNew =
      node === undefined || node.signing_key.x !== row.key || node.enrolled_at !== row.enrolled_at;
    if (isNew) {
      this.#nodes.set(id, known(row));
      this.#unsaved.delete(id);
      this.#order = null;
    } else if (this.#share.has(id)) {
      node.rev = rev;
      if (!this.#alarms.has(id)) node.alarm = row.alarm; // somebody has cleared it, at another replica
      Object.assign(node, labelled(tagsOf(row)));
    } else {
      const { sessions: _1, boots: _2, telemetry: _3, telemetry_at: _4, ...said } = known(row);
      if (node.name !== said.name) this.#order = null;
      Object.assign(node, said);
    }
    this.#changed(id);
    return isNew;
  }

  /** Null for an unknown one. */
  keyOf(id: string): PublicJwk | null {
    return this.#nodes.get(id)?.signing_key ?? null;
  }

  /**
   * @param kept the broker had it before the hub came, and since when is not known
   * @returns whether two machines were found with its key just now: a session that was replaced by another is back
   */
  presence(id: string, said: Presence, kept: boolean): boolean {
    const node = this.#nodes.get(id);
    if (node === undefined) return false;
    const { present } = node.sessions;
    // The will of a session that was replaced comes late, and says nothing about the present one.
    if (!said.online && present !== null && said.session !== present) return false;
    if (said.online && !kept) node.seen_at = this.#now(); // a will is not the node's own word
    if (node.online !== said.online) this.#urgent.add(id);
    node.online = said.online;
    this.#unheard.delete(id);
    node.name = this.#nameOf(id, said.name);
    Object.assign(node, sought(node));
    node.version = plainText(said.version);
    node.profile = said.profile;
    const isTwin = said.online && node.sessions.next(said.session) && this.#twin(id, node);
    this.#unsaved.add(id);
    this.#changed(id);
    return isTwin;
  }

  /** What it is shown as: nothing that cannot be seen, and no other's name, by which people would fly the wrong one. */
  #nameOf(id: string, said: string): string {
    const name = plainText(said).trim() || id;
    if (name === this.#nodes.get(id)?.name || name === id) return name;
    const same = sameName(name);
    const isOthers = this.#all().some(
      (other) => other.id !== id && (sameName(other.name) === same || sameName(other.id) === same),
    );
    const whose = ` (${id})`;
    return isOthers ? name.slice(0, MAX_NAME - whose.length).toWellFormed() + whose : name;
  }

  /** @returns what is wrong since just now: a boot of the machine that was replaced by another is back, or its audit went back */
  status(id: string, said: JsonObject, kept: boolean): 'twin' | 'audit' | null {
    const node = this.#nodes.get(id);
    if (node === undefined) return null;
    // The broker may have kept it for a week: it must not look new.
    if (!kept) node.status_at = node.seen_at = this.#now();
    else if (said['at'] !== node.status?.['at']) node.status_at = null;
    const { nonce } = said;
    const boot = typeof nonce === 'string' ? nonce.split('.')[0] : undefined;
    const isTwin = boot !== undefined && node.boots.next(boot) && this.#twin(id, node);
    const before = auditHead(node.status);
    const head = auditHead(said) ?? before;
    const isBack = isBehind(head, before);
    // Of two machines in turns nobody knows whose audit it is: the newer head stays until that is cleared up.
    const hasTwin = node.alarm === TWIN;
    node.status = { ...said, audit_head: isBack && hasTwin ? before : head };
    Object.assign(node, placed(node.status));
    const wentBack = isBack && !hasTwin && node.alarm !== AUDIT_BACK;
    if (wentBack) this.#alarm(id, node, AUDIT_BACK);
    this.#unsaved.add(id);
    this.#changed(id);
    return isTwin ? 'twin' : wentBack ? 'audit' : null;
  }

  /** No change for lists: it comes every second. */
  telemetry(id: string, said: JsonObject): void {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    node.telemetry = said;
    node.telemetry_at = this.#now();
    if (this.#share.has(id)) {
      node.seen_at = node.telemetry_at;
      this.#unsaved.add(id);
    }
    for (const listener of this.#telemetryListeners) listener(id);
  }

  /** @returns whether that is news; an alarm that is there already is not replaced */
  accuse(id: string, of: keyof typeof ACCUSED): boolean {
    const node = this.#nodes.get(id);
    if (node === undefined || node.alarm !== null) return false;
    this.#alarm(id, node, ACCUSED[of]);
    this.#changed(id);
    return true;
  }

  /** Nothing that it says of itself is taken until its alarm is cleared. @returns whether that is news */
  quarantine(id: string): boolean {
    const node = this.#nodes.get(id);
    if (node === undefined || node.alarm === QUARANTINED) return false;
    node.status = node.telemetry = null;
    Object.assign(node, placed(null));
    this.#unsaved.add(id);
    this.#alarm(id, node, QUARANTINED);
    this.#changed(id);
    return true;
  }

  isQuarantined(id: string): boolean {
    return this.#nodes.get(id)?.alarm === QUARANTINED;
  }

  /** @throws the database's error; then it is tried again with the next `save` */
  async clearAlarm(id: string): Promise<void> {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    node.alarm = null;
    this.#alarms.add(id);
    this.#changed(id);
    await this.saveAlarms();
  }

  /** Nobody that it hears is known to be there: the broker says anew who is, when the hub subscribes. */
  allOffline(): void {
    for (const id of this.#nodes.keys()) if (this.#share.has(id)) this.#away(id);
  }

  /** It begins to hear these, which somebody else has heard: they are as that one has written until the broker says how they are. */
  expect(ids: readonly string[]): void {
    for (const id of ids) this.#unheard.add(id);
  }

  /** The broker has said all it had of these: of whom it has nothing, nobody is there. */
  settle(ids: readonly string[]): void {
    for (const id of ids) if (this.#unheard.delete(id)) this.#away(id);
  }

  #away(id: string): void {
    const node = this.#nodes.get(id);
    if (node?.online !== true) return;
    node.online = false;
    this.#unsaved.add(id);
    this.#urgent.add(id);
    this.#changed(id);
  }

  /** Writes what has changed since the last time. @throws the database's error; then it is tried again */
  async save(): Promise<void> {
    await this.saveAlarms();
    await this.#save([...this.#unsaved]);
  }

  /** Writes who came and who went. @throws the database's error; then it is tried again */
  async saveUrgent(): Promise<void> {
    await this.#save([...this.#urgent]);
  }

  async #save(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.#unsaved.delete(id);
      this.#urgent.delete(id);
    }
    const own = ids.filter((id) => this.#share.has(id)); // who hears the others writes them
    try {
      for (let at = 0; at < own.length; at += BATCH)
        await leavingOut(
          own.slice(at, at + BATCH),
          async (part) => this.#write(part),
          (id) => this.quarantine(id),
        );
    } catch (error) {
      for (const id of own) {
        this.#unsaved.add(id);
        this.#urgent.add(id);
      }
      throw error;
    }
  }

  /** @throws the database's error; then it is tried again */
  async saveAlarms(): Promise<void> {
    for (const id of this.#alarms) {
      const alarm = this.#nodes.get(id)?.alarm ?? null;
      const rev = await this.#db.transaction().execute(async (on) => {
        const next = await nextNumber(on, NODES_REV);
        await on.updateTable('nodes').set({ alarm, rev: next }).where('id', '=', id).execute();
        return next;
      });
      const node = this.#nodes.get(id);
      this.#written(rev, node === undefined ? [] : [node]);
      if ((node?.alarm ?? null) === alarm) this.#alarms.delete(id);
    }
  }

  async #write(ids: readonly string[]): Promise<void> {
    const nodes = ids.flatMap((id) => this.#nodes.get(id) ?? []);
    if (nodes.length === 0) return;
    const rows = nodes.map(({ id, name, profile, version, seen_at, status, status_at, online }) => {
      const text = status === null ? null : JSON.stringify(status);
      return sql`(${id}, ${name}, ${profile}, ${version}, cast(${seen_at} AS bigint), ${text}, cast(${status_at} AS bigint), cast(${online ? 1 : 0} AS bigint))`;
    });
    const rev = await this.#db.transaction().execute(async (on) => {
      await this.#share.check(on, ids);
      const next = await nextNumber(on, NODES_REV);
      // Of nodes that were removed meanwhile nothing is written.
      await sql`WITH said (id, name, profile, version, seen_at, status, status_at, online) AS (VALUES ${sql.join(rows)})
        UPDATE nodes SET name = said.name, profile = said.profile, version = said.version, seen_at = said.seen_at,
          status = said.status, status_at = said.status_at, online = said.online, rev = ${next}
        FROM said WHERE nodes.id = said.id`.execute(on);
      return next;
    });
    this.#written(rev, nodes);
  }

  /**
   * What it has written itself is not read again where nobody else has written in between: else the rows have something of theirs
   * as well, a tag or another key.
   */
  #written(rev: number, nodes: readonly KnownNode[]): void {
    if (rev !== this.#rev + 1) return;
    this.#rev = rev;
    for (const node of nodes) node.rev = rev;
  }

  #twin(id: string, node: KnownNode): boolean {
    // It replaces another: that must not hide it, nor end a quarantine.
    if (node.alarm === TWIN || node.alarm === QUARANTINED) return false;
    this.#alarm(id, node, TWIN);
    return true;
  }

  /** Written at once: it must not be forgotten. */
  #alarm(id: string, node: KnownNode, alarm: string): void {
    node.alarm = alarm;
    this.#alarms.add(id);
    this.#writeAlarms();
  }

  #membersChanged(): void {
    for (const listener of this.#memberListeners) listener();
  }

  #changed(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}

/** The same for names that look alike but for capitals, widths and spaces. */
function sameName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ');
}

/** What searches and orders look at. */
function sought(node: Pick<KnownNode, 'id' | 'name'>): Pick<KnownNode, 'words' | 'sortText'> {
  return { words: `${node.id}\n${node.name}`.toLowerCase(), sortText: sortTextOf(node) };
}

type AuditHead = NonNullable<NodeStatus['audit_head']>;

function auditHead(status: JsonObject | null): AuditHead | null {
  const { seq, hash } = recordOf(status?.['audit_head']);
  return typeof seq === 'number' && typeof hash === 'string' ? { seq, hash } : null;
}

function isBehind(now: AuditHead | null, before: AuditHead | null): boolean {
  if (now === null || before === null) return false;
  return now.seq < before.seq || (now.seq === before.seq && now.hash !== before.hash);
}

function labelled(tags: NodeTags): Pick<KnownNode, 'tags' | 'group' | 'labels'> {
  return { ...tags, labels: labelsOf(tags) };
}

/** What lists look for in a status. */
function placed(status: JsonObject | null): Pick<KnownNode, 'facts' | 'at'> {
  const facts = factsOf(status);
  return { facts, at: mercatorOf(facts.place) };
}

function known(row: Selectable<Tables['nodes']>): KnownNode {
  const status = row.status === null ? null : storedObject(row.status);
  return {
    id: row.id,
    name: row.name,
    profile: row.profile === 'drone' ? 'drone' : 'ground-station',
    version: row.version,
    enrolled_at: row.enrolled_at,
    signing_key: { kty: 'OKP', crv: 'Ed25519', x: row.key },
    online: row.online === 1,
    seen_at: row.seen_at,
    status,
    status_at: row.status_at,
    rev: row.rev,
    telemetry: null,
    telemetry_at: null,
    alarm: row.alarm,
    ...placed(status),
    ...labelled(tagsOf(row)),
    ...sought(row),
    sessions: new Alternation(),
    boots: new Alternation(),
  };
}
