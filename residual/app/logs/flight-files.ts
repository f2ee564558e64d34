import { memberOf } from '../../../shared/member.ts';
import type { sessions } from '../../../shared/schemas/logs.ts';
import type { Made } from '../../../shared/schemas/made.ts';

/** The event that says that a file belongs to a flight: `{kind, name}`. */
export const FLIGHT_FILE = 'flight_file';

const KINDS = ['tlog', 'recording'] as const;
type FileKind = (typeof KINDS)[number];

/** What other parts of this process write during a flight. */
export interface FlightFiles {
  /** The files of the recording that runs, oldest first. */
  readonly recording: () => readonly string[];
  /** The names of all that are kept. */
  readonly kept: Readonly<Record<FileKind, () => Promise<readonly string[]>>>;
}

/** Of a flight: the names of its files that are still there. */
type FilesOfFlight = NonNullable<Made<typeof sessions>['data'][number]['files']>;

/** Sorts the events of flights; asks once for what is kept. */
export async function filesThere(
  kept: FlightFiles['kept'],
): Promise<(noted: unknown) => FilesOfFlight | null> {
  const [tlogs, recordings] = await Promise.all([kept.tlog(), kept.recording()]);
  const there = { tlog: new Set(tlogs), recording: new Set(recordings) };
  return (noted) => {
    if (!Array.isArray(noted)) return null;
    const named = (wanted: FileKind): readonly string[] =>
      noted
        .filter((each) => memberOf(each, 'kind') === wanted)
        .map((each) => String(memberOf(each, 'name')))
        .filter((name) => there[wanted].has(name));
    return { tlogs: named('tlog'), recordings: named('recording') };
  };
}
