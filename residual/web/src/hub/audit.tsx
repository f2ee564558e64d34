import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { moment } from '../parts/format.ts';
import { Badge, Button, Card, ErrorNote, Note } from '../parts/parts.tsx';
import { useAct } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import type { Audited, AuditVerdict } from './answers.ts';
import { ask } from './client.ts';
import { useHub } from './use-hub.ts';

const EVERY_MS = 5000;

/** Who did what at the hub, and whether the record of it is whole. */
export function Audit(): JSX.Element {
  const { data, error, reload } = useHub<Audited>('/v1/audit', EVERY_MS);
  const text = t.access.audit;
  // Each change is announced before it runs; its outcome follows as another entry.
  const shown = data?.records.filter(({ outcome }) => outcome !== 'announced');
  return (
    <div class="page">
      <Verify />
      <Card title={text.title} wide>
        <ErrorNote error={error} onRetry={reload} />
        {shown?.length === 0 ? <p>{text.none}</p> : null}
        <div class="scroll" tabIndex={0} role="region" aria-label={text.title}>
          <table>
            <thead>
              <tr>
                {[text.when, text.who, text.what, text.outcome].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown?.map(({ seq, time, peer, principal, route, changed, outcome }) => (
                <tr key={seq}>
                  <td>{moment(time)}</td>
                  <td>
                    {principal || text.nobody} <small>{peer}</small>
                  </td>
                  <td>{`${route ?? ''} ${changed ?? ''}`.trim()}</td>
                  <td>
                    <Badge tone={outcome === 'done' ? 'good' : 'warn'}>{outcome}</Badge>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    </div>
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
                {text.file(name, records)} {broken ?? ''}
              </li>
            ))}
          </ul>
        </Note>
      )}
    </Card>
  );
}
