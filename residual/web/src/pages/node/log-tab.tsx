import { Download, OctagonAlert, Pause, Play, ScrollText, TriangleAlert } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, Refused } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { download } from '../../parts/files.ts';
import { clock, day, moment } from '../../parts/format.ts';
import { Asked, Button, EmptyState, ErrorNote, Icon } from '../../parts/parts.tsx';
import { type AskState, useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './log.module.css';

type Entry = Answer<'logs.get'>['entries'][number];

const EVERY_MS = 2000;
const PAGE = 200;
/** Entries that are kept on the screen. */
const MOST = 2000;
const LEVELS = ['info', 'warn', 'error', 'trace'] as const;
const TONES = { TRACE: 'info', DEBUG: 'info', INFO: 'info', WARN: 'warn', ERROR: 'bad' } as const;
/** Writers of the log beside the node's processes. */
const OTHERS = ['audit', 'vehicle'] as const;

interface Filter {
  readonly level: string;
  readonly service: string;
  readonly text: string;
}

/** The log as it grows, newest first, and back as far as it is kept. */
export function LogTab(): JSX.Element {
  const [filter, setFilter] = useState<Filter>({ level: 'info', service: '', text: '' });
  const [paused, setPaused] = useState(false);
  const { log, older, more, busy } = useLog(filter, paused);
  const services = useAsk('services.get').data?.services ?? [];
  const exporting = useAct();
  const text = t.node.log;
  const set = (part: Partial<Filter>): void => setFilter((now) => ({ ...now, ...part }));
  const save = async (): Promise<void> =>
    download('logs.export.get', 'svc-log.ndjson', { query: queryOf(filter) });
  return (
    <section class={`card ${css['log-card']}`} aria-label={text.title}>
      <div class={css['filters']}>
        <input
          type="search"
          class={css['search']}
          aria-label={text.text}
          placeholder={text.text}
          maxLength={256}
          value={filter.text}
          onInput={(event) => set({ text: event.currentTarget.value })}
        />
        <select
          aria-label={text.level}
          value={filter.level}
          onChange={(event) => set({ level: event.currentTarget.value })}
        >
          {LEVELS.map((level) => (
            <option key={level} value={level}>
              {text.levels[level]}
            </option>
          ))}
        </select>
        <select
          aria-label={text.service}
          value={filter.service}
          onChange={(event) => set({ service: event.currentTarget.value })}
        >
          <option value="">{text.all}</option>
          {[...services.map(({ name }) => name), ...OTHERS].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <div class={css['log-actions']}>
          <Button
            kind="quiet"
            icon={paused ? Play : Pause}
            aria-label={paused ? text.resume : text.pause}
            aria-pressed={paused}
            onClick={() => setPaused(!paused)}
          />
          <Button
            kind="quiet"
            icon={Download}
            row="logs.export.get"
            busy={exporting.busy}
            aria-label={text.export}
            onClick={() => void exporting.run(save)}
          />
        </div>
      </div>
      <ErrorNote error={exporting.error} />
      <div class={`scroll ${css['log']}`} tabIndex={0} role="log" aria-label={text.entries} aria-live="off">
        <Asked
          of={log}
          empty={({ length }) => (length === 0 ? <EmptyState icon={ScrollText} text={text.none} /> : null)}
        >
          {(entries) => (
            <ol>
              {entries.map((entry, at) => (
                <Line key={entry.seq} entry={entry} before={entries[at - 1]} />
              ))}
            </ol>
          )}
        </Asked>
        {more ? (
          <Button busy={busy} onClick={older}>
            {text.older}
          </Button>
        ) : null}
      </div>
    </section>
  );
}

/** @param before the line above it: a day is told once */
function Line({ entry, before }: { readonly entry: Entry; readonly before: Entry | undefined }): JSX.Element {
  const { timestamp, level, logger, message } = entry;
  const newDay = before === undefined || day(before.timestamp) !== day(timestamp);
  return (
    <>
      {newDay ? <li class={css['day']}>{day(timestamp)}</li> : null}
      <li class={TONES[level]}>
        <time dateTime={timestamp} title={moment(timestamp)}>
          {clock(Date.parse(timestamp), true)}
        </time>
        <span class={css['logger']}>
          {TONES[level] === 'info' ? null : (
            <>
              <Icon of={level === 'ERROR' ? OctagonAlert : TriangleAlert} />
              <span class="visually-hidden">{level}</span>
            </>
          )}
          {logger}
        </span>
        <span class={css['message']}>{message}</span>
      </li>
    </>
  );
}

function queryOf({ level, service, text }: Filter): Record<string, string | null> {
  return { level, service: service === '' ? null : service, text: text.trim() === '' ? null : text.trim() };
}

/** Asks every two seconds for what is new: so it follows through the radio too, and no reader of the node is held. */
function useLog(
  filter: Filter,
  paused: boolean,
): { log: AskState<readonly Entry[]>; older: () => void; more: boolean; busy: boolean } {
  const [entries, setEntries] = useState<readonly Entry[] | null>(null);
  const [round, setRound] = useState(0);
  const [error, setError] = useState<Refused | null>(null);
  const [more, setMore] = useState(false);
  const reading = useAct();
  useEffect(() => {
    setEntries(null);
    setError(null);
    setMore(false);
  }, [filter]);
  useEffect(() => {
    if (paused) return;
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (first: boolean): Promise<void> => {
      try {
        if (!document.hidden || first) {
          const found = await call('logs.get', {
            query: { ...queryOf(filter), limit: PAGE },
            signal: stopped.signal,
          });
          setEntries((now) => followed(found.entries, now ?? []));
          if (first) setMore(found.entries.length === PAGE);
        }
        setError(null);
      } catch (failed) {
        if (stopped.signal.aborted) return;
        if (!(failed instanceof Refused)) throw failed;
        setError(failed);
      }
      if (!stopped.signal.aborted) timer = setTimeout(() => void look(false), EVERY_MS);
    };
    void look(true);
    return () => {
      stopped.abort();
      clearTimeout(timer);
    };
  }, [filter, paused, round]);
  const older = (): void => {
    const last = entries?.at(-1);
    if (last === undefined) return;
    void reading.run(async () => {
      // Times are cut to milliseconds: those of the same one are asked for again.
      const to = new Date(Date.parse(last.timestamp) + 1).toISOString();
      const found = await call('logs.get', { query: { ...queryOf(filter), limit: PAGE, to } });
      setEntries((now) => joined(now ?? [], found.entries));
      setMore(found.entries.length === PAGE && (entries?.length ?? 0) + PAGE < MOST);
    });
  };
  const reload = (): void => {
    setError(null);
    setRound((n) => n + 1);
  };
  const isAwaited = entries === null && error === null;
  return {
    log: { data: entries, error: error ?? reading.error, isAwaited, reload },
    older,
    more,
    busy: reading.busy,
  };
}

/** Newest first, each once. Where a full page does not reach what was read before, what lay between is missing: the older go. */
function followed(page: readonly Entry[], before: readonly Entry[]): readonly Entry[] {
  const known = new Set(before.map(({ seq }) => seq));
  const reaches = page.length < PAGE || page.some(({ seq }) => known.has(seq));
  return reaches ? joined(page, before) : page;
}

function joined(newer: readonly Entry[], older: readonly Entry[]): readonly Entry[] {
  const seen = new Set(newer.map(({ seq }) => seq));
  return [...newer, ...older.filter(({ seq }) => !seen.has(seq))].slice(0, MOST);
}
