import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type SheetName, takeSheet } from '../../commands/sheet-name.ts';
import { Toasts } from '../../parts/toast.tsx';
import { t } from '../../strings.ts';
import { isSilent } from '../../vehicle/vehicle-state.ts';
import { Announcer } from './announcer.tsx';
import { followBattery } from './battery-left.ts';
import { useCommands, useOtherPilot } from './commands.ts';
import { Dock } from './dock.tsx';
import { KeyFigures, MissionProgress } from './figures.tsx';
import { followFlightTime } from './flight-time.ts';
import css from './fly.module.css';
import { FlyMap } from './fly-map.tsx';
import { HeadingTape, Horizon } from './horizon.tsx';
import { Notices, OutcomeNote } from './notices.tsx';
import { OtherCameras } from './other-cameras.tsx';
import { Picture } from './picture.tsx';
import { PictureTools, Recording } from './picture-tools.tsx';
import { Sheets } from './sheets.tsx';
import { useKeys } from './shortcuts.ts';
import { Sticks } from './sticks/sticks.tsx';
import { Strip } from './strip.tsx';
import { useInsets } from './use-insets.ts';
import { usePicture } from './use-picture.ts';
import { useWakeLock } from './wake-lock.ts';

/** A phone held sideways: its commands are at the right edge. As in the style sheets. */
const SIDEWAYS = matchMedia('(max-height: 500px) and (min-width: 560px)');
const sideways = signal(SIDEWAYS.matches);
SIDEWAYS.addEventListener('change', () => {
  sideways.value = SIDEWAYS.matches;
});

/** The page to fly by: the picture or the map to the edges, and over it what is read and what the vehicle can be told. */
export default function Fly(): JSX.Element {
  const whole = useRef<HTMLDivElement>(null);
  const upper = useRef<HTMLDivElement>(null);
  const said = useRef<HTMLDivElement>(null);
  const lower = useRef<HTMLDivElement>(null);
  const commandsAt = useRef<HTMLDivElement>(null);
  const insetAt = useRef<HTMLDivElement>(null);
  const [camera, setCamera] = useState<string | null>(null);
  const [sheet, setSheet] = useState<SheetName | null>(takeSheet);
  const otherPilot = useOtherPilot();
  const commands = useCommands(otherPilot);
  const view = usePicture();
  const { watching, state, large, swap } = view;
  useWakeLock();
  useEffect(followFlightTime, []);
  useEffect(followBattery, []);
  useKeys({ m: swap, '?': () => setSheet('keys') });
  const hasInset = state !== 'none';
  const insets = useInsets(whole, [upper, lower, commandsAt, insetAt], sideways.value, hasInset, said);
  const shownCamera = watching?.status.value?.camera ?? null;
  useEffect(() => setCamera(shownCamera), [shownCamera]);
  const isMap = large === 'map';
  const close = (): void => setSheet(null);
  const swapWords = isMap ? t.fly.pictureLarge : t.fly.mapLarge;
  return (
    <div
      ref={whole}
      class={`${css['fly']} ${css['stage']} ${large}-large picture-${state} ${isSilent.value ? 'silent' : ''}`}
    >
      <Announcer />
      <section class={css['back']} aria-label={t.fly.stage}>
        <div class={`${css['pane']} ${css['of-picture']} ${isMap ? 'small' : ''}`}>
          <Picture view={view} />
        </div>
        <div class={`${css['pane']} ${isMap ? '' : 'small'}`}>
          <FlyMap large={isMap} {...(isMap ? { insets } : {})} />
        </div>
        {hasInset ? (
          <button type="button" class={css['swap']} aria-label={swapWords} title={swapWords} onClick={swap} />
        ) : null}
      </section>
      <div ref={insetAt} class={css['inset-place']} aria-hidden="true" />
      {watching !== null && state === 'shown' && !isMap ? (
        <div class={css['tools-place']}>
          <PictureTools watching={watching} video={view.video} whole={whole} />
        </div>
      ) : null}
      <div class={css['tape-place']}>
        <HeadingTape />
      </div>
      <div class={css['left']}>
        <div ref={upper}>
          <Strip watching={watching} picture={state} onOpen={setSheet} />
        </div>
        {watching === null ? null : <Recording watching={watching} />}
        <Notices commands={commands} otherPilot={otherPilot} onMessages={() => setSheet('messages')} />
        {state === 'none' ? null : <OtherCameras shown={camera} onShown={setCamera} />}
      </div>
      <div class={css['lower']}>
        <div ref={said} class={css['said']}>
          <OutcomeNote commands={commands} />
          <Toasts />
        </div>
        <div ref={lower} class={css['instruments']}>
          <Horizon />
          <div>
            <MissionProgress />
            <KeyFigures />
          </div>
        </div>
        <div ref={commandsAt} class={css['dock-place']}>
          <Dock commands={commands} onOpen={setSheet} />
        </div>
      </div>
      <Sticks shown={sheet} commands={commands} otherPilot={otherPilot} onClose={close} />
      <Sheets shown={sheet} commands={commands} onOpen={setSheet} onClose={close} />
    </div>
  );
}
