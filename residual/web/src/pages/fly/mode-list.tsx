import { Check } from 'lucide';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Family, modeChoices } from '../../../../../shared/flight/modes.ts';
import { steady } from '../../api/steady.ts';
import { fresh } from '../../api/telemetry.ts';
import type { Commands } from '../../commands/orders.ts';
import { HoldButton, Icon, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { family } from '../../vehicle/vehicle-state.ts';
import { useTaken } from './commands.ts';
import css from './dock.module.css';

/** What most flights need, by family; the others follow. */
const COMMON: Readonly<Record<Family, readonly string[]>> = {
  copter: [
    'LOITER',
    'ALT_HOLD',
    'STABILIZE',
    'GUIDED',
    'AUTO',
    'RTL',
    'SMART_RTL',
    'LAND',
    'BRAKE',
    'POSHOLD',
  ],
  plane: [
    'FBWA',
    'FBWB',
    'CRUISE',
    'LOITER',
    'AUTO',
    'GUIDED',
    'RTL',
    'TAKEOFF',
    'MANUAL',
    'QLOITER',
    'QRTL',
  ],
  rover: ['HOLD', 'MANUAL', 'STEERING', 'AUTO', 'GUIDED', 'RTL', 'SMART_RTL', 'LOITER'],
  sub: ['POSHOLD', 'ALT_HOLD', 'STABILIZE', 'MANUAL', 'AUTO', 'GUIDED', 'SURFACE'],
  px4: ['POSCTL', 'ALTCTL', 'STABILIZED', 'AUTO.LOITER', 'AUTO.MISSION', 'AUTO.RTL', 'AUTO.LAND', 'OFFBOARD'],
};

const current = steady(() => fresh('heartbeat', (body) => body.mode));

/** Every mode of the vehicle, the usual ones first; one that is held is switched to. */
export function ModeList({
  commands,
  onGiven,
}: {
  readonly commands: Commands;
  /** It was taken. */
  readonly onGiven: () => void;
}): JSX.Element {
  const [asked, setAsked] = useState<string | null>(null);
  const { give, whyNot, running, row, outcome } = commands;
  const { begin, failed } = useTaken(commands, onGiven);
  const kind = family.value;
  const now = current.value;
  if (kind === null) return <p class="hint">{t.fly.noModes}</p>;
  const all = modeChoices(kind);
  const common = COMMON[kind].filter((name) => all.includes(name));
  const rest = all.filter((name) => !common.includes(name));
  const words: Readonly<Record<string, string>> = t.fly.modeMeans[kind];
  const why = whyNot('mode');
  return (
    <>
      {why === null ? <p class="hint">{t.fly.modeHint}</p> : <Note tone="warn">{why}</Note>}
      {[common, rest].map((group, at) => (
        <ul key={at === 0 ? 'common' : 'rest'} class={css['modes']}>
          {group.map((name) => (
            <li key={name} aria-current={name === now ? 'true' : undefined}>
              {name === now ? (
                <strong>
                  {name}
                  <Icon of={Check} />
                </strong>
              ) : (
                <HoldButton
                  kind="plain"
                  busy={running !== null}
                  // What is in the way of all stands above them, once.
                  why={why === null ? null : ''}
                  label={t.fly.switchTo({ mode: name })}
                  {...(row === undefined ? {} : { row })}
                  onConfirm={() => {
                    give(t.fly.switchTo({ mode: name }), { cmd: 'mode', args: [name] });
                    setAsked(name);
                    begin();
                  }}
                >
                  {name}
                </HoldButton>
              )}
              {asked === name && name !== now ? (
                <>
                  <small role="status" class={failed === null ? '' : 'error'}>
                    {failed ?? t.fly.asking({ mode: name })}
                  </small>
                  {failed !== null && outcome?.stickless !== undefined ? (
                    <HoldButton
                      kind="danger"
                      busy={running !== null}
                      label={t.fly.manualMode({ mode: name })}
                      {...(row === undefined ? {} : { row })}
                      onConfirm={() => {
                        give(t.fly.switchTo({ mode: name }), { cmd: 'mode', args: [name], manual: true });
                        begin();
                      }}
                    >
                      {t.fly.manualMode({ mode: name })}
                    </HoldButton>
                  ) : null}
                </>
              ) : (
                <small>{words[name] ?? ''}</small>
              )}
            </li>
          ))}
        </ul>
      ))}
    </>
  );
}
