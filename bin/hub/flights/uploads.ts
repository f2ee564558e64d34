import { UPLOAD_KINDS, type UploadDetail } from '../../../shared/fleet/flight.ts';
import { vehicleLogOf } from '../../../shared/flight/vehicle-log-of.ts';
import type { FlightAnswer } from '../../../shared/hub-api/flight-schemas.ts';
import { isOneOf, type JsonObject } from '../../../shared/member.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { Queries } from '../database/tables.ts';

const MAX_NAME = 300;
const MAX_URL = 1500;
const MAX_TIME = 253_402_300_800_000;
/** Of one node; beyond them the oldest go. */
const MAX_UPLOADS = 5000;
/** Of the vehicle, that are looked at for one flight. */
const MAX_LOGS = 20;
/** Flights of one boot. */
const MAX_LATER = 50;
const US = 1000;

/** Of a flight: what is looked up of its files. */
interface Flown {
  readonly node: string;
  readonly started_at: number;
  readonly ended_at: number;
  readonly files: readonly Pick<UploadDetail, 'kind' | 'name'>[];
}

/** Stores what nodes say that they have uploaded; one that is uploaded again is where it is now. @param on a transaction */
export async function storeUploads(
  on: Queries,
  told: readonly {
    readonly node: string;
    readonly event: { readonly detail: JsonObject };
    readonly at: number;
  }[],
): Promise<void> {
  // As flights: two transactions take the rows in the same order.
  for (const { node, event, at } of told.toSorted((a, b) => a.node.localeCompare(b.node))) {
    const upload = toldUpload(event.detail);
    if (upload === null) continue;
    const { url, bytes, logged_at } = upload;
    const what = { url, bytes, logged_at, received_at: at };
    await on
      .insertInto('uploads')
      .values({ node, kind: upload.kind, name: upload.name, ...what })
      .onConflict((conflict) => conflict.columns(['node', 'kind', 'name']).doUpdateSet(what))
      .execute();
  }
}

/** Deletes the oldest of a node that has uploaded too many. */
export async function pruneUploads(db: Queries, node: string): Promise<void> {
  const newest = await db
    .selectFrom('uploads')
    .select('received_at')
    .where('node', '=', node)
    .orderBy('received_at', 'desc')
    .offset(MAX_UPLOADS)
    .limit(1)
    .executeTakeFirst();
  if (newest === undefined) return;
  await db
    .deleteFrom('uploads')
    .where('node', '=', node)
    .where('received_at', '<=', newest.received_at)
    .execute();
}

/** The files of a flight, and where they are. The vehicle's own log is the one that ended with it. */
export async function filesOf(db: Queries, flight: Flown): Promise<FlightAnswer['files']> {
  const { node, started_at, ended_at, files } = flight;
  const named =
    files.length === 0
      ? []
      : await db
          .selectFrom('uploads')
          .select(['kind', 'name', 'url', 'bytes'])
          .where('node', '=', node)
          .where(
            'name',
            'in',
            files.map(({ name }) => name),
          )
          .execute();
  const logs = await db
    .selectFrom('uploads')
    .select(['kind', 'name', 'url', 'bytes', 'logged_at'])
    .where('node', '=', node)
    .where('kind', '=', 'flight-logs')
    .where('logged_at', '>=', started_at)
    .orderBy('logged_at')
    .limit(MAX_LOGS)
    .execute();
  const later = await db
    .selectFrom('flights')
    .select(['started_at', 'ended_at'])
    .where('node', '=', node)
    .where('started_at', '>', started_at)
    .orderBy('started_at')
    .limit(MAX_LATER)
    .execute();
  const log = vehicleLogOf(
    flown({ started_at, ended_at }),
    later.map(flown),
    logs.map((each) => ({ ...each, time: new Date(each.logged_at ?? 0).toISOString() })),
  );
  const known = files.map(({ kind, name }) => {
    const found = named.find((each) => each.kind === kind && each.name === name);
    return { kind, name, url: found?.url ?? null, bytes: found?.bytes ?? null };
  });
  return log === null
    ? known
    : [...known, { kind: 'flight-logs', name: log.name, url: log.url, bytes: log.bytes }];
}

function flown({ started_at, ended_at }: Pick<Flown, 'started_at' | 'ended_at'>) {
  return { started_us: started_at * US, ended_us: ended_at * US };
}

/** @returns null for what is no upload, or is nowhere where a browser may go */
function toldUpload({
  kind,
  name,
  url,
  bytes,
  logged_at: loggedAt,
}: JsonObject): Omit<UploadDetail, 'uploaded_at'> | null {
  if (!isOneOf(UPLOAD_KINDS, kind) || !isFileName(name) || !isWebAddress(url)) return null;
  if (typeof bytes !== 'number' || !(bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER)) return null;
  const isTime = typeof loggedAt === 'number' && loggedAt >= 0 && loggedAt <= MAX_TIME;
  return { kind, name, url, bytes: Math.round(bytes), logged_at: isTime ? Math.round(loggedAt) : null };
}

/** As nodes name their files: nothing that a person could not read. */
export function isFileName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_NAME &&
    value.isWellFormed() &&
    plainText(value) === value
  );
}

function isWebAddress(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_URL || !/^[!-~]+$/.test(value)) return false;
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}
