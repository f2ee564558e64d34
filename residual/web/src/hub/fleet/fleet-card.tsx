import { Crosshair, ExternalLink, VideoOff, X } from 'lucide';
import type { JSX } from 'preact';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { now as clock } from '../../api/presence.ts';
import { number } from '../../parts/format.ts';
import { Button, Icon, Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { isTelling, LIVE_STALE_S, liveOf, shown, useLive } from '../fly/live.ts';
import { hub } from '../hub-words.ts';
import { hrefOf } from '../route.ts';
import { ageText, type FleetNode, figuresOf, nodes, secondsSince, titleOf } from './fleet.ts';
import css from './hub-fleet.module.css';
import { chosen, following } from './selection.ts';
import { attentionWords, isGrave, State } from './state-badge.tsx';
import { useLooked } from './watch-fleet.ts';

const TELEMETRY_HZ = 2;
const PICTURES_HZ = 2;

/** More of the node that was chosen on the map: picture, figures of now, and the ways on. */
export function FleetCard(): JSX.Element | null {
  const id = chosen.value;
  useLooked(id === null ? [] : [id]);
  const entry = nodes.value?.find((node) => node.entry.id === id)?.entry;
  return entry === undefined ? null : <Chosen key={entry.id} entry={entry} />;
}

function Chosen({ entry }: { readonly entry: FleetNode['entry'] }): JSX.Element {
  void clock.value;
  useLive(entry.online ? [entry.id] : [], TELEMETRY_HZ, PICTURES_HZ);
  const title = titleOf(entry);
  const { body } = liveOf(entry.id);
  const { altitude, speed } = seenIn(body);
  const { fresh, age, mode, battery, height } = figuresOf(entry);
  const attention = attentionWords(entry);
  const climb = memberOf(memberOf(body, 'velocity'), 'climb');
  const old = fresh || age === null ? null : ageText(age);
  const figure = (value: number | null, digits = 0): string | null =>
    value === null || !fresh ? null : number(value, digits);
  return (
    <section class={css['card']} aria-label={title}>
      <header>
        <h2 title={entry.id}>{title}</h2>
        <Button kind="quiet" icon={X} aria-label={t.app.close} onClick={() => (chosen.value = null)} />
      </header>
      <p class={css['card-state']}>
        <State entry={entry} />
        <small>{hub.fleet.ago({ age: ageText(age ?? secondsSince(entry.seen_at)) })}</small>
      </p>
      {attention === null ? null : (
        <p class={`${css['matter']} ${isGrave(entry) ? css['grave'] : ''}`}>{attention}</p>
      )}
      <CardPicture id={entry.id} name={title} />
      <dl class="stats">
        <Stat label={hub.node.mode} value={fresh ? mode : null} age={old} />
        <Stat label={hub.node.battery} value={figure(battery)} unit="%" age={old} />
        <Stat label={hub.node.height} value={figure(altitude ?? height)} unit="m" age={old} />
        <Stat label={t.fly.ground} value={figure(speed, 1)} unit="m/s" />
        <Stat label={t.fly.climb} value={figure(typeof climb === 'number' ? climb : null, 1)} unit="m/s" />
      </dl>
      <p class={css['ways']}>
        <a class="button primary" href={hrefOf('fleet', entry.id)}>
          <Icon of={ExternalLink} />
          {hub.fleet.open}
        </a>
        <Button
          icon={Crosshair}
          aria-pressed={following.value}
          onClick={() => (following.value = !following.value)}
        >
          {t.map.follow}
        </Button>
      </p>
    </section>
  );
}

/** The newest small picture; nothing where there is none. */
function CardPicture({ id, name }: { readonly id: string; readonly name: string }): JSX.Element {
  const picture = shown.value.get(id);
  const age = secondsSince(picture?.at);
  const isNew = age !== null && age <= LIVE_STALE_S;
  return picture === undefined ? (
    <p class={css['card-dark']}>
      <Icon of={VideoOff} />
      {isTelling.value ? hub.wall.noPicture : t.app.loading}
    </p>
  ) : (
    <img
      class={`${css['card-picture']} ${isNew ? '' : css['old-picture']}`}
      src={picture.url}
      alt={hub.wall.picture({ name })}
    />
  );
}
