import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Family } from '../../../../../../shared/flight/modes.ts';
import {
  type PlannedChannel,
  planRadio,
  restsLow,
  type Spans,
  type Stick,
  type StickChannels,
  sticksIn,
  sticksOf,
  widened,
} from '../../../../../../shared/flight/radio-calibration.ts';
import { armed, fresh } from '../../../api/telemetry.ts';
import { Button, Card, Field, Note, Progress } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { HeldWrite } from '../params/written.tsx';
import css from '../vehicle.module.css';
import { ChannelBars } from './channel-bars.tsx';

/** Longer than a lost radio is taken for one that is heard (api/telemetry.ts), so that these readings are new ones. */
const REST_MS = 4000;
/** The newest reading may be of before the sticks were let go: a slow link brings two a second. */
const SETTLE_MS = 1000;
const words = t.vehicle.radioCalibration;

type Step = 'idle' | 'ends' | 'rest' | 'plan';
type Value = (name: string) => number | null;

interface Props {
  readonly family: Family;
  /** Of a parameter as the vehicle holds it. */
  readonly value: Value;
  /** Reads the parameters again. */
  readonly onWritten: () => void;
}

/** Finds out where the sticks and switches of the radio end and rest, and writes that after it has been looked at. */
export function RadioCalibration({ family, value, onWritten }: Props): JSX.Element {
  const channels = fresh('rc', ({ rc }) => rc?.channels?.map((us) => us ?? 0));
  const [step, setStep] = useState<Step>('idle');
  const [seen, setSeen] = useState<{ readonly ends: Spans; readonly rest: Spans }>({ ends: [], rest: [] });
  const [stopped, setStopped] = useState<string | null>(null);
  const restFrom = useRef(0);
  const [propsOff, setPropsOff] = useState(false);
  const isRead = value('RC1_MIN') !== null;
  const trouble = armed.value !== false ? words.notDisarmed : channels === null ? words.lost : null;

  useEffect(() => {
    if (step !== 'ends' && step !== 'rest') return;
    if (trouble !== null || channels === null) {
      setStep('idle');
      setStopped(trouble);
    } else if (step === 'ends' || performance.now() >= restFrom.current)
      setSeen((before) => ({ ...before, [step]: widened(before[step], channels) }));
  }, [step, channels, trouble]);
  useEffect(() => {
    if (step !== 'rest') return undefined;
    const timer = setTimeout(() => setStep('plan'), SETTLE_MS + REST_MS);
    return () => clearTimeout(timer);
  }, [step]);

  const begin = (): void => {
    onWritten();
    setStopped(null);
    setSeen({ ends: [], rest: [] });
    setStep('ends');
  };
  const letGo = (): void => {
    restFrom.current = performance.now() + SETTLE_MS;
    setStep('rest');
  };
  const cancel = <Button onClick={() => setStep('idle')}>{t.app.cancel}</Button>;
  return (
    <Card title={words.title}>
      {stopped === null ? null : <Note tone="bad">{words.stopped({ why: stopped })}</Note>}
      {step === 'idle' ? (
        <>
          <Note tone="warn">{words.mayArm}</Note>
          <label class={css['tick']}>
            <input
              type="checkbox"
              checked={propsOff}
              onChange={(event) => setPropsOff(event.currentTarget.checked)}
            />{' '}
            {words.propsOff}
          </label>
          <Button
            kind="primary"
            row="params.put"
            explain
            why={trouble ?? (isRead ? (propsOff ? null : t.vehicle.setup.propsFirst) : words.unread)}
            onClick={begin}
          >
            {words.begin}
          </Button>
        </>
      ) : null}
      {step === 'ends' ? (
        <>
          <p role="status">{words.moveAll}</p>
          <ChannelBars title={words.title} values={channels ?? []} seen={seen.ends} />
          <p>{restsLow(family, value) ? words.thenLow : words.thenCentre}</p>
          <div class="row">
            <Button kind="primary" onClick={letGo}>
              {words.atRest}
            </Button>
            {cancel}
          </div>
        </>
      ) : null}
      {step === 'rest' ? <Progress label={words.keepStill} value={null} /> : null}
      {step === 'plan' ? (
        <Plan family={family} value={value} onWritten={onWritten} seen={seen} why={trouble} onAgain={begin} />
      ) : null}
    </Card>
  );
}

/** What would be written, against what is there. */
function Plan({
  family,
  value,
  onWritten,
  seen,
  why,
  onAgain,
}: Props & {
  readonly seen: { readonly ends: Spans; readonly rest: Spans };
  readonly why: string | null;
  readonly onAgain: () => void;
}): JSX.Element {
  const [sticks, setSticks] = useState<StickChannels>(() => sticksOf(family, value));
  const plan = planRadio(family, sticks, seen, value);
  const count = seen.ends.length;
  return (
    <>
      <div class={css['filters']}>
        {sticksIn(family).map((stick) => (
          <StickChoice
            key={stick}
            stick={stick}
            count={Math.max(count, sticks[stick])}
            channel={sticks[stick]}
            onChange={(channel) => setSticks({ ...sticks, [stick]: channel })}
          />
        ))}
      </div>
      {plan.problems.map(({ problem, stick, channel }) => (
        <Note key={`${problem} ${stick} ${channel}`} tone="bad">
          {problem === 'nothing'
            ? words.nothingMoved
            : words.problem[problem]({
                name: stick === null ? t.vehicle.setup.channel({ number: channel }) : words.sticks[stick],
              })}
        </Note>
      ))}
      <PlanTable channels={plan.channels} />
      {plan.problems.length === 0 && plan.writes.size === 0 ? <Note tone="good">{words.same}</Note> : null}
      <HeldWrite values={plan.writes} why={why} onWritten={onWritten} />
      <Button onClick={onAgain} why={why}>
        {words.again}
      </Button>
    </>
  );
}

function StickChoice({
  stick,
  channel,
  count,
  onChange,
}: {
  readonly stick: Stick;
  readonly channel: number;
  readonly count: number;
  readonly onChange: (channel: number) => void;
}): JSX.Element {
  return (
    <Field label={words.sticks[stick]}>
      {(ids) => (
        <select {...ids} value={channel} onChange={(event) => onChange(Number(event.currentTarget.value))}>
          <option value={0}>{t.app.none}</option>
          {Array.from({ length: count }, (_, at) => (
            <option key={at} value={at + 1}>
              {t.vehicle.setup.channel({ number: at + 1 })}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function PlanTable({ channels }: { readonly channels: readonly PlannedChannel[] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.table}>
      <table>
        <thead>
          <tr>
            <th>{words.channel}</th>
            <th class="number">{words.min}</th>
            <th class="number">{words.max}</th>
            <th class="number">{words.trim}</th>
            <th>{words.reversed}</th>
          </tr>
        </thead>
        <tbody>
          {channels.map((each) => (
            <PlanRow key={each.channel} planned={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PlanRow({ planned }: { readonly planned: PlannedChannel }): JSX.Element {
  const { channel, stick, reversed, was, next, fault } = planned;
  const shown = (member: 'min' | 'max' | 'trim'): string =>
    next === null || next[member] === was[member]
      ? String(was[member])
      : words.change({ was: was[member], next: next[member] });
  return (
    <tr>
      <td>
        {stick === null
          ? t.vehicle.setup.channel({ number: channel })
          : words.stickOn({ stick: words.sticks[stick], channel })}
        {fault === null ? null : <div class="hint">{words.left[fault]}</div>}
      </td>
      <td class="number">{shown('min')}</td>
      <td class="number">{shown('max')}</td>
      <td class="number">{shown('trim')}</td>
      <td>{reversed ? words.yes : words.no}</td>
    </tr>
  );
}
