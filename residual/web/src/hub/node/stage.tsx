import { ArrowLeft, OctagonAlert } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { now as clock } from '../../api/presence.ts';
import { Button, ErrorNote, Icon } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { ask } from '../client.ts';
import { BatteryFigure } from '../fleet/battery.tsx';
import { ageText, figuresOf, secondsSince, titleOf } from '../fleet/fleet.ts';
import { State } from '../fleet/state-badge.tsx';
import { liveOf } from '../fly/live.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import css from './hub-node.module.css';
import { Instruments } from './instruments.tsx';
import { NodeMap } from './node-map.tsx';
import { useVideo } from './use-video.ts';

/** The picture or the map to the edges, swapped by a tap; over it who it is and what is read while it flies. */
export function Stage({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  const { video, isLive, problem } = useVideo(entry);
  // Until somebody chooses: the picture where there is one.
  const [chosen, setChosen] = useState<'map' | 'picture' | null>(null);
  const isMap = !isLive || chosen === 'map';
  const swapWords = isMap ? t.fly.pictureLarge : t.fly.mapLarge;
  return (
    <section class={css['stage']} aria-label={t.fly.stage}>
      <div
        class={`${css['pane']} ${css['camera']} ${isMap ? css['small'] : ''} ${isLive ? '' : css['dark']}`}
      >
        <video ref={video} aria-label={t.fly.video.label} autoPlay muted playsInline />
      </div>
      <div class={`${css['pane']} ${isMap ? '' : css['small']}`}>
        <NodeMap entry={entry} />
      </div>
      {isLive ? (
        <button
          type="button"
          class={css['swap']}
          aria-label={swapWords}
          title={swapWords}
          onClick={() => setChosen(isMap ? 'picture' : 'map')}
        />
      ) : null}
      <div class={css['upper']}>
        <Who entry={entry} />
        {entry.alarm === null ? null : <Alarm id={entry.id} alarm={entry.alarm} />}
        <Heard entry={entry} />
        {problem === null || isLive || !entry.online ? null : (
          <p class={css['chip']}>{hub.fly.noPicture({ why: problem.message })}</p>
        )}
      </div>
      <div class={css['lower']}>
        <Instruments entry={entry} />
      </div>
    </section>
  );
}

/** Its name and its state in a line. */
function Who({ entry }: { readonly entry: NodeEntry }): JSX.Element {
  void clock.value;
  const { fresh, mode, battery } = figuresOf(entry);
  return (
    <div class={css['who']}>
      <a href={hrefOf('fleet')} aria-label={hub.node.back} title={hub.node.back}>
        <Icon of={ArrowLeft} />
      </a>
      <h2 title={entry.id}>{titleOf(entry)}</h2>
      <State entry={entry} />
      {fresh ? (
        <span class={css['now']}>
          {mode} <BatteryFigure percent={battery} />
        </span>
      ) : null}
    </div>
  );
}

/** What stands on the stage is of now, or its age is told. */
function Heard({ entry }: { readonly entry: NodeEntry }): JSX.Element | null {
  void clock.value;
  const { body, age } = liveOf(entry.id);
  const { age: vehicleAge, place } = figuresOf(entry);
  const words = !entry.online
    ? `${hub.node.heard}: ${hub.fleet.ago({ age: ageText(vehicleAge ?? secondsSince(entry.seen_at)) })}`
    : body === null
      ? age === null
        ? hub.node.noTelemetry
        : hub.node.age({ age: ageText(age) })
      : body['mavlink_alive'] === false
        ? hub.node.vehicleSilent
        : place === null
          ? hub.fly.noPlace
          : null;
  return words === null ? null : <p class={css['chip']}>{words}</p>;
}

function Alarm({ id, alarm }: { readonly id: string; readonly alarm: string }): JSX.Element {
  const act = useAct();
  const seen = async (): Promise<unknown> =>
    ask(`/v1/nodes/${encodeURIComponent(id)}/alarm`, { method: 'DELETE' });
  return (
    <div class={css['alarm']} role="alert">
      <Icon of={OctagonAlert} />
      <p>{alarm}</p>
      <Button busy={act.busy} onClick={() => void act.run(seen)}>
        {hub.node.seen}
      </Button>
      <ErrorNote error={act.error} />
    </div>
  );
}
