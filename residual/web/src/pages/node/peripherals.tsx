import { RefreshCw, Usb } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { wordFor } from '../../language/words.ts';
import css from '../../network/node.module.css';
import { moment } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Note } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

type List = Answer<'peripherals.get'>;
type Peripheral = List['peripherals'][number];

const EVERY_MS = 5000;

/** What is connected to the node, who uses it, and what was unplugged. */
export function Peripherals(): JSX.Element {
  const asked = useAsk('peripherals.get', {}, EVERY_MS);
  const { data, reload } = asked;
  const scan = useAct();
  const text = t.node.peripherals;
  const look = (): void => {
    void scan.run(async () => {
      await call('peripherals.scan.post', { body: {} });
      reload();
    });
  };
  const gone = data?.peripherals.filter(({ connected }) => !connected) ?? [];
  return (
    <Card
      title={text.title}
      icon={Usb}
      actions={
        <Button
          kind="quiet"
          icon={RefreshCw}
          row="peripherals.scan.post"
          busy={scan.busy}
          aria-label={text.scan}
          onClick={look}
        />
      }
    >
      <Asked of={asked} />
      <ErrorNote error={scan.error} />
      {data?.sources
        .filter(({ ok }) => !ok)
        .map(({ name, error: why }) => (
          <Note key={name} tone="warn">
            {text.failed({ source: wordFor(text.sources, name) ?? name, why: why ?? t.app.none })}
          </Note>
        ))}
      {data?.count === 0 ? <p>{text.nothing}</p> : null}
      <ul class={css['items']}>
        {data?.peripherals
          .filter(({ connected }) => connected)
          .map((each) => (
            <Item key={each.id} item={each} />
          ))}
      </ul>
      {gone.length === 0 ? null : <Gone items={gone} />}
    </Card>
  );
}

function Item({ item }: { item: Peripheral }): JSX.Element {
  const { name, kind, device_paths: paths, driver, used_by: users, manifest } = item;
  const text = t.node.peripherals;
  const where = [paths.join(', '), driver === null ? '' : text.driver({ name: driver })].filter(
    (part) => part !== '',
  );
  return (
    <li>
      <div>
        <strong>{name}</strong> <Badge>{text.kinds[kind]}</Badge>{' '}
        {manifest === null ? null : <Badge tone="good">{manifest.display_name}</Badge>}
        {where.length === 0 ? null : <p class="hint">{where.join(' · ')}</p>}
        {paths.length === 0 ? null : <p class="hint">{usersOf(users)}</p>}
      </div>
    </li>
  );
}

function usersOf(users: Peripheral['used_by']): string {
  const text = t.node.peripherals;
  if (users === null) return text.usedByUnknown;
  if (users.length === 0) return text.usedByNobody;
  return text.usedBy({
    who: users.map(({ pid, process, ours }) => `${ours ?? process} (${pid})`).join(', '),
  });
}

function Gone({ items }: { items: readonly Peripheral[] }): JSX.Element {
  const [open, setOpen] = useState(false);
  const text = t.node.peripherals;
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text.unplugged({ count: items.length })}</summary>
      <ul class={css['items']}>
        {items.map(({ id, name, last_seen: seen }) => (
          <li key={id}>
            <div>
              <strong>{name}</strong>
              <p class="hint">{text.lastSeen({ when: moment(seen) })}</p>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
