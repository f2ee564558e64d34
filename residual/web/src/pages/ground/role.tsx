import { Eraser, Waypoints } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { lose } from '../../api/credential.ts';
import { denied, info } from '../../api/node.ts';
import type { Answer } from '../../api/rows.ts';
import { Closed } from '../../parts/closed.tsx';
import { forced, GuardNote, useGuarded } from '../../parts/guarded.tsx';
import { Asked, Button, Card, Field, HoldButton, Note, Segmented, Unfold } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';

const HOLD_MS = 3000;

/** What this ground station is among several. */
export function Role(): JSX.Element {
  const asked = useAsk('ground-station.role.get');
  const { data, reload } = asked;
  const act = useGuarded();
  const text = t.ground.role;
  return (
    <Card title={text.title} icon={Waypoints}>
      <Asked of={asked} />
      {data === null ? null : (
        <>
          <p>{text.is({ role: text.roles[data.role] })}</p>
          {data.configured === data.role ? null : (
            <Note>{text.configured({ role: text.roles[data.configured] })}</Note>
          )}
          {data.missing === null ? null : <p class="hint">{text.missing({ what: data.missing })}</p>}
          {data.supported.length < 2 ? null : (
            <Segmented
              label={text.title}
              options={data.supported.map((id) => ({ id, name: text.roles[id] }))}
              chosen={data.configured}
              onChoose={(role) =>
                void act.run(async (force) => {
                  await call('ground-station.role.put', { body: forced(force, { role }) });
                  reload();
                })
              }
            />
          )}
          <GuardNote act={act} />
        </>
      )}
    </Card>
  );
}

/** Back to the first day; asked for by the node's own id, so that nobody does it in passing. */
export function FactoryReset(): JSX.Element {
  const [typed, setTyped] = useState('');
  const [done, setDone] = useState<Answer<'ground-station.factory-reset.post'> | null>(null);
  const act = useGuarded();
  const text = t.ground.reset;
  const id = info.value?.device_id ?? '';
  const closed = denied('ground-station.factory-reset.post');
  const reset = (): void => {
    void act.run(async (force) => {
      setDone(await call('ground-station.factory-reset.post', { body: forced(force, { confirm: typed }) }));
    });
  };
  return (
    <Card title={text.title} icon={Eraser}>
      <Unfold title={text.open}>
        <p class="hint">{text.hint}</p>
        {closed === null ? (
          <>
            <Field label={text.type({ id })}>
              {(ids) => (
                <input
                  {...ids}
                  value={typed}
                  autocomplete="off"
                  spellcheck={false}
                  onInput={(event) => setTyped(event.currentTarget.value.trim())}
                />
              )}
            </Field>
            <HoldButton
              kind="danger"
              holdMs={HOLD_MS}
              busy={act.busy}
              why={typed === id && id !== '' ? null : text.typeFirst}
              onConfirm={reset}
            >
              {text.reset}
            </HoldButton>
          </>
        ) : (
          <Closed why={closed} />
        )}
        <GuardNote act={act} />
      </Unfold>
      {done === null ? null : (
        <Note tone="warn">
          <p>{text.done}</p>
          <p>{text.kept({ what: done.kept.join(', ') })}</p>
          <Button
            onClick={() => {
              lose(null);
              location.reload();
            }}
          >
            {text.reload}
          </Button>
        </Note>
      )}
    </Card>
  );
}
