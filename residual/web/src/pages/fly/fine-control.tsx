import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  COMMANDS,
  type CommandName,
  type CommandSpec,
} from '../../../../../shared/flight/command-catalogue.ts';
import { HeldOrder } from '../../commands/held-order.tsx';
import type { Commands } from '../../commands/orders.ts';
import { wordFor } from '../../language/words.ts';
import { Field } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { family } from '../../vehicle/vehicle-state.ts';
import css from './dock.module.css';

/** In the order in which they are wanted. */
const FINE = ['yaw', 'speed', 'roi', 'orbit', 'gimbal'] as const satisfies readonly CommandName[];
type Fine = (typeof FINE)[number];

/** Commands with figures: a form for the one that is chosen, made from the catalogue. */
export function FineControl({ commands }: { readonly commands: Commands }): JSX.Element {
  // ArduPilot has no such command.
  const offered = FINE.filter((cmd) => commands.offers(cmd) && (cmd !== 'orbit' || family.value === 'px4'));
  const [chosen, setChosen] = useState<Fine>('yaw');
  return (
    <>
      <Field label={t.fly.fine.what}>
        {(ids) => (
          <select
            {...ids}
            value={chosen}
            onChange={({ currentTarget: { value } }) => setChosen(FINE.find((cmd) => cmd === value) ?? 'yaw')}
          >
            {offered.map((cmd) => (
              <option key={cmd} value={cmd}>
                {t.fly.fine.names[cmd]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Form key={chosen} cmd={chosen} commands={commands} />
    </>
  );
}

function Form({ cmd, commands }: { readonly cmd: Fine; readonly commands: Commands }): JSX.Element {
  const { args }: CommandSpec = COMMANDS[cmd];
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const textOf = (name: string, initial: number | undefined): string =>
    texts[name] ?? (initial === undefined ? '' : String(initial));
  const values = args.map(({ name, default: initial }) => textOf(name, initial).trim());
  const isValid = args.every(({ min = -Infinity, max = Infinity }, at) => {
    const value = Number(values[at]);
    return values[at] !== '' && value >= min && value <= max;
  });
  return (
    <>
      <div class={css['grid']}>
        {args.map(({ name, unit, min, max, default: initial, integer }) => (
          <Field
            key={name}
            label={`${wordFor(t.fly.fine.args, name) ?? name}${unit === undefined ? '' : `, ${unit}`}`}
          >
            {(ids) => (
              <input
                {...ids}
                type="number"
                inputMode="decimal"
                min={min}
                max={max}
                step={integer === true ? 1 : 'any'}
                value={textOf(name, initial)}
                onInput={({ currentTarget: { value } }) => setTexts((now) => ({ ...now, [name]: value }))}
              />
            )}
          </Field>
        ))}
      </div>
      <HeldOrder
        commands={commands}
        kind="primary"
        name={t.fly.fine.names[cmd]}
        order={{ cmd, args: values.map(Number) }}
        why={isValid ? null : t.fly.why.number}
      />
    </>
  );
}
