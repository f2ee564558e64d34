import { useComputed } from '@preact/signals';
import {
  CircleAlert,
  CircleCheck,
  Compass,
  Gauge,
  type IconNode,
  MessageSquare,
  OctagonAlert,
  Plane,
  PlaneLanding,
  PlaneTakeoff,
  RadioTower,
  Satellite,
  ShieldAlert,
  Signal,
  SignalLow,
  Video,
  VideoOff,
} from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import type { Readiness } from '../../../../../shared/flight/readiness.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { now } from '../../api/presence.ts';
import { steady } from '../../api/steady.ts';
import { age, armed, flight, fresh, last, oldness } from '../../api/telemetry.ts';
import type { SheetName } from '../../commands/sheet-name.ts';
import { radioTone } from '../../network/radio/radio-state.tsx';
import { number, span } from '../../parts/format.ts';
import { Icon } from '../../parts/parts.tsx';
import { say } from '../../parts/toast.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { gpsTone } from '../../vehicle/limits.ts';
import type { Watching } from '../../video/watching.ts';
import { readiness } from './commands.ts';
import { warnings } from './messages.tsx';
import css from './strip.module.css';
import type { PictureState } from './use-picture.ts';

type Tone = '' | 'good' | 'warn' | 'bad';
const RADIO_MS = 2000;
// Only a delay that somebody feels is worth a word.
const WORTH_MS = 400;

/** How well the vehicle is heard and seen, as chips along the upper edge. */
export function Strip({
  watching,
  picture,
  onOpen,
}: {
  readonly watching: Watching | null;
  readonly picture: PictureState;
  readonly onOpen: (sheet: SheetName) => void;
}): JSX.Element {
  return (
    <div class={css['strip']} role="group" aria-label={t.fly.state}>
      <button
        type="button"
        class={css['open']}
        aria-haspopup="dialog"
        title={t.fly.instruments}
        aria-label={t.fly.instruments}
        onClick={() => onOpen('figures')}
      >
        <Icon of={Gauge} />
      </button>
      <MessagesButton onOpen={() => onOpen('messages')} />
      {watching === null ? null : <PictureChip watching={watching} picture={picture} />}
      <VehicleChips />
      <Radio />
    </div>
  );
}

function MessagesButton({ onOpen }: { readonly onOpen: () => void }): JSX.Element {
  const count = warnings.value;
  return (
    <button
      type="button"
      class={css['open']}
      aria-haspopup="dialog"
      title={t.fly.messages}
      aria-label={count === 0 ? t.fly.messages : t.fly.messagesCount({ count })}
      onClick={onOpen}
    >
      <Icon of={MessageSquare} />
      {count === 0 ? null : <b>{count}</b>}
    </button>
  );
}

/** What it says is told whole to whoever taps it: on a phone there is room for the icon alone. */
function Chip({
  icon,
  tone = '',
  says,
  children,
  always = false,
  quiet = false,
}: {
  readonly icon: IconNode;
  readonly tone?: Tone;
  readonly says: string;
  readonly children: ComponentChildren;
  /** Its words stand there on a phone, too; `roomy`: where they do not push out the next. */
  readonly always?: boolean | 'roomy';
  /** All is well: the icon says it. */
  readonly quiet?: boolean;
}): JSX.Element {
  return (
    <button
      type="button"
      class={`${css['chip']} chip ${tone} ${always === false ? '' : 'always'} ${always === 'roomy' ? 'roomy' : ''} ${quiet ? 'quiet' : ''}`}
      title={says}
      onClick={() => say(says, tone === '' || tone === 'good' ? 'info' : tone)}
    >
      <Icon of={icon} />
      <span>{children}</span>
    </button>
  );
}

const link = steady(() => {
  const seconds = age('link');
  if (armed.value === null || seconds === null) return null;
  return {
    tone: seconds > 3 ? 'bad' : seconds > 1.5 ? 'warn' : '',
    seconds: Math.round(seconds * 2) / 2,
  } as const;
});
/** The last that was told, with its age where it is not of now. */
const gps = steady(() => last((body) => body.gps));
const gpsOld = steady(() => oldness('gps'));
/** Bits 3 and 4 of the flags of either firmware: a horizontal position. */
const POSITION = 8 | 16;
/** An estimator that has no position yet is not ill: every vehicle begins so. */
const ekf = steady(() => {
  const { ok, flags } = fresh('ekf', (body) => body.ekf) ?? {};
  if (ok !== false) return null;
  return flight.value !== 'in_air' && typeof flags === 'number' && (flags & POSITION) === 0 ? 'waits' : 'bad';
});
const fence = steady(() => fresh('fence', (body) => body.fence?.breached));
const threat = steady(() => fresh('collision', (body) => body.collision));
const landed = steady(() => fresh('landed_state', (body) => body.landed_state));

function VehicleChips(): JSX.Element | null {
  const heard = link.value;
  if (heard === null) return null;
  const { fix_type: type, satellites } = gps.value ?? {};
  const fix = t.fly.gps({ fix: t.fly.fix[type ?? -1] ?? t.app.none, satellites: number(satellites) });
  const words =
    heard.tone === 'bad'
      ? `${t.fly.linkLost}, ${span(heard.seconds)}`
      : t.fly.link({ seconds: number(heard.seconds, 1) });
  return (
    <>
      <Chip
        icon={heard.tone === 'bad' ? OctagonAlert : heard.tone === 'warn' ? SignalLow : Signal}
        tone={heard.tone}
        says={words}
        quiet={heard.tone === ''}
      >
        {heard.tone === '' ? t.fly.linkGood : words}
      </Chip>
      <Chip
        icon={Satellite}
        tone={gpsOld.value === null ? gpsTone.value : ''}
        says={gpsOld.value === null ? fix : `${fix} ${t.alarm.ago({ age: span(gpsOld.value) })}`}
        always="roomy"
      >
        {typeof type !== 'number' ? (
          t.app.none
        ) : (
          <span class={gpsOld.value === null ? '' : 'old'}>
            {t.fly.gpsShort({ fix: t.fly.fix[type] ?? t.app.none, satellites: number(satellites) })}
          </span>
        )}
      </Chip>
      {landed.value !== 'takeoff' && landed.value !== 'landing' ? null : (
        <Chip
          icon={landed.value === 'takeoff' ? PlaneTakeoff : PlaneLanding}
          says={t.fly.flown[landed.value]}
        >
          {t.fly.flown[landed.value]}
        </Chip>
      )}
      {readiness.value?.canArm === true && flight.value !== 'in_air' ? (
        <Chip icon={CircleCheck} tone="good" says={t.fly.ready}>
          {t.fly.ready}
        </Chip>
      ) : null}
      {readiness.value?.first === null || readiness.value === null ? null : (
        <Chip icon={CircleAlert} says={goesIn(readiness.value)} always>
          {goesIn(readiness.value)}
        </Chip>
      )}
      {ekf.value === null ? null : (
        <Chip
          icon={Compass}
          tone={ekf.value === 'bad' ? 'bad' : 'warn'}
          says={ekf.value === 'bad' ? t.fly.ekf.bad : t.fly.ekf.waitsHint}
          always
        >
          {t.fly.ekf[ekf.value]}
        </Chip>
      )}
      {fence.value === true ? (
        <Chip icon={ShieldAlert} tone="bad" says={t.fly.fenceBreached} always>
          {t.fly.fenceBreached}
        </Chip>
      ) : null}
      {threat.value === null ? null : (
        <Chip
          icon={Plane}
          tone={threat.value.level === 'high' ? 'bad' : 'warn'}
          says={t.fly.collision({ id: threat.value.id, level: threat.value.level })}
          always
        >
          {t.fly.collision({ id: threat.value.id, level: threat.value.level })}
        </Chip>
      )}
    </>
  );
}

/** Its mode does not arm: the mode in which it will, or will take off. */
function goesIn({ first, takeOffMode }: Readiness): string {
  return typeof takeOffMode === 'string'
    ? t.fly.takeoffIn({ mode: takeOffMode })
    : t.fly.armsIn({ mode: first?.args.join(' ') ?? '' });
}

function PictureChip({
  watching,
  picture,
}: {
  readonly watching: Watching;
  readonly picture: PictureState;
}): JSX.Element {
  const { words, way, live, delay, size, still } = watching;
  const late = delay.value !== null && delay.value >= WORTH_MS ? number(delay.value / 1000, 1) : null;
  // `small` is what the second encode does; its picture is the one of that width.
  const small = watching.status.value?.small ?? null;
  const isSmall = way.value === 'whep' && small !== null && memberOf(small, 'width') === size.value?.width;
  const stillAge = useComputed(() =>
    still.value === null ? null : Math.round(Math.max(0, now.value - still.value.at) / 1000),
  ).value;
  const facts =
    way.value === null
      ? ''
      : [
          late === null ? '' : t.fly.video.late({ seconds: late }),
          stillAge === null ? '' : t.app.old({ age: span(stillAge) }),
          isSmall ? t.fly.video.small : '',
          t.fly.video.way[way.value],
        ]
          .filter((text) => text !== '')
          .join(', ');
  return (
    <Chip
      icon={picture === 'none' ? VideoOff : Video}
      tone={live.value || picture === 'none' ? '' : 'warn'}
      says={[
        words.value,
        size.value === null ? '' : t.fly.video.size({ width: size.value.width, height: size.value.height }),
        facts,
      ]
        .filter((text) => text !== '')
        .join(', ')}
      always={picture === 'shown'}
    >
      {/* Without a picture two words say so, and the whole sentence whoever touches them. */}
      {picture === 'none' ? t.fly.video.noPicture : null}
      <span
        id="video-state"
        role="status"
        class={picture === 'none' ? 'visually-hidden' : live.value ? 'live' : ''}
      >
        {words.value}
      </span>
      {facts === '' ? null : <small class="picture-facts">{facts}</small>}
    </Chip>
  );
}

function Radio(): JSX.Element | null {
  const { data, error } = useAsk('wfb.get', {}, RADIO_MS);
  // An old answer is no quality of now.
  if (data === null || error !== null || data.state === 'absent') return null;
  const { rssi_dbm: rssi, loss_percent: loss } = data;
  const words = [
    t.fly.radioState[data.state],
    ...(typeof rssi === 'number' ? [`${number(rssi)} dBm`] : []),
    ...(typeof loss === 'number' ? [t.node.radio.loses({ percent: number(loss, 1) })] : []),
  ].join(', ');
  const tone = radioTone(data);
  return (
    <Chip icon={RadioTower} tone={tone === 'info' ? '' : tone} says={t.fly.radio({ words })}>
      {words}
    </Chip>
  );
}
