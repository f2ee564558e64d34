import type { JSX } from 'preact';
import type { NodeEntry } from '../../../../shared/fleet/hub-api.ts';
import type { FleetEvent } from '../../../../shared/fleet/told.ts';
import { memberOf } from '../../../../shared/member.ts';
import { now as clock } from '../api/presence.ts';
import accessCss from '../pages/access/access.module.css';
import { isoTime, moment, number } from '../parts/format.ts';
import { Badge, Button, Card, ErrorNote, HoldButton, Note, Stat } from '../parts/parts.tsx';
import { say } from '../parts/toast.tsx';
import { useAct } from '../parts/use-ask.ts';
import { t } from '../strings.ts';
import type { Events } from './answers.ts';
import { ask } from './client.ts';
import { ageText, figuresOf, nodes, secondsSince, titleOf } from './fleet.ts';
import { State } from './fleet-list.tsx';
import { Commands } from './fly/commands.tsx';
import { useFacts } from './fly/facts.ts';
import { MapAndHorizon } from './fly/instruments.tsx';
import { liveOf, useLive } from './fly/live.ts';
import { OperatorKey } from './fly/operator-key.tsx';
import { Picture } from './fly/picture.tsx';
import css from './hub.module.css';
import { go, hrefOf } from './route.ts';
import { useHub } from './use-hub.ts';
import { hub } from './words.ts';

/** How often a node that is looked at speaks. */
const TELEMETRY_HZ = 5;
const EVENTS_MS = 2000;

/** One node: what it says of itself now, and what happened there. */
export function NodePage({ id }: { readonly id: string }): JSX.Element {
  const entry = nodes.value?.find((node) => node.entry.id === id)?.entry;
  return (
    <>
      <p>
        <a href={hrefOf('fleet')}>{hub.node.back}</a>
      </p>
      {nodes.value === null ? <p class="first">{t.app.loading}</p> : null}
      {nodes.value !== null && entry === undefined ? <Note tone="warn">{hub.node.unknown(id)}</Note> : null}
      {entry === undefined ? null : (
        <div class="page">
          <Who entry={entry} />
          <Fly entry={entry} />
          <Now entry={entry} />
          <Telemetry id={id} />
          <Happened id={id} />
          <Remove entry={entry} />
        </div>
      )}
    </>
  );
}

/** Where it is, and what it can be told to do. */
function Fly({ entry }: { entry: NodeEntry }): JSX.Element {
  useLive([entry.id], TELEMETRY_HZ, 0);
  const facts = useFacts(entry);
  return (
    <>
      <Picture entry={entry} />
      <MapAndHorizon entry={entry} />
      <Commands entry={entry} facts={facts} />
      <OperatorKey entry={entry} facts={facts} />
    </>
  );
}

function Who({ entry }: { entry: NodeEntry }): JSX.Element {
  void clock.value;
  const text = hub.node;
  return (
    <Card title={titleOf(entry)}>
      <p>
        <State entry={entry} />
      </p>
      {entry.alarm === null ? null : <Alarm id={entry.id} alarm={entry.alarm} />}
      <dl class="stats">
        <Stat label={text.heard} value={ageText(secondsSince(entry.seen_at))} />
        <Stat label={text.profile} value={t.node.overview.profiles[entry.profile]} />
        <Stat label={text.version} value={entry.version} />
        <Stat label={text.enrolled} value={moment(entry.enrolled_at)} />
      </dl>
      <p class="hint">{entry.id}</p>
    </Card>
  );
}

function Alarm({ id, alarm }: { id: string; alarm: string }): JSX.Element {
  const act = useAct();
  const seen = async (): Promise<unknown> =>
    ask(`/v1/nodes/${encodeURIComponent(id)}/alarm`, { method: 'DELETE' });
  return (
    <Note tone="bad">
      <p>{alarm}</p>
      <ErrorNote error={act.error} />
      <Button busy={act.busy} onClick={() => void act.run(seen)}>
        {hub.node.seen}
      </Button>
    </Note>
  );
}

/** Its newest status; what is old is a dash, with how old it is. */
function Now({ entry }: { entry: NodeEntry }): JSX.Element {
  void clock.value;
  const figures = figuresOf(entry);
  const { told, present, age, fresh, place } = figures;
  const text = hub.node;
  // Of the node itself, and of what it knows from the vehicle.
  const node = { age: present || told === null ? null : ageText(told) };
  const vehicle = { age: fresh || age === null ? null : ageText(age) };
  const now = (value: string | null): string | null => (present ? value : null);
  const shown = (value: string | null): string | null => (fresh ? value : null);
  const armed = figures.armed === null ? null : text.armedWord[`${figures.armed}`];
  return (
    <Card title={text.status}>
      <dl class="stats">
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
        <Stat label={hub.fleet.columns.mode} value={shown(figures.mode)} {...vehicle} />
        <Stat
          label={hub.fleet.columns.battery}
          value={shown(figures.battery === null ? null : number(figures.battery))}
          unit="%"
          {...vehicle}
        />
        <Stat
          label={hub.fleet.columns.height}
          value={shown(figures.height === null ? null : number(figures.height))}
          unit="m"
          {...vehicle}
        />
        <Stat
          label={text.place}
          value={shown(place === null ? null : `${place.lat.toFixed(6)}, ${place.lon.toFixed(6)}`)}
          {...vehicle}
        />
        <Stat
          label={text.behind}
          value={now(figures.behind === null ? null : String(figures.behind))}
          {...node}
        />
      </dl>
      <p class="hint">{told === null ? text.noStatus : text.age(ageText(told))}</p>
    </Card>
  );
}

/** What of the telemetry is shown: where in it, with how many digits, and in which unit. */
const SHOWN = [
  ['groundspeed', ['velocity', 'groundspeed'], 1, 'm/s'],
  ['climb', ['velocity', 'climb'], 1, 'm/s'],
  ['heading', ['position', 'heading'], 0, '°'],
  ['altitude', ['position', 'alt_rel'], 1, 'm'],
  ['sea', ['position', 'alt_msl'], 0, 'm'],
  ['voltage', ['battery', 'voltage'], 1, 'V'],
  ['current', ['battery', 'current'], 1, 'A'],
  ['satellites', ['gps', 'satellites'], 0, ''],
  ['rssi', ['rc', 'rssi'], 0, ''],
] as const;

function Telemetry({ id }: { id: string }): JSX.Element {
  void clock.value;
  const { body, age } = liveOf(id);
  const isNew = body !== null;
  // What it has of a vehicle that is silent is older than itself.
  const silent = body?.['mavlink_alive'] === false;
  const text = hub.node;
  return (
    <Card title={text.telemetry}>
      <dl class="stats">
        {SHOWN.map(([name, path, digits, unit]) => (
          <Stat
            key={name}
            label={text.figures[name]}
            value={isNew && !silent ? figure(body, path, digits) : null}
            unit={unit}
            age={isNew || age === null ? null : ageText(age)}
          />
        ))}
      </dl>
      {isNew && silent ? <Note tone="warn">{text.vehicleSilent}</Note> : null}
      <p class="hint">{age === null ? text.noTelemetry : text.age(ageText(age))}</p>
    </Card>
  );
}

function figure(body: unknown, [group, member]: readonly [string, string], digits: number): string | null {
  const value = memberOf(memberOf(body, group), member);
  return typeof value === 'number' ? number(value, digits) : null;
}

/** Newest first. The time of each is that of the node's clock. */
function Happened({ id }: { id: string }): JSX.Element {
  const { data, error } = useHub<Events>(`/v1/events?node=${encodeURIComponent(id)}`, EVENTS_MS);
  const text = hub.node;
  return (
    <Card title={text.events} wide>
      <ErrorNote error={error} />
      {data?.events.length === 0 ? <p class="hint">{text.noEvents}</p> : null}
      <div
        class={`scroll ${css['fleet-events']}`}
        role="log"
        aria-label={text.events}
        aria-live="off"
        tabIndex={0}
      >
        <ul class={accessCss['list']}>
          {data?.events.toReversed().map((event) => (
            <li key={event.id}>
              <Event event={event} />
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

function Event({ event: { at, kind, detail } }: { event: FleetEvent }): JSX.Element {
  const severity = typeof detail['severity'] === 'number' ? detail['severity'] : null;
  const words =
    typeof detail['text'] === 'string'
      ? detail['text']
      : Object.entries(detail)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
          .join(', ');
  return (
    <div>
      <time dateTime={isoTime(at)}>{moment(at)}</time>{' '}
      <Badge tone={severity === null ? 'info' : severity <= 3 ? 'bad' : severity === 4 ? 'warn' : 'info'}>
        {severity === null ? kind : (t.fly.severity[severity] ?? kind)}
      </Badge>{' '}
      {words}
    </div>
  );
}

function Remove({ entry }: { entry: NodeEntry }): JSX.Element {
  const { id } = entry;
  const act = useAct();
  const remove = async (): Promise<void> => {
    await ask(`/v1/nodes/${encodeURIComponent(id)}`, { method: 'DELETE' });
    say(hub.node.removed(titleOf(entry)), 'warn');
    go('fleet');
  };
  return (
    <Card title={hub.node.remove}>
      <p class="hint">{hub.node.removeHint}</p>
      <ErrorNote error={act.error} />
      <HoldButton kind="danger" busy={act.busy} onConfirm={() => void act.run(remove)}>
        {hub.node.removeNow}
      </HoldButton>
    </Card>
  );
}
