import { Info } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { now as clock } from '../../api/presence.ts';
import { moment, number } from '../../parts/format.ts';
import { Card, ErrorNote, HoldButton, Stat, Unfold } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import type { Code } from '../answers.ts';
import { ask, me } from '../client.ts';
import { ageText, figuresOf, secondsSince, titleOf } from '../fleet/fleet.ts';
import { liveOf } from '../fly/live.ts';
import { hub } from '../hub-words.ts';
import { AtTheDrone } from '../office/enrol.tsx';
import { go } from '../route.ts';
import { numberIn } from './instruments.tsx';
import { Tags } from './tags.tsx';

/** What of the telemetry is not read while flying: where in it, with how many digits, and in which unit. */
const SHOWN = [
  ['heading', ['position', 'heading'], 0, '°'],
  ['sea', ['position', 'alt_msl'], 0, 'm'],
  ['voltage', ['battery', 'voltage'], 1, 'V'],
  ['current', ['battery', 'current'], 1, 'A'],
  ['rssi', ['rc', 'rssi'], 0, ''],
] as const;

/** Which software, which vehicle, and the figures that are seldom needed; what is old is a dash with how old it is. */
export function Details({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  void clock.value;
  const figures = figuresOf(entry);
  const { told, present, age, fresh, place } = figures;
  const text = hub.node;
  const mayAdd = me.value?.scopes.includes('admin') === true;
  // Of the node itself, and of what it knows from the vehicle.
  const node = { age: present || told === null ? null : ageText(told) };
  const vehicle = { age: fresh || age === null ? null : ageText(age) };
  const now = (value: string | null): string | null => (present ? value : null);
  const shown = (value: string | null): string | null => (fresh ? value : null);
  const armed = figures.armed === null ? null : text.armedWord[`${figures.armed}`];
  const body = liveOf(entry.id).body;
  const live = body?.['mavlink_alive'] === false ? null : body;
  return (
    <Card title={text.details} icon={Info}>
      <dl class="stats">
        <Stat label={text.heard} value={ageText(secondsSince(entry.seen_at))} />
        <Stat
          label={text.armed}
          value={now(armed)}
          tone={figures.armed === false ? undefined : 'warn'}
          {...node}
        />
        <Stat
          label={text.vehicle}
          value={now(figures.connected === null ? null : text.connected[`${figures.connected}`])}
          {...node}
        />
        <Stat label={text.mode} value={shown(figures.mode)} {...vehicle} />
        <Stat
          label={text.height}
          value={shown(figures.height === null ? null : number(figures.height))}
          unit="m"
          {...vehicle}
        />
        {SHOWN.map(([name, [group, member], digits, unit]) => {
          const value = numberIn(live, group, member);
          return (
            <Stat
              key={name}
              label={text.figures[name]}
              value={value === null ? null : number(value, digits)}
              unit={unit}
            />
          );
        })}
        <Stat
          label={text.place}
          value={shown(place === null ? null : `${place.lat.toFixed(5)}, ${place.lon.toFixed(5)}`)}
          {...vehicle}
        />
        <Stat
          label={text.behind}
          value={now(figures.behind === null ? null : String(figures.behind))}
          {...node}
        />
        <Stat label={text.profile} value={t.node.overview.profiles[entry.profile]} />
        <Stat label={text.version} value={entry.version} />
        <Stat label={text.enrolled} value={moment(entry.enrolled_at)} />
        <Stat label={text.id} value={entry.id} />
      </dl>
      <p class="hint">{told === null ? text.noStatus : text.age({ age: ageText(told) })}</p>
      <Tags entry={entry} />
      {mayAdd && me.value?.scopes.includes('destructive') === true ? <Again entry={entry} /> : null}
      {mayAdd ? <Remove entry={entry} /> : null}
    </Card>
  );
}

function Again({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  const [code, setCode] = useState<Code | null>(null);
  const act = useAct();
  const make = async (): Promise<void> =>
    setCode(await ask<Code>(`/v1/codes?node=${encodeURIComponent(entry.id)}`, { method: 'POST', body: {} }));
  return (
    <Unfold title={hub.node.again}>
      <p class="hint">{hub.node.againHint}</p>
      <ErrorNote error={act.error} />
      {code === null ? (
        <HoldButton kind="danger" busy={act.busy} onConfirm={() => void act.run(make)}>
          {hub.node.againNow}
        </HoldButton>
      ) : (
        <AtTheDrone code={code} />
      )}
    </Unfold>
  );
}

function Remove({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  const act = useAct();
  const remove = async (): Promise<void> => {
    await ask(`/v1/nodes/${encodeURIComponent(entry.id)}`, { method: 'DELETE' });
    say(hub.node.removed({ name: titleOf(entry) }), 'warn');
    go('fleet');
  };
  return (
    <Unfold title={hub.node.remove}>
      <p class="hint">{hub.node.removeHint}</p>
      <ErrorNote error={act.error} />
      <HoldButton kind="danger" busy={act.busy} onConfirm={() => void act.run(remove)}>
        {hub.node.removeNow}
      </HoldButton>
    </Unfold>
  );
}
