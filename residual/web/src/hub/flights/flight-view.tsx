import { ArrowLeft, FolderOpen, Maximize, Plane, SearchCheck } from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Marker } from '../../map/layers.tsx';
import { Map as FieldMap } from '../../map/map.tsx';
import { type Place, type View, viewOf } from '../../map/projection.ts';
import { TrackLayer } from '../../map/track-layer.tsx';
import { moment, number, bytes as size, span } from '../../parts/format.ts';
import { Asked, Badge, Button, Card, EmptyState, Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { nodeName } from '../fleet/node-name.ts';
import { useGround } from '../ground.tsx';
import { hub } from '../hub-words.ts';
import { go, hrefOf } from '../route.ts';
import { useHub } from '../use-hub.ts';
import type { FlightDetails } from './answers.ts';
import css from './hub-flights.module.css';

/** Closer, a flight in one yard is a few tiles without names. */
const START_ZOOM = 17.5;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
/** A node may say anything. */
const WEB = /^https?:\/\//;
const TONES = { info: 'info', warning: 'warn', critical: 'bad' } as const;

/** One flight: where it went, its figures, and what was found in its log. */
export function FlightView({ id }: { readonly id: string }): JSX.Element {
  const asked = useHub<FlightDetails>(`/v1/flights/${encodeURIComponent(id)}`);
  const { data } = asked;
  const text = hub.flights;
  return (
    <>
      <p class={css['back']}>
        <Button icon={ArrowLeft} kind="quiet" onClick={() => go('flights')}>
          {text.back}
        </Button>
      </p>
      <Asked of={asked} />
      {data === null ? null : (
        <>
          <FlightMap flight={data} />
          <Figures flight={data} />
          <Findings flight={data} />
          <Files flight={data} />
        </>
      )}
    </>
  );
}

function FlightMap({ flight: { track } }: { readonly flight: FlightDetails }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const ground = useGround();
  const [view, setView] = useState<View | null>(null);
  const places = (track?.geometry.coordinates ?? []).flatMap(([lon, lat]): readonly Place[] =>
    lon === undefined || lat === undefined ? [] : [{ lat, lon }],
  );
  const showAll = (): void => {
    const { clientWidth = 300, clientHeight = 300 } = box.current ?? {};
    const all = viewOf(places, clientWidth, clientHeight);
    setView(all === null ? null : { ...all, zoom: Math.min(all.zoom, START_ZOOM) });
  };
  useEffect(showAll, [track]);
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined)
    return <EmptyState icon={Plane} text={hub.flights.noTrack} />;
  return (
    <div class={css['map']} ref={box}>
      <FieldMap
        label={hub.flights.map}
        base={ground}
        view={view ?? NOWHERE}
        onView={setView}
        under={<TrackLayer points={places} />}
        tools={<Button icon={Maximize} aria-label={t.map.fit} onClick={showAll} />}
      >
        <Marker at={first} text={hub.flights.startLetter} kind="home" />
        <Marker at={last} text={hub.flights.endLetter} kind="target" />
      </FieldMap>
    </div>
  );
}

function Figures({ flight }: { readonly flight: FlightDetails }): JSX.Element {
  const text = hub.flights;
  const { battery } = flight;
  const volts = [battery.start_v, battery.end_v];
  const shown = (value: number | null, digits = 0): string | null =>
    value === null ? null : number(value, digits);
  return (
    <Card
      title={moment(flight.started_at)}
      icon={Plane}
      actions={<a href={hrefOf('fleet', flight.node)}>{nodeName(flight.node)}</a>}
    >
      <dl class="stats">
        <Stat label={text.armed} value={span(flight.armed_s)} />
        <Stat label={text.airborne} value={flight.airborne_s === null ? null : span(flight.airborne_s)} />
        <Stat
          label={text.distance}
          value={flight.distance_m === null ? null : number(flight.distance_m / 1000, 2)}
          unit="km"
        />
        <Stat label={text.height} value={shown(flight.max_height_m)} unit="m" />
        <Stat label={text.speed} value={shown(flight.max_speed_mps, 1)} unit="m/s" />
        <Stat label={text.used} value={shown(battery.used_mah)} unit="mAh" />
        <Stat
          label={text.volts}
          value={
            volts.every((each) => each === null) ? null : volts.map((each) => number(each, 1)).join(' → ')
          }
          unit="V"
        />
        <Stat label={text.pilots} value={flight.pilots.length === 0 ? null : flight.pilots.join(', ')} />
        <Stat label={text.vehicle} value={flight.vehicle} />
      </dl>
      <ol class={css['modes']} aria-label={text.modes}>
        {flight.modes.map(({ name, from_s, to_s }) => (
          <li key={from_s}>
            <strong>{name}</strong> <small>{span(to_s - from_s)}</small>
          </li>
        ))}
      </ol>
      {flight.log === null || flight.files.length > 0 ? null : (
        <p class={css['log']}>{text.log({ name: flight.log })}</p>
      )}
    </Card>
  );
}

/** What the drone has of it, with links to what it has uploaded. */
function Files({ flight: { files } }: { readonly flight: FlightDetails }): JSX.Element | null {
  const text = hub.flights;
  if (files.length === 0) return null;
  return (
    <Card title={text.files} icon={FolderOpen}>
      <ul class={css['files']} aria-label={text.files}>
        {files.map(({ kind, name, url, bytes }) => (
          <li key={`${kind} ${name}`}>
            <Badge tone="info">{text.kinds[kind]}</Badge>
            {url === null || !WEB.test(url) ? (
              <span>{name}</span>
            ) : (
              <a href={url} target="_blank" rel="noopener noreferrer">
                {name}
              </a>
            )}
            <small>{url === null || bytes === null ? text.onDrone : size(bytes)}</small>
          </li>
        ))}
      </ul>
      {files.some(({ url }) => url !== null) ? <p class="hint">{text.filesHint}</p> : null}
    </Card>
  );
}

function Findings({ flight: { findings } }: { readonly flight: FlightDetails }): JSX.Element {
  const text = hub.flights;
  return (
    <Card title={text.found} icon={SearchCheck}>
      {findings.length === 0 ? <p class="hint">{text.nothing}</p> : null}
      <ul class={css['findings']}>
        {findings.map(({ severity, text: said, at_s }) => (
          <li key={`${at_s} ${said}`}>
            <Badge tone={TONES[severity]}>{text.severity[severity]}</Badge>
            <span>{said}</span>
            {at_s === null ? null : <small>{text.after({ time: span(at_s) })}</small>}
          </li>
        ))}
      </ul>
    </Card>
  );
}
