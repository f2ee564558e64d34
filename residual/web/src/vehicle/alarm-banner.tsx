import { useComputed } from '@preact/signals';
import { OctagonAlert, TriangleAlert, X } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import type { Answer } from '../api/rows.ts';
import { last } from '../api/telemetry.ts';
import { place } from '../app/route.ts';
import { refusedText } from '../commands/refused-text.ts';
import { number, span } from '../parts/format.ts';
import { Button, ErrorNote, HoldButton, Icon } from '../parts/parts.tsx';
import { say } from '../parts/toast.tsx';
import { useAct, useAsk } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import type { Can } from './alarm.ts';
import { alarm, alarmWords } from './alarm-now.ts';
import { astrayFor, heardAgo } from './vehicle-state.ts';

type Status = Answer<'status.get'>;

const STATUS_MS = 5000;
/** Problems of the link that are about which vehicle this is. */
const OTHERS: ReadonlySet<string> = new Set(['other_vehicle', 'vehicle_changed']);

const NAMES: Readonly<Record<Exclude<Can, 'radio'>, string>> = {
  land: t.fly.land,
  rtl: t.fly.rtl,
  stop: t.fly.stop,
  disarm: t.fly.disarm,
};

/** What no pilot may miss, above every page: it takes room of its own. */
export function AlarmBanner(): JSX.Element {
  const status = useAsk('status.get', {}, STATUS_MS).data;
  return (
    <>
      <Alarm status={status} />
      <OtherVehicle status={status} />
    </>
  );
}

function Alarm({ status }: { readonly status: Status | null }): JSX.Element {
  const now = alarmWords.value;
  const icon = now?.tone === 'bad' ? OctagonAlert : TriangleAlert;
  return (
    <div class={now === null ? '' : `banner alarm ${now.tone}`} role="group" aria-label={t.alarm.label}>
      {now === null ? null : <Icon of={icon} />}
      <div>
        {/* It stands there before it says something, and what counts on stands beside it: each change is told, once. */}
        <p role="alert">
          {now === null ? null : (
            <>
              <strong>{now.title}</strong> {now.does} {now.can} {now.also}
            </>
          )}
        </p>
        {now === null ? null : <Facts status={status} />}
      </div>
      {now === null ? null : <Orders />}
    </div>
  );
}

/** Why, in figures: for how long, how much is left. */
function Facts({ status }: { readonly status: Status | null }): JSX.Element | null {
  const text = useComputed(factsOf).value;
  const parts = [...text, ...(alarm.value?.what === 'link' ? causesOf(status) : [])];
  return parts.length === 0 ? null : <small>{parts.join(' · ')}</small>;
}

function factsOf(): readonly string[] {
  if (alarm.value === null) return [];
  const { what, reasons, also } = alarm.value;
  if (what === 'link') return [t.alarm.last({ age: span(heardAgo.value) })];
  const about: readonly string[] = [what, ...reasons, ...also];
  const { voltage, remaining } = last(({ battery }) => battery) ?? {};
  return [
    ...(about.includes('position') && astrayFor.value !== null
      ? [t.alarm.ago({ age: astrayFor.value })]
      : []),
    ...(about.includes('battery') && typeof voltage === 'number' ? [`${number(voltage, 1)} V`] : []),
    ...(about.includes('battery') && typeof remaining === 'number'
      ? [t.app.vehicle.battery({ percent: remaining })]
      : []),
  ];
}

/** Why the vehicle is not heard, where the node knows. */
function causesOf(status: Status | null): readonly string[] {
  const hint = status?.fc_link_hint ?? 'linked';
  return [
    ...(hint === 'linked' || hint === 'heartbeat_lost' ? [] : [t.node.overview.noVehicle[hint]]),
    ...(status?.health.problems ?? []).flatMap(({ part, detail }) => (part === 'process' ? [detail] : [])),
  ];
}

/** Fly has these in sight already, larger. */
function Orders(): JSX.Element | null {
  const { busy, error, run } = useAct();
  const cans = alarm.value?.can ?? [];
  if (place.value.page === 'fly' || place.value.page === 'setup') return null;
  return (
    <>
      {cans
        .filter((each): each is Exclude<Can, 'radio'> => each !== 'radio')
        .map((cmd) => (
          <HoldButton
            key={cmd}
            row="command.post"
            kind="plain"
            busy={busy}
            onConfirm={() =>
              void run(async () => {
                const name = NAMES[cmd];
                const { ack } = await call('command.post', { body: { cmd, args: [] } });
                if (ack.accepted) say(t.fly.accepted({ name }), 'good');
                else if (ack.observed)
                  say(t.fly.refused({ name, words: refusedText(ack.result_name, ack.reasons ?? []) }), 'bad');
                else say(t.fly.noAnswer({ name }), 'bad');
              })
            }
          >
            {NAMES[cmd]}
          </HoldButton>
        ))}
      <ErrorNote error={error} />
    </>
  );
}

/** Another one is heard on the link, or commands go to another one than before: until it was read. */
function OtherVehicle({ status }: { readonly status: Status | null }): JSX.Element | null {
  const [read, setRead] = useState('');
  const said = (status?.link_problems ?? []).filter(({ code }) => OTHERS.has(code));
  const text = said.map(({ detail }) => detail).join(' ');
  if (text === '' || text === read) return null;
  return (
    <div class="banner warn" role="status">
      <Icon of={TriangleAlert} />
      <p>{text}</p>
      <Button kind="quiet" icon={X} aria-label={t.app.close} onClick={() => setRead(text)} />
    </div>
  );
}
