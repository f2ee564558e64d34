import {
  Ellipsis,
  Hand,
  House,
  PlaneLanding,
  PlaneTakeoff,
  Power,
  PowerOff,
  SlidersHorizontal,
} from 'lucide';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Commands, STOP_HOLD_MS } from '../../commands/orders.ts';
import type { SheetName } from '../../commands/sheet-name.ts';
import { t } from '../../strings.ts';
import { flies, type Phase, phase } from '../../vehicle/vehicle-state.ts';
import css from './dock.module.css';
import { DockButton, DockHold } from './dock-button.tsx';
import { useHeldKey } from './shortcuts.ts';

/**
 * What the vehicle can be told, in one row in reach of a thumb; at the right edge of a phone held sideways. Five places that stay: in
 * flight Land, Return and Hold are in the first three.
 */
export function Dock({
  commands,
  onOpen,
}: {
  readonly commands: Commands;
  readonly onOpen: (sheet: SheetName) => void;
}): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  const now = useStill(row, phase.value);
  const key = useHeldKey(commands);
  const { whyNot, offers } = commands;
  const isFlying = now === 'flight';
  return (
    <div ref={row} class={css['dock']} role="group" aria-label={t.fly.actions}>
      {!flies.value ? null : isFlying ? (
        <Told key="land" what="land" commands={commands} keyed={key === 'land'} />
      ) : (
        <DockButton
          key="up"
          kind="primary"
          icon={PlaneTakeoff}
          word={t.fly.takeoff}
          why={offers('takeoff') ? whyNot('takeoff') : t.fly.why.unknown}
          onPress={() => onOpen('takeoff')}
        />
      )}
      {now === 'disarmed' ? (
        <DockButton
          key="arm"
          icon={Power}
          word={t.fly.arm}
          why={whyNot('arm')}
          onPress={() => onOpen('takeoff')}
        />
      ) : isFlying ? (
        <Told key="rtl" what="rtl" commands={commands} keyed={key === 'rtl'} />
      ) : (
        <Told key="disarm" what="disarm" commands={commands} />
      )}
      <Told
        key="stop"
        what="stop"
        kind={isFlying ? 'primary' : 'plain'}
        commands={commands}
        keyed={key === 'stop'}
      />
      <DockButton icon={SlidersHorizontal} word={t.fly.modeWord} onPress={() => onOpen('mode')} />
      <DockButton
        icon={Ellipsis}
        word={t.app.more}
        name={t.fly.moreCommands}
        onPress={() => onOpen('more')}
      />
    </div>
  );
}

/** Nothing changes its meaning under a finger: what is shown stays until the finger has left the row. */
function useStill(row: { readonly current: HTMLElement | null }, next: Phase): Phase {
  const [touched, setTouched] = useState(false);
  const shown = useRef(next);
  useEffect(() => {
    const element = row.current;
    if (element === null) return;
    const down = (): void => setTouched(true);
    const up = (): void => setTouched(false);
    element.addEventListener('pointerdown', down);
    addEventListener('pointerup', up);
    addEventListener('pointercancel', up);
    return () => {
      element.removeEventListener('pointerdown', down);
      removeEventListener('pointerup', up);
      removeEventListener('pointercancel', up);
    };
  }, []);
  if (!touched) shown.current = next;
  return shown.current;
}

/** Land, Return and Hold, where a sheet lies over the row. */
export function DockAgain({ commands }: { readonly commands: Commands }): JSX.Element | null {
  if (phase.value === 'disarmed') return null;
  return (
    <div class={css['again']} role="group" aria-label={t.fly.actions}>
      {flies.value ? <Told what="land" commands={commands} /> : null}
      <Told what="rtl" commands={commands} />
      <Told what="stop" kind="primary" commands={commands} />
    </div>
  );
}

const ICONS = { land: PlaneLanding, rtl: House, stop: Hand, disarm: PowerOff } as const;

/** One of the commands that are held. */
function Told({
  what,
  ...rest
}: {
  readonly what: keyof typeof ICONS;
  readonly commands: Commands;
  readonly kind?: 'plain' | 'primary';
  readonly keyed?: boolean;
}): JSX.Element {
  const isStop = what === 'stop';
  return (
    <DockHold
      {...rest}
      icon={ICONS[what]}
      word={isStop ? t.fly.stopWord : t.fly[what]}
      name={t.fly[what]}
      order={{ cmd: what }}
      {...(isStop ? { holdMs: STOP_HOLD_MS } : {})}
    />
  );
}
