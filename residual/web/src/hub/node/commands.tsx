import { signal } from '@preact/signals';
import { PlaneTakeoff, PowerOff, RotateCw } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { now as clock } from '../../api/presence.ts';
import { GoThere, type Target } from '../../commands/go-there.tsx';
import { HeldOrder } from '../../commands/held-order.tsx';
import type { Commands as Given } from '../../commands/orders.ts';
import { ArmSlide, TakeOff } from '../../commands/take-off.tsx';
import { Button, Card, ErrorNote, Note, Unfold } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { type Facts, readiness } from '../fly/facts.ts';
import { liveOf } from '../fly/live.ts';
import { hub } from '../hub-words.ts';
import css from './hub-node.module.css';

/** Where the vehicle is to go, as it was tapped or typed; null: nowhere yet. */
export const target = signal<Target | null>(null);

/** What a person here can tell the vehicle besides what ends a flight: the operator's key signs it while a button is held, and not before. */
export function Commands({
  entry,
  facts,
  commands,
  none,
}: {
  readonly entry: NodeEntry;
  readonly facts: Facts;
  readonly commands: Given;
  /** Why nothing can be given; null: something can. */
  readonly none: string | null;
}): JSX.Element {
  void clock.value;
  const { body } = liveOf(entry.id);
  const { running, outcome } = commands;
  const { armed, phase, place, altitude } = seenIn(body);
  const [isGoing, setGoing] = useState(false);
  useEffect(() => {
    target.value = null;
  }, [entry.id]);
  const isUp = armed === true;
  return (
    <Card
      title={t.fly.actions}
      icon={PlaneTakeoff}
      actions={<Button kind="quiet" icon={RotateCw} aria-label={hub.fly.again} onClick={facts.reload} />}
    >
      {none === null ? null : <Note tone="warn">{none}</Note>}
      <ErrorNote error={facts.error} onRetry={facts.reload} />
      <div class="outcome" role={outcome?.tone === 'bad' ? 'alert' : 'status'}>
        {running !== null ? (
          <p class="note info">{t.fly.sending({ name: running })}</p>
        ) : outcome === null ? (
          none === null ? (
            <p class="hint">{hub.fly.hold}</p>
          ) : null
        ) : (
          <p class={`note ${outcome.tone}`}>{outcome.text}</p>
        )}
      </div>
      {isUp ? null : <Arming commands={commands} facts={facts} isDisarmed={armed === false} />}
      {phase === 'in_air' ? null : (
        <div class={css['order-list']}>
          <TakeOff commands={commands} arms={armed === false} />
          {isUp ? (
            <HeldOrder commands={commands} icon={PowerOff} name={t.fly.disarm} order={{ cmd: 'disarm' }} />
          ) : (
            <ArmSlide commands={commands} />
          )}
        </div>
      )}
      <Unfold title={t.fly.goto} open={isGoing || target.value !== null} onToggle={setGoing}>
        <GoThere
          commands={commands}
          target={target.value}
          onTarget={(next) => {
            target.value = next;
          }}
          from={place}
          height={altitude}
        />
      </Unfold>
      {facts.listedAs === null || facts.listedAs === undefined ? null : (
        <p class="hint">{hub.fly.signs({ name: facts.listedAs })}</p>
      )}
    </Card>
  );
}

/** Modes in which it would arm; a vehicle that is not armed does not move by them. */
function Arming({
  commands,
  facts,
  isDisarmed,
}: {
  readonly commands: Given;
  readonly facts: Facts;
  readonly isDisarmed: boolean;
}): JSX.Element | null {
  const help = isDisarmed ? (readiness(facts)?.help ?? []) : [];
  if (help.length === 0) return null;
  return (
    <div class={css['order-list']}>
      {help.map(({ cmd, args }) => (
        <HeldOrder
          key={args.join()}
          commands={commands}
          name={t.fly.switchTo({ mode: args.join(' ') })}
          order={{ cmd, args }}
        />
      ))}
    </div>
  );
}
