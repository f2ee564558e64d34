import { CircleCheck, LoaderCircle, UserPlus } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { moment } from '../../parts/format.ts';
import { Button, Copyable, ErrorNote, Icon, Note } from '../../parts/parts.tsx';
import { Qr } from '../../parts/qr.tsx';
import { useAct } from '../../parts/use-ask.ts';
import type { Code } from '../answers.ts';
import { ask, hubNow } from '../client.ts';
import { titleOf } from '../fleet/fleet.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { useHub } from '../use-hub.ts';
import css from './hub-office.module.css';

interface ShownCode {
  readonly code: Code;
  /** By the hub's clock, ms since 1970; rather late than early by a second, which the hub's answer took. */
  readonly at: number;
}
const NEWEST = '/v1/nodes?order=newest&limit=10';
const LOOK_MS = 1500;
/** The hub's clock is known to a second. */
const CLOCK_MS = 2000;

/** How a drone joins, in three steps: a code that is shown once, what to do with it there, and that it has come. */
export function Enrol(): JSX.Element {
  const [made, setMade] = useState<ShownCode | null>(null);
  const act = useAct();
  const text = hub.enrol;
  const make = async (): Promise<void> => {
    const at = hubNow() - CLOCK_MS;
    setMade({ code: await ask<Code>('/v1/codes', { method: 'POST', body: {} }), at });
  };
  const { data: newest } = useHub<{ readonly nodes: readonly NodeEntry[] }>(NEWEST, LOOK_MS);
  const joined =
    made === null
      ? undefined
      : newest?.nodes.find(({ enrolled_at: since, online }) => since >= made.at && online);
  const at = made === null ? 0 : joined === undefined ? 1 : 2;
  return (
    <div class={css['guide']}>
      <ol>
        <Step number={1} at={at} isDone={made !== null}>
          <p class="hint">{text.hint}</p>
          <ErrorNote error={act.error} />
          <Button
            kind={made === null ? 'primary' : 'plain'}
            icon={UserPlus}
            busy={act.busy}
            onClick={() => void act.run(make)}
          >
            {made === null ? text.make : text.another}
          </Button>
        </Step>
        <Step number={2} at={at} isDone={joined !== undefined}>
          {made === null ? (
            <p class="hint">{text.there}</p>
          ) : joined === undefined ? (
            <AtTheDrone code={made.code} />
          ) : null}
        </Step>
        <Step number={3} at={at} isDone={joined !== undefined}>
          <div role="status">
            {joined !== undefined ? (
              <p class={css['joined']}>
                <Icon of={CircleCheck} />
                <strong>{text.joined({ name: titleOf(joined) })}</strong>
                <a class="button primary" href={hrefOf('fleet', joined.id)}>
                  {text.open}
                </a>
              </p>
            ) : made === null ? (
              <p class="hint">{text.notYet}</p>
            ) : (
              <p class={css['waiting']}>
                <Icon of={LoaderCircle} />
                <span>
                  {text.waiting}
                  <small>{text.waitingHint}</small>
                </span>
              </p>
            )}
          </div>
        </Step>
      </ol>
    </div>
  );
}

function Step({
  number,
  at,
  isDone,
  children,
}: {
  readonly number: 1 | 2 | 3;
  /** From 0: the one that is to be done now. */
  readonly at: number;
  readonly isDone: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  const isNow = at === number - 1;
  return (
    <li
      class={`${isNow ? css['now'] : ''} ${isDone ? css['done'] : ''}`}
      aria-current={isNow ? 'step' : undefined}
    >
      <span class={css['number']} aria-hidden="true">
        {isDone ? <Icon of={CircleCheck} /> : number}
      </span>
      <div>
        <h2>{hub.enrol.steps[number - 1]}</h2>
        {children}
      </div>
    </li>
  );
}

export function AtTheDrone({ code: { code, expires_at: until } }: { readonly code: Code }): JSX.Element {
  const text = hub.enrol;
  return (
    <>
      <Note tone="warn">{text.once({ until: moment(until) })}</Note>
      {location.protocol === 'https:' ? null : <Note>{text.local}</Note>}
      <div class={css['ways']}>
        <div>
          <h3>{text.onPage}</h3>
          <p class="hint">{text.onPageHint}</p>
          <p class={css['label']}>{text.code}</p>
          <Copyable label={text.code} text={code} />
          <p class={css['label']}>{text.hub}</p>
          <Copyable label={text.hub} text={location.origin} />
          <h3>{text.onShell}</h3>
          <Copyable label={text.command} text={`svc fleet enroll ${location.origin} ${code}`} />
        </div>
        <Qr text={code} label={text.qr} />
      </div>
    </>
  );
}
