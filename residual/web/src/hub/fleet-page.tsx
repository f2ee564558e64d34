import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import accessCss from '../pages/access/access.module.css';
import { Card, Field, Note, Stat } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { type FleetNode, nodes } from './fleet.ts';
import { FleetList } from './fleet-list.tsx';
import { FleetMap } from './fleet-map.tsx';
import { countOf, ORDERS, type Selection, STATES, selected } from './selection.ts';
import { hub } from './words.ts';

/** All nodes: how many, where, and one by one. */
export function FleetPage(): JSX.Element {
  const [selection, setSelection] = useState<Selection>({ search: '', state: 'all', order: 'name' });
  const all = nodes.value;
  const shown = useMemo(() => (all === null ? [] : selected(all, selection)), [all, selection]);
  if (all === null) return <p class="first">{t.app.loading}</p>;
  return (
    <div class="page">
      <Counts all={all} />
      <Card title={hub.fleet.map} wide>
        <FleetMap nodes={shown} />
      </Card>
      <Card title={hub.fleet.list} wide>
        <Choice selection={selection} onChange={setSelection} />
        {all.length === 0 ? <Note>{hub.fleet.empty}</Note> : null}
        {all.length > 0 && shown.length === 0 ? <p>{hub.fleet.noHit}</p> : null}
        {shown.length === 0 ? null : <FleetList nodes={shown} />}
      </Card>
    </div>
  );
}

function Counts({ all }: { all: readonly FleetNode[] }): JSX.Element {
  const [online, armed, alarm] = (['online', 'armed', 'alarm'] as const).map((state) => countOf(all, state));
  return (
    <Card title={hub.page.fleet} wide>
      <dl class="stats">
        <Stat label={hub.fleet.nodes} value={String(all.length)} />
        <Stat label={hub.fleet.states.online} value={String(online)} />
        <Stat label={hub.fleet.states.armed} value={String(armed)} tone={armed === 0 ? undefined : 'warn'} />
        <Stat label={hub.fleet.states.alarm} value={String(alarm)} tone={alarm === 0 ? undefined : 'bad'} />
      </dl>
    </Card>
  );
}

function Choice({
  selection,
  onChange,
}: {
  selection: Selection;
  onChange: (selection: Selection) => void;
}): JSX.Element {
  return (
    <div class={accessCss['filters']}>
      <Field label={hub.fleet.search}>
        {(ids) => (
          <input
            {...ids}
            type="search"
            value={selection.search}
            onInput={(event) => onChange({ ...selection, search: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label={hub.fleet.state}>
        {(ids) => (
          <select
            {...ids}
            value={selection.state}
            onChange={({ currentTarget: { value } }) =>
              onChange({ ...selection, state: STATES.find((each) => each === value) ?? selection.state })
            }
          >
            {STATES.map((each) => (
              <option key={each} value={each}>
                {hub.fleet.states[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={hub.fleet.order}>
        {(ids) => (
          <select
            {...ids}
            value={selection.order}
            onChange={({ currentTarget: { value } }) =>
              onChange({ ...selection, order: ORDERS.find((each) => each === value) ?? selection.order })
            }
          >
            {ORDERS.map((each) => (
              <option key={each} value={each}>
                {hub.fleet.orders[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}
