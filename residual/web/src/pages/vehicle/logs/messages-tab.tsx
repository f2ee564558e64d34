import { MessageSquareText } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { moment } from '../../../parts/format.ts';
import { Badge, Card, Field } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { Unheard } from '../../../vehicle/unheard.tsx';
import page from '../vehicle.module.css';
import css from './logs.module.css';
import { messages } from './messages.ts';

const ALL = 7;
const NOTICE = 5;
const WARNING = 4;
const ERROR = 3;

/** The vehicle's own words, the newest first. */
export function MessagesTab(): JSX.Element {
  const [most, setMost] = useState(ALL);
  const [search, setSearch] = useState('');
  const found = messages.value.filter(
    ({ severity, text }) => severity <= most && text.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <Card wide title={t.vehicle.messages.title} icon={MessageSquareText}>
      <div class={page['filters']}>
        <Field label={t.vehicle.messages.severity}>
          {(ids) => (
            <select {...ids} value={most} onChange={(event) => setMost(Number(event.currentTarget.value))}>
              <option value={ALL}>{t.vehicle.messages.all}</option>
              <option value={NOTICE}>{t.vehicle.messages.notices}</option>
              <option value={WARNING}>{t.vehicle.messages.warnings}</option>
              <option value={ERROR}>{t.vehicle.messages.errors}</option>
            </select>
          )}
        </Field>
        <Field label={t.vehicle.messages.search}>
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          )}
        </Field>
      </div>
      {found.length === 0 ? (
        <Unheard text={messages.value.length === 0 ? t.vehicle.messages.empty : t.vehicle.messages.none} />
      ) : (
        <ul class={css['messages']}>
          {found.toReversed().map(({ at, severity, text }) => (
            <li key={`${at} ${text}`}>
              <span class="hint">{moment(at)}</span>{' '}
              <Badge tone={severity <= ERROR ? 'bad' : severity <= WARNING ? 'warn' : 'info'}>
                {t.vehicle.messages.names[severity] ?? String(severity)}
              </Badge>{' '}
              <span>{text}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
