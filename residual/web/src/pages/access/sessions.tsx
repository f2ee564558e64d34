import { Users } from 'lucide';
import type { JSX } from 'preact';
import { call } from '../../api/client.ts';
import { lose } from '../../api/credential.ts';
import { denied, may } from '../../api/node.ts';
import { moment } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, ErrorNote, Note } from '../../parts/parts.tsx';
import { useAct, useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import css from './access.module.css';

/** The people who are signed in with the PIN or the key. */
export function Sessions(): JSX.Element {
  const asked = useAsk('dashboard.sessions.get', {}, 10_000);
  const { data, reload } = asked;
  const act = useAct();
  const text = t.access.sessions;
  const closed = denied('dashboard.sessions.get');
  const end = (id: string, current: boolean): void => {
    void act.run(async () => {
      await call('dashboard.sessions.id.delete', { params: { id } });
      if (current) lose(null);
      else reload();
    });
  };
  return (
    <Card title={text.title} icon={Users} wide>
      {closed === null ? <p class="hint">{text.hint}</p> : <Note>{t.denied[closed]}</Note>}
      <Asked of={asked} />
      <ErrorNote error={act.error} />
      {data?.sessions.length === 0 ? <p>{text.none}</p> : null}
      <ul class={css['list']}>
        {data?.sessions.map((session) => (
          <li key={session.id}>
            <div>
              <strong>{session.device ?? text.unknownDevice}</strong> {session.peer}{' '}
              {session.current ? <Badge tone="good">{text.current}</Badge> : null}
              <p class="hint">
                {text.times({
                  since: moment(session.created_at * 1000),
                  seen: session.last_seen_at === null ? t.app.none : moment(session.last_seen_at * 1000),
                  until: moment(session.expires_at * 1000),
                })}
              </p>
            </div>
            {may('dashboard.sessions.id.delete') ? (
              <Button
                busy={act.busy}
                aria-label={session.current ? undefined : text.endOne({ who: session.device ?? session.id })}
                onClick={() => end(session.id, session.current)}
              >
                {session.current ? t.app.signOut : text.end}
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
    </Card>
  );
}
