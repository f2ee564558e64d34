import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import type { Answer } from '../../api/rows.ts';
import { moment } from '../../parts/format.ts';
import { Badge, Button, Card, ErrorNote, Field, Note } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';

const EVERY_MS = 5000;
const PAGE = 500;
const OUTCOMES = ['', 'done', 'refused', 'unknown'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Who did what, and who was refused. */
export function Audit(): JSX.Element {
  const [who, setWho] = useState('');
  const [what, setWhat] = useState('');
  const [outcome, setOutcome] = useState<Outcome>('');
  const { data, error, reload } = useAsk('logs.get', { query: { service: 'audit', limit: PAGE } }, EVERY_MS);
  const text = t.access.audit;
  const has = (value: string, wanted: string): boolean => value.toLowerCase().includes(wanted.toLowerCase());
  const shown = (data?.entries ?? [])
    .map(({ seq, timestamp, fields }) => ({
      seq,
      timestamp,
      who: textOf(fields, 'principal') || text.nobody,
      peer: textOf(fields, 'peer'),
      what: `${textOf(fields, 'route')} ${textOf(fields, 'changed')}`.trim(),
      outcome: textOf(fields, 'outcome'),
    }))
    // Each change is announced before it runs; its outcome follows as another entry.
    .filter((entry) => entry.outcome !== 'announced')
    .filter((entry) => outcome === '' || kindOf(entry.outcome) === outcome)
    .filter((entry) => has(`${entry.who} ${entry.peer}`, who) && has(entry.what, what));
  return (
    <>
      <Verify />
      <Card title={text.title} wide>
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
        <ErrorNote error={error} onRetry={reload} />
        <p class="hint">{text.hint(PAGE)}</p>
        {data !== null && shown.length === 0 ? <p>{text.none}</p> : null}
        <div class="scroll" tabIndex={0} role="region" aria-label={text.title}>
          <table>
            <thead>
              <tr>
                <th scope="col">{text.when}</th>
                <th scope="col">{text.who}</th>
                <th scope="col">{text.what}</th>
                <th scope="col">{text.outcome}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((entry) => (
                <tr key={entry.seq}>
                  <td>{moment(entry.timestamp)}</td>
                  <td>
                    {entry.who} <small>{entry.peer}</small>
                  </td>
                  <td>{entry.what}</td>
                  <td>
                    <Badge tone={entry.outcome === 'done' ? 'good' : 'warn'}>{entry.outcome}</Badge>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    </>
  );
}

/** Unknown: svc-control was killed while it was under way. */
function kindOf(outcome: string): Outcome {
  return outcome === 'done' || outcome === 'unknown' ? outcome : 'refused';
}

function textOf(fields: Readonly<Record<string, unknown>> | null, name: string): string {
  const value = fields?.[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function Verify(): JSX.Element {
  const act = useAct();
  const [verdict, setVerdict] = useState<Answer<'audit.verify.get'> | null>(null);
  const text = t.access.audit;
  const check = async (): Promise<void> => setVerdict(await call('audit.verify.get'));
  return (
    <Card
      title={text.chain}
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
                {text.file(name, records)} {broken ?? ''}
              </li>
            ))}
          </ul>
        </Note>
      )}
    </Card>
  );
}
