import { ListTree } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button, Card, Field } from '../../../parts/parts.tsx';
import type { FieldId, LogSummary } from './read/summary.ts';
import css from './viewer.module.css';
import { viewerWords as words } from './viewer-words.ts';

type Group = LogSummary['groups'][number];

const PAGE = 60;

/** The messages of a log and their fields, to be chosen for a plot. */
export function LogTree({
  groups,
  isShown,
  onToggle,
}: {
  groups: LogSummary['groups'];
  isShown: (id: FieldId) => boolean;
  onToggle: (id: FieldId) => void;
}): JSX.Element {
  const [search, setSearch] = useState('');
  const [most, setMost] = useState(PAGE);
  const wanted = search.trim().toLowerCase();
  const found = groups.map((group, at) => ({ group, at })).filter(({ group }) => matches(group, wanted));
  return (
    <Card title={words.tree} icon={ListTree}>
      <Field label={words.search} hint={words.found({ found: found.length, total: groups.length })}>
        {(ids) => (
          <input
            {...ids}
            type="search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class={css['tree']} tabIndex={0} role="group" aria-label={words.tree}>
        {found.slice(0, most).map(({ group, at }) => (
          <GroupFields
            key={at}
            group={group}
            wanted={wanted}
            isShown={(field) => isShown({ group: at, field })}
            onToggle={(field) => onToggle({ group: at, field })}
          />
        ))}
        {found.length > most ? (
          <Button onClick={() => setMost(most + PAGE)}>{words.more({ count: found.length - most })}</Button>
        ) : null}
      </div>
    </Card>
  );
}

/** Its fields are drawn once it is open: a log can have thousands. */
function GroupFields({
  group,
  wanted,
  isShown,
  onToggle,
}: {
  group: Group;
  wanted: string;
  isShown: (field: number) => boolean;
  onToggle: (field: number) => void;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  const byName = wanted === '' || group.name.toLowerCase().includes(wanted);
  const isOpen = open || !byName;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {group.name} <span class="hint">{words.rows({ count: group.rows })}</span>
      </summary>
      {isOpen ? (
        <ul>
          {group.fields.map(({ name, unit, isText }, at) =>
            byName || fullName(group, name).includes(wanted) ? (
              <li key={name}>
                {isText ? (
                  <span>
                    {name} <span class="hint">{words.textField}</span>
                  </span>
                ) : (
                  <label>
                    <input type="checkbox" checked={isShown(at)} onChange={() => onToggle(at)} /> {name}{' '}
                    <span class="hint">{unit}</span>
                  </label>
                )}
              </li>
            ) : null,
          )}
        </ul>
      ) : null}
    </details>
  );
}

/** By its own name, by one of its fields, or by both, `att.roll`. */
function matches(group: Group, wanted: string): boolean {
  return (
    group.name.toLowerCase().includes(wanted) ||
    group.fields.some(({ name }) => fullName(group, name).includes(wanted))
  );
}

function fullName(group: Group, field: string): string {
  return `${group.name}.${field}`.toLowerCase();
}
