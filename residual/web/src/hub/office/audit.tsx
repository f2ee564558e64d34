import { CircleCheck, ScrollText, ShieldCheck, ShieldX } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { memberOf } from '../../../../../shared/member.ts';
import accessCss from '../../pages/access/access.module.css';
import { routeOf, whatWords } from '../../pages/access/audit-sentences.ts';
import { clock, day, isoTime } from '../../parts/format.ts';
import { Asked, Button, Card, EmptyState, ErrorNote, Icon, Note, Segmented } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import type { Audited, AuditVerdict } from '../answers.ts';
import { ask } from '../client.ts';
import { namedIn, nodeName } from '../fleet/node-name.ts';
import { hub } from '../hub-words.ts';
import { SearchBox } from '../search-box.tsx';
import { useHub } from '../use-hub.ts';
import css from './hub-office.module.css';

const EVERY_MS = 5000;
const KINDS = ['all', 'done', 'refused'] as const;
type Kind = (typeof KINDS)[number];
type Record = Audited['records'][number];

/** `carried`: a call was handed on, and the node has answered. */
const DONE: ReadonlySet<string> = new Set(['done', 'carried']);

/** Who did what at the hub, and whether the record of it is whole. */
export function Audit(): JSX.Element {
  const asked = useHub<Audited>('/v1/audit', EVERY_MS);
  const { data } = asked;
  const [search, setSearch] = useState('');
  const [kind, setKind] = useState<Kind>('all');
  const text = t.access.audit;
  const wanted = search.trim().toLowerCase();
  const names = { all: text.outcomes.all, done: hub.audit.done, refused: hub.audit.refused };
  // Each change is announced before it runs; its outcome follows as another entry.
  const shown = (data?.records ?? [])
    .filter(({ outcome }) => outcome !== 'announced')
    .filter(({ outcome }) => kind === 'all' || DONE.has(outcome) === (kind === 'done'))
    .filter((record) =>
      `${whoOf(record)} ${record.principal} ${record.peer} ${whatOf(record)} ${record.route ?? ''}`
        .toLowerCase()
        .includes(wanted),
    );
  return (
    <div class={css['audit']}>
      <Card title={text.title} icon={ScrollText}>
        <div class={css['filters']}>
          <SearchBox name={hub.audit.search} value={search} onSearch={setSearch} />
          <Segmented
            label={text.outcome}
            options={KINDS.map((id) => ({ id, name: names[id] }))}
            chosen={kind}
            onChoose={setKind}
          />
        </div>
        <p class="hint">{hub.audit.hint}</p>
        <Asked of={asked} />
        {data !== null && shown.length === 0 ? <EmptyState icon={ScrollText} text={text.none} /> : null}
        <ul class={`${accessCss['records']} ${css['records']}`} aria-label={text.title}>
          {shown.map((record, at) => {
            const before = shown[at - 1];
            const today = day(record.time);
            return (
              <Line
                key={record.seq}
                record={record}
                heading={before !== undefined && day(before.time) === today ? null : today}
              />
            );
          })}
        </ul>
      </Card>
      <Verify />
    </div>
  );
}

/** In words where there are some, with what was changed; what a node was called for as the node's own page says it. */
function whatOf({ route, changed }: Record): string {
  const [node = '', method = '', path = ''] = changed?.split(' ') ?? [];
  const called = route === 'nodes.id.calls.post' ? routeOf(`${method} ${path}`) : null;
  if (called !== null) {
    const named = called.endsWith(path) ? '' : (path.split('/').at(-1) ?? '');
    return `${nodeName(node)}: ${whatWords(called, named, 'done')}`;
  }
  const words = memberOf(hub.audit.what, route ?? '');
  const named = changed === undefined ? null : namedIn(changed);
  return [typeof words === 'string' ? words : route, named].filter((part) => part != null).join(': ');
}

/** A person or a program by its name, a node by what it is called. */
function whoOf({ principal, principal_name: name }: Record): string {
  return name ?? (principal === '' ? t.access.audit.nobody : nodeName(principal));
}

function Line({
  record,
  heading,
}: {
  readonly record: Record;
  readonly heading: string | null;
}): JSX.Element {
  const { time, peer, principal, route, outcome } = record;
  const who = whoOf(record);
  const isDone = DONE.has(outcome);
  return (
    <>
      {heading === null ? null : (
        <li class={css['day']}>
          <h3>{heading}</h3>
        </li>
      )}
      <li class={accessCss[isDone ? 'done' : 'refused']}>
        <Icon of={isDone ? CircleCheck : ShieldX} />
        <div>
          <strong>{isDone ? whatOf(record) : `${hub.audit.refused}: ${whatOf(record)}`}</strong>
          <small title={principal}>
            {who} {peer} · {route} · {outcome}
          </small>
        </div>
        <time dateTime={isoTime(time)}>{clock(Date.parse(time), true)}</time>
      </li>
    </>
  );
}

function Verify(): JSX.Element {
  const act = useAct();
  const [verdict, setVerdict] = useState<AuditVerdict | null>(null);
  const text = t.access.audit;
  const check = async (): Promise<void> => setVerdict(await ask<AuditVerdict>('/v1/audit/verify'));
  return (
    <Card
      title={text.chain}
      icon={ShieldCheck}
      actions={
        <Button busy={act.busy} onClick={() => void act.run(check)}>
          {act.busy ? text.checking : text.check}
        </Button>
      }
    >
      <p class="hint">{text.chainHint}</p>
      <ErrorNote error={act.error} />
      {verdict === null ? null : (
        <Note tone={verdict.ok ? 'good' : 'bad'}>
          <p>{verdict.ok ? text.whole : text.broken}</p>
          <ul>
            {verdict.files.map(({ name, records, broken }) => (
              <li key={name}>
                {text.file({ name, records })} {broken ?? ''}
              </li>
            ))}
          </ul>
        </Note>
      )}
    </Card>
  );
}
