import { ScrollText, ShieldCheck } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { Asked, Button, Card, EmptyState, ErrorNote, Field, Note } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';
import { AUDIT_PAGE, AuditRows, kindOf, useAudit } from './audit-rows.tsx';

const EVERY_MS = 5000;
const OUTCOMES = ['', 'done', 'refused', 'unknown'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Who did what, and who was refused. */
export function Audit(): JSX.Element {
  const [who, setWho] = useState('');
  const [what, setWhat] = useState('');
  const [outcome, setOutcome] = useState<Outcome>('');
  const asked = useAudit(EVERY_MS);
  const text = t.access.audit;
  const has = (value: string, wanted: string): boolean => value.toLowerCase().includes(wanted.toLowerCase());
  const shown = (asked.data ?? [])
    .filter((entry) => outcome === '' || kindOf(entry.outcome) === outcome)
    .filter((entry) => has(`${entry.who} ${entry.peer}`, who) && has(`${entry.what} ${entry.route}`, what));
  return (
    <>
      <Card title={text.title} icon={ScrollText} wide>
        <div class={css['filters']}>
          <Field label={text.who}>
            {(ids) => (
              <input
                {...ids}
                type="search"
                value={who}
                onInput={(event) => setWho(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={text.what}>
            {(ids) => (
              <input
                {...ids}
                type="search"
                value={what}
                onInput={(event) => setWhat(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={text.outcome}>
            {(ids) => (
              <select
                {...ids}
                value={outcome}
                onChange={(event) =>
                  setOutcome(OUTCOMES.find((each) => each === event.currentTarget.value) ?? '')
                }
              >
                {OUTCOMES.map((each) => (
                  <option key={each} value={each}>
                    {text.outcomes[each === '' ? 'all' : each]}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <p class="hint">{text.hint({ n: AUDIT_PAGE })}</p>
        <Asked of={asked} empty={() => (shown.length === 0 ? <EmptyState text={text.none} /> : null)} />
        <AuditRows entries={shown} />
      </Card>
      <Verify />
    </>
  );
}

function Verify(): JSX.Element {
  const act = useAct();
  const [verdict, setVerdict] = useState<Answer<'audit.verify.get'> | null>(null);
  const text = t.access.audit;
  const check = async (): Promise<void> => setVerdict(await call('audit.verify.get'));
  return (
    <Card
      title={text.chain}
      icon={ShieldCheck}
      wide
      actions={
        <Button row="audit.verify.get" explain busy={act.busy} onClick={() => void act.run(check)}>
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
