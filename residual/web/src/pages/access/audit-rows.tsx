import { CircleCheck, CircleHelp, ShieldX } from 'lucide';
import type { JSX } from 'preact';
import { isoTime, moment } from '../../parts/format.ts';
import { Icon } from '../../parts/parts.tsx';
import { type AskState, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { useNames, whatWords, whoWords } from './audit-sentences.ts';

/** Records that are read at once. */
export const AUDIT_PAGE = 500;

interface AuditEntry {
  readonly seq: number;
  readonly timestamp: string;
  readonly who: string;
  readonly peer: string;
  readonly what: string;
  /** As it was recorded, for whoever looks for a route or an error by its name. */
  readonly route: string;
  readonly outcome: string;
}

/** The newest of the audit, without what only announces a change: its outcome follows. */
export function useAudit(everyMs: number): AskState<readonly AuditEntry[]> {
  const asked = useAsk('logs.get', { query: { service: 'audit', limit: AUDIT_PAGE } }, everyMs);
  const names = useNames(everyMs);
  const entries =
    asked.data?.entries
      .map(({ seq, timestamp, fields }) => {
        const outcome = textOf(fields, 'outcome');
        const route = textOf(fields, 'route');
        return {
          seq,
          timestamp,
          who: whoWords(textOf(fields, 'principal'), textOf(fields, 'principal_kind'), names),
          peer: textOf(fields, 'peer'),
          what: whatWords(route, textOf(fields, 'changed'), kindOf(outcome)),
          route,
          outcome,
        };
      })
      .filter(({ outcome }) => outcome !== 'announced') ?? null;
  return { ...asked, data: entries };
}

/** Unknown: svc-control was killed while it was under way. */
export function kindOf(outcome: string): 'done' | 'refused' | 'unknown' {
  return outcome === 'done' || outcome === 'unknown' ? outcome : 'refused';
}

const CLASSES = { done: css['done'], refused: css['refused'], unknown: css['unknown'] } as const;
const ICONS = { done: CircleCheck, refused: ShieldX, unknown: CircleHelp } as const;

/** One line a record: whether it was done, what, who and when. @param isBrief without the address and the route of each */
export function AuditRows({
  entries,
  isBrief = false,
}: {
  readonly entries: readonly AuditEntry[];
  readonly isBrief?: boolean;
}): JSX.Element {
  return (
    <ul class={`${css['records']} ${isBrief ? css['brief'] : ''}`} aria-label={t.access.audit.title}>
      {entries.map(({ seq, timestamp, who, peer, what, route, outcome }) => (
        <li key={seq} class={CLASSES[kindOf(outcome)]}>
          <Icon of={ICONS[kindOf(outcome)]} />
          <div>
            <strong>{what}</strong>
            <small>
              {[who, ...(isBrief ? [] : [peer, route, outcome === 'done' ? '' : outcome])]
                .filter(Boolean)
                .join(' · ')}
            </small>
          </div>
          <time dateTime={isoTime(timestamp)}>{moment(timestamp)}</time>
        </li>
      ))}
    </ul>
  );
}

function textOf(fields: Readonly<Record<string, unknown>> | null, name: string): string {
  const value = fields?.[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
