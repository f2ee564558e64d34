import { ArrowRight, Check, MapPin, OctagonAlert, ShieldAlert, TriangleAlert, X } from 'lucide';
import type { ComponentChildren, JSX, Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { socketsRefused } from '../../api/presence.ts';
import { steady } from '../../api/steady.ts';
import { armed, fresh, isAwaited, newest, type Telemetry } from '../../api/telemetry.ts';
import { hrefOf } from '../../app/route.ts';
import { GoFar, GoThere } from '../../commands/go-there.tsx';
import type { Commands } from '../../commands/orders.ts';
import { wordFor } from '../../language/words.ts';
import { number } from '../../parts/format.ts';
import { Button, HoldButton, Icon, Unfold } from '../../parts/parts.tsx';
import { useAct } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { adviceFor } from '../../vehicle/advice.ts';
import { claim } from '../../vehicle/pilot-in-command.ts';
import { sectionHref } from '../../vehicle/section.ts';
import { here, isSilent, lastPlace, phase } from '../../vehicle/vehicle-state.ts';
import { forgetOutcome, readiness, useTaken } from './commands.ts';
import { foreseen, useForeseen } from './foreseen.ts';
import { target } from './map/state.ts';
import { MessageStack } from './messages.tsx';
import css from './notices.module.css';

/** What needs the pilot, over the picture: the worst first. */
export function Notices({
  commands,
  otherPilot,
  onMessages,
}: {
  readonly commands: Commands;
  readonly otherPilot: string | null;
  readonly onMessages: () => void;
}): JSX.Element {
  return (
    <div class={css['notices']}>
      <LinkLost />
      {otherPilot === null ? null : <OtherPilot who={otherPilot} />}
      <NoVehicle />
      <Readiness commands={commands} />
      <RemoteId />
      <Going commands={commands} />
      <MessageStack onAll={onMessages} />
    </div>
  );
}

function Notice({
  tone,
  icon,
  title,
  children,
  box = null,
}: {
  /** `low`: at the lower end of the column. */
  readonly tone: 'bad' | 'warn' | 'going' | 'going low' | '';
  readonly icon: typeof TriangleAlert;
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly box?: Ref<HTMLElement>;
}): JSX.Element {
  return (
    <section ref={box} class={`${css['notice']} ${tone}`}>
      <h2>
        <Icon of={icon} />
        <span>{title}</span>
      </h2>
      {children}
    </section>
  );
}

/** Where it was last, and what it will do by itself; that it is lost stands above every page. */
function LinkLost(): JSX.Element | null {
  useForeseen();
  if (!isSilent.value || phase.value !== 'flight') return null;
  const { position, battery } = newest.value ?? {};
  const place = lastPlace.value;
  const known = [
    place === null ? '' : `${place.lat.toFixed(5)}, ${place.lon.toFixed(5)}`,
    typeof position?.alt_rel === 'number' ? t.fly.lastHeight({ metres: number(position.alt_rel) }) : '',
    typeof battery?.remaining === 'number' ? t.fly.lastBattery({ percent: number(battery.remaining) }) : '',
  ].filter((each) => each !== '');
  const sentences = foreseen.value ?? [];
  return (
    <Notice tone="bad" icon={OctagonAlert} title={t.fly.byItself}>
      {sentences.length === 0 ? (
        <p>{t.fly.byItselfUnknown}</p>
      ) : (
        <ul>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {known.length === 0 ? null : <p>{t.fly.lastKnown({ what: known.join(', ') })}</p>}
    </Notice>
  );
}

function OtherPilot({ who }: { readonly who: string }): JSX.Element {
  const { busy, error, run } = useAct();
  return (
    <Notice tone="warn" icon={TriangleAlert} title={t.fly.why.notPilot({ who })}>
      <p>{t.fly.otherPilot}</p>
      {error === null ? null : <p class="error">{error.message}</p>}
      <HoldButton
        row="ground-station.pic.claim.post"
        kind="plain"
        busy={busy}
        onConfirm={() => void run(async () => claim(true))}
      >
        {t.ground.pilot.takeOver}
      </HoldButton>
    </Notice>
  );
}

function NoVehicle(): JSX.Element | null {
  if (armed.value !== null || isAwaited.value) return null;
  // The node may know a vehicle, of which this page is told nothing.
  if (socketsRefused.value)
    return (
      <Notice tone="warn" icon={TriangleAlert} title={t.fly.noSockets}>
        <p>{t.fly.noSocketsHint}</p>
      </Notice>
    );
  return (
    <Notice tone="" icon={TriangleAlert} title={t.fly.noVehicle}>
      <p>{t.fly.noVehicleHint}</p>
      <a class="button plain" href={hrefOf('vehicle', 'link')}>
        {t.fly.toLink}
      </a>
    </Notice>
  );
}

const checks = steady(() => {
  const gps = fresh('gps', (body) => body.gps);
  return {
    fix: gps === null ? null : (gps.fix_type ?? 0) >= 3,
    estimate: fresh('ekf', (body) => body.ekf?.ok),
    home: newest.value?.home === undefined ? null : typeof newest.value.home.lat === 'number',
    battery: fresh('battery', ({ battery }) =>
      typeof battery.remaining === 'number' ? battery.remaining >= 30 : null,
    ),
  };
});

const reasons = steady(() =>
  armed.value === false ? fresh('heartbeat', ({ prearm }) => prearm?.reasons) : null,
);

/** What speaks against arming, and by one tap what takes it away; a vehicle that is not armed does not move by it. */
function Readiness({ commands }: { readonly commands: Commands }): JSX.Element | null {
  const ready = readiness.value;
  // Where it is only its mode, a take-off changes that.
  if (ready === null || ready.canArm !== false || ready.first !== null) return null;
  const { fix, estimate, home, battery } = checks.value;
  const text = t.fly.checks;
  const said = reasons.value ?? [];
  return (
    <Notice tone="warn" icon={ShieldAlert} title={t.fly.notReady}>
      <ul>
        {said.map((reason) => (
          <Reason key={reason.text} {...reason} />
        ))}
      </ul>
      {said.every(({ source }) => source === 'sys_status') && commands.offers('runPrearmChecks') ? (
        // Of itself it tells its reasons only now and then.
        <Button
          row="command.post"
          busy={commands.running !== null}
          why={commands.whyNot('runPrearmChecks')}
          onClick={() => commands.give(t.fly.askWhy, { cmd: 'runPrearmChecks' })}
        >
          {t.fly.askWhy}
        </Button>
      ) : null}
      {ready.help.length === 0 ? null : (
        <div class="row">
          {ready.help.map(({ cmd, args }) => (
            <Button
              key={args.join()}
              row="command.post"
              busy={commands.running !== null}
              why={commands.whyNot(cmd)}
              onClick={() => commands.give(t.fly.switchTo({ mode: args.join(' ') }), { cmd, args })}
            >
              {t.fly.switchTo({ mode: args.join(' ') })}
            </Button>
          ))}
        </div>
      )}
      <Unfold title={text.title}>
        <ul class={css['checks']}>
          {(
            [
              [text.vehicle, ready.reasons.length === 0],
              [text.fix, fix],
              [text.estimate, estimate],
              [text.home, home],
              [text.battery, battery],
            ] as const
          ).map(([name, good]) => (
            <li key={name} class={good === true ? 'good' : good === false ? 'warn' : ''}>
              <Icon of={good === true ? Check : good === false ? TriangleAlert : X} />
              {name}
              <span>{good === null ? t.app.none : good ? text.good : text.bad}</span>
            </li>
          ))}
        </ul>
        <a href={hrefOf('vehicle')}>{text.more}</a>
      </Unfold>
    </Notice>
  );
}

/** In the vehicle’s words, what to do about it, and the way to where that is done. */
function Reason(reason: NonNullable<Telemetry['prearm']>['reasons'][number]): JSX.Element {
  const { text, source } = reason;
  const { words, section, param } = adviceFor(reason);
  if (source === 'mode' || source === 'rc') return <li>{`${text}. ${words}`}</li>;
  const { fix, look } = t.vehicle.overview;
  const way =
    param !== null
      ? { href: hrefOf('vehicle', 'parameters', param), name: param }
      : section !== null
        ? { href: sectionHref(...section), name: wordFor(fix, section[1]) ?? look }
        : null;
  return (
    <li>
      <strong>{text}</strong>
      <p>{words}</p>
      {way === null ? null : (
        <a class="button plain" href={way.href}>
          {way.name} <Icon of={ArrowRight} />
        </a>
      )}
    </li>
  );
}

/** What its Remote ID transmitter says against a flight that the vehicle itself would begin all the same. */
const remoteId = steady(
  () =>
    fresh('heartbeat', ({ armed: isArmed, prearm }) =>
      isArmed === true ? [] : (prearm?.reasons ?? []).filter(({ source }) => source === 'remote_id'),
    ) ?? [],
);

function RemoteId(): JSX.Element | null {
  const said = remoteId.value;
  // Where it does not arm, all its reasons stand there already.
  if (said.length === 0 || (readiness.value?.canArm === false && readiness.value.first === null)) return null;
  return (
    <>
      {said.map(({ text }) => (
        <Notice key={text} tone="warn" icon={TriangleAlert} title={text} />
      ))}
    </>
  );
}

const height = steady(() => {
  const now = fresh('position', ({ position }) => position.alt_rel);
  return now === null ? null : Math.round(now);
});

/** Where it is to go, once a place was tapped on the map or is to be typed in; beside that place, and not over it. */
function Going({ commands }: { readonly commands: Commands }): JSX.Element | null {
  const far = commands.outcome?.far;
  const card = useRef<HTMLElement>(null);
  const isLow = useBeside(card);
  const { begin } = useTaken(commands, () => {
    const aim = target.peek();
    if (aim !== null) target.value = { ...aim, taken: true };
  });
  const aim = target.value?.taken === true ? null : target.value;
  if (aim === null && far === undefined) return null;
  return (
    <Notice tone={isLow ? 'going low' : 'going'} icon={MapPin} title={t.fly.goto} box={card}>
      <Button
        kind="quiet"
        icon={X}
        aria-label={t.app.cancel}
        onClick={() => {
          target.value = null;
          if (far !== undefined) forgetOutcome();
        }}
      />
      {aim === null ? null : (
        <GoThere
          commands={commands}
          target={aim}
          onGiven={begin}
          onTarget={(next) => {
            target.value = next;
          }}
          from={here.value}
          height={height.value}
        />
      )}
      {far === undefined ? null : <GoFar commands={commands} order={far} />}
    </Notice>
  );
}

/** What is drawn round a target, and its words below it, px. */
const ROUND_TARGET = 40;

/** Whether a card stands at the lower end of its column: it changes ends when another place is chosen that lies under it. */
function useBeside(card: { readonly current: HTMLElement | null }): boolean {
  const [isLow, setLow] = useState(false);
  const { lat, lon } = target.value ?? {};
  useEffect(() => {
    const over = card.current?.getBoundingClientRect();
    const list = card.current?.parentElement?.getBoundingClientRect();
    const column = card.current?.parentElement?.parentElement?.getBoundingClientRect();
    const mark = document.querySelector('.marker.target')?.getBoundingClientRect();
    // Who types sees the place come, and would lose the field.
    if (!over || !list || !column || !mark || card.current?.contains(document.activeElement) === true) return;
    if (mark.right + ROUND_TARGET < over.left || mark.left - ROUND_TARGET > over.right) return;
    const middle = mark.top + mark.height / 2;
    const below = middle - (list.top + over.height);
    const above = column.bottom - over.height - middle;
    // Where it stands is well enough.
    if ((isLow ? above : below) > ROUND_TARGET) return;
    setLow(above > below);
  }, [lat, lon]);
  return isLow;
}

const OUTCOME_MS = 8000;

/** What became of the last command; what was taken goes by itself. */
export function OutcomeNote({
  commands: { running, outcome },
}: {
  readonly commands: Commands;
}): JSX.Element {
  const [over, setOver] = useState<object | null>(null);
  useEffect(() => {
    if (outcome === null || outcome.tone === 'bad') return;
    const timer = setTimeout(() => setOver(outcome), OUTCOME_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const shown = outcome === over ? null : outcome;
  return (
    <div class={`outcome ${css['outcome']}`} role={shown?.tone === 'bad' ? 'alert' : 'status'}>
      {running !== null ? (
        <p class="note info">{t.fly.sending({ name: running })}</p>
      ) : shown === null ? null : (
        <p class={`note ${shown.tone}`}>
          <span>{shown.text}</span>
          {shown.tone === 'bad' ? (
            <Button kind="quiet" icon={X} aria-label={t.app.close} onClick={forgetOutcome} />
          ) : null}
        </p>
      )}
    </div>
  );
}
