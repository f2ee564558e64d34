import { History } from 'lucide';
import type { JSX } from 'preact';
import { clock, day, isoTime } from '../../parts/format.ts';
import { Asked, Card, EmptyState, Icon } from '../../parts/parts.tsx';
import type { Events } from '../answers.ts';
import { hub } from '../hub-words.ts';
import { useHub } from '../use-hub.ts';
import { eventWords } from './event-words.ts';
import css from './hub-node.module.css';

const EVENTS_MS = 2000;
type Happened = Events['events'][number];

/** What happened at a node, newest first, day by day. The time of each is that of the node's clock. */
export function Timeline({ id }: { readonly id: string }): JSX.Element {
  const asked = useHub<Events>(`/v1/events?node=${encodeURIComponent(id)}`, EVENTS_MS);
  const { data } = asked;
  const text = hub.node;
  const shown = data === null ? [] : withoutRuns(data.events).toReversed();
  return (
    <Card title={text.history} icon={History}>
      <Asked
        of={asked}
        empty={({ events }) =>
          events.length === 0 ? <EmptyState icon={History} text={text.noEvents} /> : null
        }
      />
      <div class={css['events']} role="log" aria-label={text.history} aria-live="off" tabIndex={0}>
        <ol class={css['timeline']}>
          {shown.map((event, at) => {
            const today = day(event.at);
            const { icon, tone, text: said } = eventWords(event);
            const before = shown[at - 1];
            return (
              <li key={event.id} class={tone}>
                {before !== undefined && day(before.at) === today ? null : <h3>{today}</h3>}
                <Icon of={icon} />
                <span>{said}</span>
                <time dateTime={isoTime(event.at)}>{clock(event.at, true)}</time>
              </li>
            );
          })}
        </ol>
      </div>
    </Card>
  );
}

/** What a node kept of its telemetry while the hub was away comes as one event a sample: one line for all of a run. */
function withoutRuns(events: readonly Happened[]): readonly Happened[] {
  const kept: Happened[] = [];
  for (const event of events) {
    const last = kept.at(-1);
    if (event.kind !== 'telemetry' || last?.kind !== 'telemetry') {
      kept.push(event.kind === 'telemetry' ? { ...event, detail: { count: 1 } } : event);
      continue;
    }
    kept[kept.length - 1] = { ...event, detail: { count: Number(last.detail['count']) + 1 } };
  }
  return kept;
}
