import type { ComponentChildren, JSX } from 'preact';
import type { Commands } from '../../commands/orders.ts';
import type { SheetName } from '../../commands/sheet-name.ts';
import { ArmSlide, TakeOff } from '../../commands/take-off.tsx';
import { Dialog } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { flies, phase } from '../../vehicle/vehicle-state.ts';
import css from './dock.module.css';
import { DockAgain } from './dock.tsx';
import { AllFigures, Traffic } from './figures.tsx';
import { FlyMission } from './fly-mission.tsx';
import { KeysSheet } from './keys-sheet.tsx';
import { MessageList } from './messages.tsx';
import { ModeList } from './mode-list.tsx';
import { More } from './more.tsx';

/** One of them at a time. `sticks` is its own (sticks/sticks.tsx), since it goes on when it is shut. */
export function Sheets({
  shown,
  commands,
  onOpen,
  onClose,
}: {
  readonly shown: SheetName | null;
  readonly commands: Commands;
  readonly onOpen: (sheet: SheetName) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const first = commands.readiness?.first ?? null;
  return (
    <>
      <FlightSheet
        title={flies.value ? t.fly.takeoff : t.fly.arm}
        name="takeoff"
        {...{ shown, commands, onClose }}
      >
        {flies.value && commands.offers('takeoff') ? (
          <TakeOff commands={commands} arms={phase.value === 'disarmed'} onGiven={onClose} />
        ) : null}
        {phase.value !== 'disarmed' ? null : (
          <div class={css['only-arm']}>
            <p class="hint">
              {t.fly.armHint}
              {first === null ? null : ` ${t.fly.armsIn({ mode: first.args.join(' ') })}`}
            </p>
            <ArmSlide commands={commands} onGiven={onClose} />
          </div>
        )}
      </FlightSheet>
      <FlightSheet title={t.fly.missionTitle} name="mission" {...{ shown, commands, onClose }}>
        <FlyMission commands={commands} arms={phase.value === 'disarmed'} onGiven={onClose} />
      </FlightSheet>
      <FlightSheet title={t.fly.mode} name="mode" {...{ shown, commands, onClose }}>
        <ModeList commands={commands} onGiven={onClose} />
      </FlightSheet>
      <FlightSheet title={t.fly.actions} name="more" {...{ shown, commands, onClose }}>
        <More commands={commands} onOpen={onOpen} onClose={onClose} />
      </FlightSheet>
      <FlightSheet title={t.fly.instruments} name="figures" {...{ shown, commands, onClose }}>
        <AllFigures />
        <Traffic />
      </FlightSheet>
      <FlightSheet title={t.fly.messages} name="messages" {...{ shown, commands, onClose }}>
        <MessageList />
      </FlightSheet>
      <FlightSheet title={t.fly.keys.title} name="keys" {...{ shown, commands, onClose }}>
        <KeysSheet />
      </FlightSheet>
    </>
  );
}

/** A sheet that leaves Land, Return and Hold in sight. */
export function FlightSheet({
  title,
  name,
  shown,
  commands,
  onClose,
  children,
}: {
  readonly title: string;
  readonly name: SheetName;
  readonly shown: SheetName | null;
  readonly commands: Commands;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <Dialog
      sheet
      title={title}
      open={shown === name}
      onClose={() => {
        // One that makes room for another says that it is shut, too.
        if (shown === name) onClose();
      }}
    >
      {children}
      <DockAgain commands={commands} />
    </Dialog>
  );
}
