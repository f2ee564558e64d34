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
import { t } from '../../strings.ts';
import css from './dock.module.css';
import { DockButton, DockHold } from './dock-button.tsx';
import type { SheetName } from './sheet-name.ts';
import { useHeldKey } from './shortcuts.ts';
import { flies, type Phase, phase } from './vehicle-state.ts';

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
        <DockHold
          key="land"
          commands={commands}
          icon={PlaneLanding}
          word={t.fly.land}
          name={t.fly.land}
          order={{ cmd: 'land' }}
          keyed={key === 'land'}
        />
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
        <DockHold
          key="rtl"
          commands={commands}
          icon={House}
          word={t.fly.rtl}
          name={t.fly.rtl}
          order={{ cmd: 'rtl' }}
          keyed={key === 'rtl'}
        />
      ) : (
        <DockHold
          key="disarm"
          commands={commands}
          icon={PowerOff}
          word={t.fly.disarm}
          name={t.fly.disarm}
          order={{ cmd: 'disarm' }}
        />
      )}
      <DockHold
        key="stop"
        kind={isFlying ? 'primary' : 'plain'}
        commands={commands}
        icon={Hand}
        word={t.fly.stopWord}
        name={t.fly.stop}
        order={{ cmd: 'stop' }}
        holdMs={STOP_HOLD_MS}
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
      {flies.value ? (
        <DockHold
          commands={commands}
          icon={PlaneLanding}
          word={t.fly.land}
          name={t.fly.land}
          order={{ cmd: 'land' }}
        />
      ) : null}
      <DockHold commands={commands} icon={House} word={t.fly.rtl} name={t.fly.rtl} order={{ cmd: 'rtl' }} />
      <DockHold
        kind="primary"
        commands={commands}
        icon={Hand}
        word={t.fly.stopWord}
        name={t.fly.stop}
        order={{ cmd: 'stop' }}
        holdMs={STOP_HOLD_MS}
      />
    </div>
  );
}
