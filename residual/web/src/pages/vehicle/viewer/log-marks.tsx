import { ListOrdered } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Badge, Button, Card, Field, Note } from '../../../parts/parts.tsx';
import { elapsed, type LogTimes } from './times.ts';
import css from './viewer.module.css';
import { viewerWords as words } from './viewer-words.ts';

const PAGE = 100;

/** Modes, events and texts of a log; the time of each moves the cursor there. */
export function LogMarks({
  times: { modes, events },
  isFull,
  onCursor,
}: {
  times: LogTimes;
  isFull: boolean;
  onCursor: (at: number) => void;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(PAGE);
  const wanted = search.trim().toLowerCase();
  const found = events.filter(({ text }) => text.toLowerCase().includes(wanted));
  return (
    <Card title={words.marks} icon={ListOrdered}>
      {isFull ? <Note tone="warn">{words.marksFull}</Note> : null}
      <h3>{words.modes}</h3>
      {modes.length === 0 ? <p class="hint">{words.noModes}</p> : null}
      <ol class={css['marks']}>
        {modes.slice(0, PAGE).map(({ name, from }) => (
          <li key={from}>
            <Button onClick={() => onCursor(from)}>{elapsed(from, 1)}</Button> {name}
          </li>
        ))}
      </ol>
      <h3>{words.marks}</h3>
      <Field label={words.marksSearch}>
        {(ids) => (
          <input
            {...ids}
            type="search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        )}
      </Field>
      {found.length === 0 ? <p class="hint">{words.noMarks}</p> : null}
      <ol class={css['marks']}>
        {found.slice(0, most).map(({ at, text, tone }, index) => (
          // Two may say the same at the same time.
          <li key={index}>
            <Button onClick={() => onCursor(at)}>{elapsed(at, 1)}</Button>{' '}
            {tone === 'info' ? text : <Badge tone={tone}>{text}</Badge>}
          </li>
        ))}
      </ol>
      {found.length > most ? (
        <Button onClick={() => setMost(most + PAGE)}>{words.more({ count: found.length - most })}</Button>
      ) : null}
    </Card>
  );
}
