import { ArrowRight, MessageSquareText } from 'lucide';
import type { JSX } from 'preact';
import { clock, isoTime } from '../../../parts/format.ts';
import { Card, Icon } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { sectionHref } from '../../../vehicle/section.ts';
import { Unheard } from '../../../vehicle/unheard.tsx';
import { messages } from '../logs/messages.ts';
import css from './condition.module.css';

const SHOWN = 5;
const WARNING = 4;

/** The newest words of the vehicle. */
export function Latest(): JSX.Element {
  const newest = messages.value.slice(-SHOWN).toReversed();
  return (
    <Card
      title={t.vehicle.messages.title}
      icon={MessageSquareText}
      actions={
        <a class="button quiet" href={sectionHref('logs', 'messages')}>
          {t.vehicle.overview.allMessages} <Icon of={ArrowRight} />
        </a>
      }
    >
      {newest.length === 0 ? <Unheard text={t.vehicle.messages.empty} /> : null}
      <ul class={css['latest']}>
        {newest.map(({ at, severity, text }) => (
          <li key={`${at} ${text}`} class={severity <= WARNING ? css['loud'] : ''}>
            <time dateTime={isoTime(at)}>{isoTime(at) === undefined ? '' : clock(Date.parse(at))}</time>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
