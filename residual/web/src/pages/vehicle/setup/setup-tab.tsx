import { Fan, Gauge, type IconNode, LifeBuoy, RadioReceiver, Shuffle, SlidersVertical, Unplug } from 'lucide';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { modeSwitchOf } from '../../../../../../shared/flight/mode-switch.ts';
import { call } from '../../../api/client.ts';
import { armed, fresh } from '../../../api/telemetry.ts';
import { number } from '../../../parts/format.ts';
import {
  Asked,
  Card,
  EmptyState,
  ErrorNote,
  Field,
  HoldButton,
  Note,
  Sections,
  Stat,
} from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct, useAsk } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';
import { paramsOf } from '../../../vehicle/param.ts';
import { sectionHref, sectionOf } from '../../../vehicle/section.ts';
import { Unheard } from '../../../vehicle/unheard.tsx';
import { family } from '../../../vehicle/vehicle-state.ts';
import { Failsafes } from '../failsafes.tsx';
import css from '../vehicle.module.css';
import { CalibrationTab } from './calibration-tab.tsx';
import { ChannelBars } from './channel-bars.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { RadioCalibration } from './radio-calibration.tsx';

const SECTIONS = ['sensors', 'radio', 'modes', 'motors', 'failsafes'] as const;
const ICONS: Readonly<Record<(typeof SECTIONS)[number], IconNode>> = {
  sensors: Gauge,
  radio: RadioReceiver,
  modes: Shuffle,
  motors: Fan,
  failsafes: LifeBuoy,
};
const MOTORS = [1, 2, 3, 4, 5, 6, 7, 8] as const;
const PROPS_OFF = 'PROPS OFF';

/** The vehicle before its first flight: what it hears, what it drives, and what it does when something fails. */
export function SetupTab(): JSX.Element {
  const asked = useAsk('params.get', { query: { details: '1' } });
  const { data, reload } = asked;
  const params = useMemo(
    () => new Map(paramsOf(data?.params ?? {}, data?.details ?? {}).map((each) => [each.name, each])),
    [data],
  );
  const value = (name: string): number | null => params.get(name)?.value ?? null;
  const kind = family.value;
  const section = sectionOf(SECTIONS, { calibration: 'sensors' }, 'sensors');
  return (
    <Sections
      label={t.vehicle.sectionsOf({ tab: t.vehicle.tabs.setup })}
      sections={SECTIONS.map((id) => ({
        id,
        name: t.vehicle.sections[id],
        icon: ICONS[id],
        href: sectionHref('setup', id),
      }))}
      chosen={section}
    >
      {section === 'sensors' ? <CalibrationTab /> : null}
      {section === 'radio' ? (
        <div class="page">
          <Radio />
          {kind === null ? (
            <NoVehicle />
          ) : (
            <Asked of={asked}>
              {() => <RadioCalibration family={kind} value={value} onWritten={reload} />}
            </Asked>
          )}
        </div>
      ) : null}
      {section === 'modes' ? (
        <div class="page">
          {kind === null ? (
            <NoVehicle />
          ) : modeSwitchOf(kind) === null ? (
            <EmptyState icon={Shuffle} text={t.vehicle.setup.noModes} />
          ) : (
            <Asked of={asked}>{() => <ModeSwitch family={kind} params={params} onWritten={reload} />}</Asked>
          )}
        </div>
      ) : null}
      {section === 'motors' ? (
        <div class="page">
          <Outputs />
          <MotorTest />
        </div>
      ) : null}
      {section === 'failsafes' ? (
        kind === null ? (
          <NoVehicle />
        ) : (
          <Asked of={asked}>{() => <Failsafes family={kind} params={params} />}</Asked>
        )
      ) : null}
    </Sections>
  );
}

function NoVehicle(): JSX.Element {
  return <Unheard icon={Unplug} text={t.vehicle.overview.notHeard} />;
}

function Radio(): JSX.Element {
  const channels = fresh('rc', ({ rc }) => rc?.channels?.map((us) => us ?? 0));
  const mode = fresh('heartbeat', (now) => now.mode);
  return (
    <Card title={t.vehicle.setup.radio} icon={RadioReceiver}>
      {channels === null ? (
        <Unheard text={t.vehicle.setup.noRadio} />
      ) : (
        <ChannelBars title={t.vehicle.setup.radio} values={channels} />
      )}
      <dl class="stats">
        <Stat label={t.vehicle.setup.mode} value={mode} />
      </dl>
    </Card>
  );
}

function Outputs(): JSX.Element {
  const outputs = fresh('servo_outputs', (now) => now.servo_outputs);
  const escs = fresh('esc', (now) => now.esc) ?? [];
  return (
    <Card title={t.vehicle.setup.outputs} icon={SlidersVertical}>
      {outputs === null ? (
        <Unheard text={t.vehicle.setup.noOutputs} />
      ) : (
        <ChannelBars
          title={t.vehicle.setup.outputs}
          values={outputs}
          name={(at) => t.vehicle.setup.output({ number: at })}
        />
      )}
      {escs.map(({ number: which, rpm, voltage, current, temperature }) => (
        <p key={which}>
          {t.vehicle.setup.esc({
            number: which,
            values: (
              [
                [rpm, 'rpm', 0],
                [voltage, 'V', 1],
                [current, 'A', 1],
                [temperature, '°C', 0],
              ] as const
            )
              .flatMap(([value, unit, digits]) =>
                typeof value === 'number' ? [`${number(value, digits)} ${unit}`] : [],
              )
              .join(', '),
          })}
        </p>
      ))}
    </Card>
  );
}

/** One motor at a time, by whoever has said that the propellers are off. */
function MotorTest(): JSX.Element | null {
  const { run, busy, error } = useAct();
  const [off, setOff] = useState(false);
  const [motor, setMotor] = useState<number>(1);
  const [throttle, setThrottle] = useState(5);
  const why = armed.value === false ? (off ? null : t.vehicle.setup.propsFirst) : t.vehicle.setup.notArmed;
  const test = async (): Promise<void> => {
    await run(async () => {
      const body = { cmd: 'motorTest', args: [motor, throttle, 2], confirm: PROPS_OFF };
      const { ack } = await call('command.post', { body });
      if (ack.accepted) say(t.vehicle.setup.tested({ number: motor }), 'good');
      else
        say(
          t.vehicle.setup.notTested({ number: motor, words: ack.statustext ?? ack.result_name ?? '' }),
          'bad',
        );
    });
  };
  return (
    <Card title={t.vehicle.setup.motorTest} icon={Fan}>
      <Note tone="warn">{t.vehicle.setup.motorHint}</Note>
      <label class={css['tick']}>
        <input type="checkbox" checked={off} onChange={(event) => setOff(event.currentTarget.checked)} />{' '}
        {t.vehicle.setup.propsOff}
      </label>
      <Field label={t.vehicle.setup.which}>
        {(ids) => (
          <select {...ids} value={motor} onChange={(event) => setMotor(Number(event.currentTarget.value))}>
            {MOTORS.map((each) => (
              <option key={each} value={each}>
                {t.vehicle.setup.motor({ number: each })}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t.vehicle.setup.throttle({ percent: throttle })}>
        {(ids) => (
          <input
            {...ids}
            type="range"
            min={1}
            max={30}
            value={throttle}
            onInput={(event) => setThrottle(Number(event.currentTarget.value))}
          />
        )}
      </Field>
      <ErrorNote error={error} />
      <HoldButton row="command.post" kind="danger" why={why} busy={busy} onConfirm={() => void test()}>
        {t.vehicle.setup.run}
      </HoldButton>
    </Card>
  );
}
