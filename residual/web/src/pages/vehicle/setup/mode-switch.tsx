import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  modeSwitchOf,
  SWITCH_LIMITS_US,
  type SwitchMode,
  switchModes,
  switchPosition,
  switchProblem,
} from '../../../../../../shared/flight/mode-switch.ts';
import type { Family } from '../../../../../../shared/flight/modes.ts';
import { sticksIn, sticksOf } from '../../../../../../shared/flight/radio-calibration.ts';
import { armed, fresh } from '../../../api/telemetry.ts';
import { Badge, Button, Card, Field, Note } from '../../../parts/parts.tsx';
import { t } from '../../../strings.ts';
import { isSame, type Param } from '../../../vehicle/param.ts';
import { HeldWrite } from '../params/written.tsx';

const words = t.vehicle.modeSwitch;
/** A receiver that is not heard has at least so many. */
const MIN_CHANNELS = 8;

interface Props {
  readonly family: Family;
  readonly params: ReadonlyMap<string, Param>;
  /** Reads the parameters again. */
  readonly onWritten: () => void;
}

/** The channel of the switch that chooses the flight mode, and the mode of each of its positions; nothing where a vehicle has none. */
export function ModeSwitch({ family, params, onWritten }: Props): JSX.Element | null {
  const [draft, setDraft] = useState<ReadonlyMap<string, number>>(new Map());
  const channels = fresh('rc', ({ rc }) => rc?.channels);
  const names = modeSwitchOf(family);
  if (names === null) return null;
  const held = (name: string): number | null => params.get(name)?.value ?? null;
  const chosen = (name: string): number => draft.get(name) ?? held(name) ?? 0;
  const channel = chosen(names.channel);
  const position = switchPosition(family, channel, channels?.[channel - 1] ?? 0, held);
  const sticks = sticksOf(family, held);
  const problem = switchProblem(
    channel,
    sticksIn(family).map((stick) => sticks[stick]),
    held,
  );
  const writes = new Map([...draft].filter(([name, value]) => held(name) !== value));
  const notArmed = armed.value === false ? null : t.vehicle.setup.notArmed;
  const set = (name: string, value: number): void => setDraft(new Map([...draft, [name, value]]));
  const was = (name: string, text: (value: number) => string): string | null => {
    const value = held(name);
    return writes.has(name) && value !== null ? words.was({ text: text(value) }) : null;
  };
  return (
    <Card title={words.title}>
      {held(names.channel) === null ? (
        <p class="hint">{words.unread}</p>
      ) : (
        <>
          <Field label={words.channel} hint={was(names.channel, channelName)}>
            {(ids) => (
              <select
                {...ids}
                value={channel}
                onChange={(event) => set(names.channel, Number(event.currentTarget.value))}
              >
                {Array.from(
                  { length: Math.max(MIN_CHANNELS, channels?.length ?? 0, channel) + 1 },
                  (_, at) => (
                    <option key={at} value={at}>
                      {channelName(at)}
                    </option>
                  ),
                )}
              </select>
            )}
          </Field>
          {problem === null ? null : <Note tone="bad">{problemText(problem, channel)}</Note>}
          {channel !== 0 && position === null ? <p class="hint">{words.nowhere}</p> : null}
          {names.modes.map((name, at) => {
            const choices = choicesOf(family, params.get(name) ?? params.get(names.modes[0] ?? ''), [
              chosen(name),
              held(name) ?? 0,
            ]);
            return (
              <Position
                key={name}
                label={words.position({ position: at + 1, limits: limitsOf(family, at) })}
                isNow={position === at + 1}
                choices={choices}
                value={chosen(name)}
                hint={was(name, (value) => textOf(choices, value))}
                onChange={(value) => set(name, value)}
              />
            );
          })}
          {writes.size === 0 ? null : <p class="hint">{words.atOnce}</p>}
          <HeldWrite
            values={writes}
            why={notArmed ?? (problem === null ? null : problemText(problem, channel))}
            onWritten={onWritten}
          />
          {writes.size === 0 ? null : (
            <Button onClick={() => setDraft(new Map())}>{t.vehicle.params.discard}</Button>
          )}
        </>
      )}
    </Card>
  );
}

function Position({
  label,
  isNow,
  choices,
  value,
  hint,
  onChange,
}: {
  readonly label: string;
  readonly isNow: boolean;
  readonly choices: readonly SwitchMode[];
  readonly value: number;
  readonly hint: string | null;
  readonly onChange: (value: number) => void;
}): JSX.Element {
  return (
    <>
      <Field label={label} hint={hint}>
        {(ids) => (
          <select {...ids} value={value} onChange={(event) => onChange(Number(event.currentTarget.value))}>
            {choices.map((each) => (
              <option key={each.value} value={each.value}>
                {each.text}
              </option>
            ))}
          </select>
        )}
      </Field>
      {isNow ? <Badge tone="good">{words.now}</Badge> : null}
    </>
  );
}

/** As the vehicle describes them, else as the node knows them; a value that is there and in neither list, too. */
function choicesOf(
  family: Family,
  param: Param | undefined,
  there: readonly number[],
): readonly SwitchMode[] {
  const described = param?.details?.metadata?.values ?? null;
  const known = described === null || described.length === 0 ? switchModes(family) : described;
  const others = [...new Set(there)].filter((value) => !known.some((each) => isSame(each.value, value)));
  return [...known, ...others.map((value) => ({ value, text: words.unknown({ value }) }))];
}

function textOf(choices: readonly SwitchMode[], value: number): string {
  return choices.find((each) => isSame(each.value, value))?.text ?? words.unknown({ value });
}

function channelName(channel: number): string {
  return channel === 0 ? t.app.none : t.vehicle.setup.channel({ number: channel });
}

function problemText(problem: 'stick' | 'option', channel: number): string {
  return problem === 'stick' ? words.problem.stick : words.problem.option({ channel });
}

/** PX4's positions are parts of the calibrated way of the channel, and have no fixed ends. */
function limitsOf(family: Family, at: number): string {
  if (family === 'px4') return '';
  const limit = SWITCH_LIMITS_US[at];
  return limit === undefined ? words.above({ us: SWITCH_LIMITS_US.at(-1) ?? 0 }) : words.upTo({ us: limit });
}
