import {
  Crosshair,
  Gamepad2,
  House,
  Keyboard,
  MapPin,
  MapPinHouse,
  OctagonX,
  Pause,
  PlaneLanding,
  Play,
  PowerOff,
  Route,
  SkipForward,
} from 'lucide';
import type { JSX } from 'preact';
import { may } from '../../api/node.ts';
import { steady } from '../../api/steady.ts';
import { newest } from '../../api/telemetry.ts';
import { HeldOrder } from '../../commands/held-order.tsx';
import { type Commands, GRAVE_HOLD_MS } from '../../commands/orders.ts';
import type { SheetName } from '../../commands/sheet-name.ts';
import { Button, Unfold } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { flies, hasMission, phase } from '../../vehicle/vehicle-state.ts';
import css from './dock.module.css';
import { FineControl } from './fine-control.tsx';
import { target } from './map/state.ts';

/** What is told less often, or must not lie near a thumb. */
export function More({
  commands,
  onOpen,
  onClose,
}: {
  readonly commands: Commands;
  readonly onOpen: (sheet: SheetName) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const noMission = hasMission.value ? null : t.fly.why.noMission;
  const now = phase.value;
  const each = { commands, onGiven: onClose } as const;
  return (
    <>
      <div class={css['grid']}>
        {commands.offers('goto') ? (
          <Button
            icon={MapPin}
            onClick={() => {
              target.value ??= { lat: '', lon: '' };
              onClose();
            }}
          >
            {t.fly.goto}
          </Button>
        ) : null}
        {may('manual.ws.ws') ? (
          <Button icon={Gamepad2} aria-haspopup="dialog" onClick={() => onOpen('sticks')}>
            {t.fly.sticks.title}
          </Button>
        ) : null}
        <HeldOrder {...each} icon={MapPinHouse} name={t.fly.setHome} order={{ cmd: 'setHome' }} />
        <Button icon={Keyboard} aria-haspopup="dialog" onClick={() => onOpen('keys')}>
          {t.fly.keys.title}
        </Button>
      </div>
      <h3 class={css['heading']}>{t.fly.missionTitle}</h3>
      <div class={css['grid']}>
        {now === 'disarmed' ? (
          // By itself it would change the mode, and the vehicle would not arm in that.
          <Button icon={Route} why={noMission} aria-haspopup="dialog" onClick={() => onOpen('mission')}>
            {t.fly.missionStart}
          </Button>
        ) : (
          <HeldOrder
            {...each}
            icon={Route}
            name={t.fly.missionStart}
            order={{ cmd: 'missionStart' }}
            why={noMission}
          />
        )}
        <HeldOrder
          {...each}
          icon={Pause}
          name={t.fly.pauseMission}
          order={{ cmd: 'pauseMission' }}
          why={noMission}
        />
        <HeldOrder
          {...each}
          icon={Play}
          name={t.fly.resumeMission}
          order={{ cmd: 'resumeMission' }}
          why={noMission}
        />
        <NextItem commands={commands} why={noMission} onGiven={onClose} />
      </div>
      <Unfold title={t.fly.fine.title} icon={Crosshair}>
        <FineControl commands={commands} />
      </Unfold>
      {now === 'disarmed' ? null : (
        <Unfold title={t.fly.onGround} icon={PowerOff}>
          <div class={css['grid']}>
            {now === 'armed' && flies.value ? (
              <HeldOrder {...each} icon={PlaneLanding} name={t.fly.land} order={{ cmd: 'land' }} />
            ) : null}
            {now === 'armed' ? (
              <HeldOrder {...each} icon={House} name={t.fly.rtl} order={{ cmd: 'rtl' }} />
            ) : null}
            <HeldOrder
              {...each}
              kind="danger"
              icon={PowerOff}
              name={t.fly.disarm}
              order={{ cmd: 'disarm' }}
              holdMs={GRAVE_HOLD_MS}
            />
          </div>
          <p class="hint">{t.fly.disarmHint}</p>
        </Unfold>
      )}
      {commands.offers('killSwitch') ? (
        <Unfold title={t.fly.kill} icon={OctagonX}>
          <p class="error">{t.fly.killHint}</p>
          <HeldOrder
            {...each}
            kind="danger"
            icon={OctagonX}
            name={t.fly.killNow}
            order={{ cmd: 'killSwitch', args: ['KILL'] }}
            holdMs={GRAVE_HOLD_MS}
          />
        </Unfold>
      ) : null}
    </>
  );
}

const next = steady(() => {
  const { current, total } = newest.value?.mission ?? {};
  return typeof current === 'number' && typeof total === 'number' ? current + 1 : null;
});

/** Leaves out the rest of the item under way. */
function NextItem({
  commands,
  why,
  onGiven,
}: {
  readonly commands: Commands;
  readonly why: string | null;
  readonly onGiven: () => void;
}): JSX.Element {
  const seq = next.value;
  return (
    <HeldOrder
      commands={commands}
      onGiven={onGiven}
      icon={SkipForward}
      name={t.fly.skipItem}
      order={{ cmd: 'missionSetCurrent', args: [seq ?? 0] }}
      why={
        why ?? (seq === null ? (phase.value === 'disarmed' ? t.fly.why.disarmed : t.fly.why.noMission) : null)
      }
    />
  );
}
