import type { JSX } from 'preact';
import { clientId } from '../../api/credential.ts';
import { denied } from '../../api/node.ts';
import { moment } from '../../parts/format.ts';
import { Badge, Button, Card, ErrorNote, HoldButton, Note } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { claim, iAmPilot, pilot, release } from './pilot-in-command.ts';

/** Who flies. While somebody is pilot in command, others can only stop, land and return. */
export function Pilot(): JSX.Element {
  const act = useAct();
  const text = t.ground.pilot;
  const now = pilot.value;
  const mine = iAmPilot.value;
  const closed = denied('ground-station.pic.claim.post');
  const held = now?.claimed_by ?? null;
  return (
    <Card title={text.title}>
      {now === null ? <p>{t.app.loading}</p> : null}
      {now !== null && held === null ? <p>{text.nobody}</p> : null}
      {now !== null && held !== null ? (
        <>
          <p>
            <Badge tone={mine ? 'good' : 'warn'}>{mine ? text.you : held}</Badge>{' '}
            {now.by === null ? '' : text.by[now.by]}
          </p>
          <p class="hint">{text.since(moment(now.claimed_at))}</p>
        </>
      ) : null}
      {closed === null ? (
        <div class="row">
          {mine ? (
            <Button busy={act.busy} onClick={() => void act.run(release)}>
              {text.release}
            </Button>
          ) : held === null ? (
            <Button
              kind="primary"
              busy={act.busy}
              why={now === null ? t.app.loading : null}
              onClick={() => void act.run(async () => claim(false))}
            >
              {text.claim}
            </Button>
          ) : (
            <HoldButton kind="danger" busy={act.busy} onConfirm={() => void act.run(async () => claim(true))}>
              {text.takeOver}
            </HoldButton>
          )}
        </div>
      ) : (
        <Note>{t.denied[closed]}</Note>
      )}
      <ErrorNote error={act.error} />
      <p class="hint">{text.hint(clientId)}</p>
    </Card>
  );
}
