import { CircleCheck, CircleDashed, KeyRound } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { Refused } from '../../api/client.ts';
import { Button, Card, Copyable, ErrorNote, HoldButton, Icon, Note } from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { me } from '../client.ts';
import type { Facts } from '../fly/facts.ts';
import { ensureKey, forgetKey, lacksKeys } from '../fly/keys.ts';
import { hub } from '../hub-words.ts';
import css from './hub-node.module.css';

/** What a name in `fleet.operators` may be. */
const NOT_A_NAME = /[^A-Za-z0-9._-]+/g;

/** The key of this browser that signs what flies: made here, listed once at the node by a person who is there. */
export function OperatorKey({
  entry,
  facts: { key, listedAs, scopes, reload },
}: {
  readonly entry: NodeEntry;
  readonly facts: Facts;
}): JSX.Element {
  const act = useAct();
  const text = hub.keys;
  const lack = lacksKeys();
  const make = async (): Promise<void> => {
    await ensureKey('operator').catch((error: unknown) => {
      const words =
        error instanceof DOMException && error.name !== 'NotSupportedError' ? error.message : null;
      throw new Refused(0, 'E_NOT_IMPLEMENTED', words ?? text.lacks.ed25519);
    });
    reload();
  };
  const forget = async (): Promise<void> => {
    await forgetKey('operator');
    reload();
  };
  const name = (me.value?.name ?? '')
    .replaceAll(NOT_A_NAME, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 32);
  const isListed = typeof listedAs === 'string';
  const flies = scopes?.includes('flight') === true;
  return (
    <Card title={text.title} icon={KeyRound}>
      <ErrorNote error={act.error} />
      <ol class={css['ways-to-fly']}>
        <Step of="rights" isDone={me.value?.scopes.includes('flight') === true}>
          <p class="hint">{text.rightsHint}</p>
        </Step>
        <Step of="key" isDone={key !== null}>
          <p class="hint">{text.hint}</p>
          {lack === null ? null : <Note tone="warn">{text.lacks[lack]}</Note>}
          <Button
            kind="primary"
            why={lack === null ? null : text.lacks[lack]}
            busy={act.busy}
            onClick={() => void act.run(make)}
          >
            {text.make}
          </Button>
        </Step>
        <Step of="listed" isDone={isListed}>
          {key === null ? null : (
            <>
              <p class="hint">{text.enrol}</p>
              <Copyable
                label={text.command}
                text={`svc fleet operators add ${name === '' ? 'NAME' : name} ${key.jwk.x} && svc services restart svc-control`}
              />
              <Qr text={key.jwk.x} label={text.qr} />
            </>
          )}
        </Step>
        <Step of="scope" isDone={flies}>
          {scopes === null ? null : (
            <>
              <p class="hint">{hub.fly.why.noFlight}</p>
              <Copyable
                label={text.scopes}
                text={`svc config set fleet.scopes ${[...scopes, 'flight'].join()} && svc services restart svc-control`}
              />
            </>
          )}
        </Step>
      </ol>
      {key === null ? null : (
        <>
          {isListed ? <Note tone="good">{text.listed({ name: listedAs })}</Note> : null}
          <Copyable label={text.key} text={key.jwk.x} />
          <HoldButton kind="danger" busy={act.busy} onConfirm={() => void act.run(forget)}>
            {text.forget}
          </HoldButton>
          <p class="hint">{text.forgetHint({ id: entry.id })}</p>
        </>
      )}
    </Card>
  );
}

/** What flying from here takes, one after the other; how to get there stands below what is still missing. */
function Step({
  of,
  isDone,
  children,
}: {
  readonly of: keyof typeof hub.keys.steps;
  readonly isDone: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <li class={isDone ? 'done' : ''}>
      <Icon of={isDone ? CircleCheck : CircleDashed} />
      <div>
        <strong>{hub.keys.steps[of]}</strong>
        {isDone ? null : children}
      </div>
    </li>
  );
}
